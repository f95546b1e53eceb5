"""The quiz of chapter 17."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "Two processes divide by all words of the batch, DistributedDataParallel takes the mean, and Adam trains. What "
        "gives the mistake away?",
        answers=[
            ("The loss falls half as fast as in one process.", "Adam cancels the factor ½: the losses are nearly the same."),
            ("The two processes' weights drift apart.", "Both take the same wrong gradient, so they stay equal."),
            ("A comparison of gradients with one process.", "The gradient is half as long as it should be."),
        ],
        correct=2,
    ),
    Question(
        "A ring of 8 processes becomes a ring of 64. How much does each process now send in a step?",
        answers=[
            ("Eight times as much as before.", "More pieces, but each is smaller: 2 · 63/64 gradients in place of 2 · 7/8."),
            ("About an eighth more than before.", "1.97 gradients in place of 1.75."),
            ("An eighth of what it sent before.", "A piece is an eighth as large, but there are nine times as many rounds."),
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
        "The same batch goes through one process in two parts instead of one. Which memory is halved?",
        answers=[
            ("That of the gradients.", "There is one sum per parameter, however many parts are added to it."),
            ("That of the activations.", "Only one part's activations are held at a time."),
            ("That of Adam's moments.", "There are two per parameter, whatever the batch."),
        ],
        correct=1,
    ),
]
