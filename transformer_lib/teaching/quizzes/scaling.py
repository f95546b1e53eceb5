"""The quiz of chapter 17."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "Two processes divide by all words of the batch, DistributedDataParallel takes the mean, and Adam trains. What "
        "gives the mistake away?",
        answers=[
            ("The losses of 30 steps, beside those of one process.", "Adam cancels the factor ½: they are nearly the same."),
            ("The gradients of both processes, beside each other.", "Both hold the same wrong mean, so they agree."),
            ("The gradient of one step, beside that of one process.", "It is half as long as it should be."),
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
        "A training step in mixed precision: which of these numbers has 16 bits?",
        answers=[
            ("What a linear layer returns.", "Its factors are rounded copies, and its result is rounded, too."),
            ("The mean of all gradients.", "It is added up from many parts, and stays float32."),
            ("The weight that Adam moves.", "It would stand still, as 1 + 0.001 does."),
        ],
        correct=0,
    ),
    Question(
        "A model of 100 million parameters is trained with Adam in float32. A batch's activations take 12 GB, and one process "
        "takes it in two parts. How much must it hold at once?",
        answers=[
            ("6.8 GB.", "Only the activations shrink; each parameter keeps its 16 bytes."),
            ("7.6 GB.", "1.6 GB stay, 16 bytes per parameter, and one part's activations take 6."),
            ("6.4 GB.", "These are the weights and one part: gradients and Adam's moments are missing."),
        ],
        correct=1,
    ),
]
