"""The quiz of chapter 17."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "Two processes divide by all words of the batch, DistributedDataParallel takes the mean, and Adam trains. What "
        "gives the mistake away?",
        answers=[
            ("Comparing the losses with those of one process.", "Adam cancels the factor ½: the losses are nearly the same."),
            ("Comparing the weights of the two processes.", "Both take the same wrong gradient, so they stay equal."),
            ("Comparing the gradient with that of one process.", "It is half as long as it should be."),
        ],
        correct=2,
    ),
    Question(
        "A ring of 8 processes becomes one of 64. How many whole gradients does each send in a step, before and now?",
        answers=[
            ("14 before, 126 now.", "These are the pieces; each is only an eighth of a gradient, then a 64th."),
            ("1.75 before, 1.97 now.", "14 pieces of an eighth, then 126 pieces of a 64th."),
            ("0.88 before, 0.98 now.", "This only adds up; the finished totals must be handed round, too."),
        ],
        correct=1,
    ),
    Question(
        "In bfloat16, 1 + 1 + … stops at 256. Where does 2 + 2 + … stop?",
        answers=[
            ("At 512.", "Beyond 512 the numbers lie 4 apart: 514 is a tie, and goes back to 512."),
            ("At 256 too.", "From 256 on the numbers lie 2 apart: 258 exists, and so do 260, 262, …"),
            ("At 128.", "Up to 256 every whole number is there."),
        ],
        correct=0,
    ),
    Question(
        "A model with its gradients and Adam's moments takes 2 GB, a batch's activations 12 GB. One process takes the batch "
        "in two parts. How much must it hold at once?",
        answers=[
            ("7 GB.", "Only the activations shrink; each parameter keeps its 16 bytes."),
            ("8 GB.", "2 GB stay, and one part's activations take 6."),
            ("14 GB.", "The first part's activations are gone before the second part comes."),
        ],
        correct=1,
    ),
]
