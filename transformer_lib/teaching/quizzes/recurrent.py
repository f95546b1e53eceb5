"""The quiz of chapter 2."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A recurrent layer was trained on sequences of length 30. "
        "What must change so that it can read 50 steps?",
        answers=[
            (
                "Nothing: the same weights serve each step.",
                "Whether it still does its task well at 50 is another question.",
            ),
            (
                "It needs 20 more weight matrices.",
                "Unrolling draws one and the same cell again and again.",
            ),
            (
                "The sequence must be cut to 30.",
                "That was the window, not the recurrent layer.",
            ),
        ],
        correct=0,
    ),
    Question(
        "An LSTM's forget gate is 1 at every step. What happens to the cell state?",
        answers=[
            ("It is forgotten at once.", "The name misleads: 1 lets everything pass."),
            (
                "All of it is kept, and only added to.",
                "The first LSTM worked this way.",
            ),
            ("It is sent to the output.", "The output is made by the output gate."),
        ],
        correct=1,
    ),
    Question(
        "You copy the weights of torch's `nn.GRU` into a GRU that resets *before* "
        "the matrix product. What do you get?",
        answers=[
            ("An error about shapes.", "All shapes are the same. That is the danger."),
            ("The same outputs.", "Only when the reset gate is 1 everywhere."),
            (
                "Other outputs, and no error.",
                "Which kind a library has is written in its manual, if at all.",
            ),
        ],
        correct=2,
    ),
    Question(
        "A layer reads in two directions. You want one vector for the whole "
        "sentence. Why not take `outputs[:, -1]`?",
        answers=[
            (
                "Its second half has read only one word.",
                "The right-to-left cell starts there. Take the state instead.",
            ),
            ("It has the wrong shape.", "Its shape is (batch, 2 · hidden), as wanted."),
            ("It is always zero.", "Only if the place is padding."),
        ],
        correct=0,
    ),
    Question(
        "Why does the gradient of a plain RNN vanish or explode?",
        answers=[
            ("The learning rate is wrong.", "We measured it before any training."),
            (
                "Each step back multiplies it by the same matrix again.",
                "Fifty times a factor below 1 is nothing; above 1, it is huge.",
            ),
            (
                "The sequence is too noisy.",
                "The inputs matter little; the repeated product matters.",
            ),
        ],
        correct=1,
    ),
]
