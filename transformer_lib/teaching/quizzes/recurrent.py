"""The quiz of chapter 2."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A recurrent layer was trained on sequences of length 30. What must change so that it can read 50 steps?",
        answers=[
            ("It needs weights for the 20 new steps.", "Unrolling draws one and the same cell again and again."),
            ("The sequence must be cut to the last 30.", "That was the window, not the recurrent layer."),
            (
                "Nothing: one cell serves all the steps.",
                "Whether it still does its task well at 50 is another question.",
            ),
        ],
        correct=2,
    ),
    Question(
        "An LSTM's forget gate is 1 at every step. What happens to the cell state?",
        answers=[
            ("It is kept whole, and only added to.", "The first LSTM, of 1997, worked this way."),
            ("It is thrown away before each step.", "The name misleads: 1 lets everything pass."),
            ("It is sent whole to the output at once.", "What the output shows is the output gate's business."),
        ],
        correct=0,
    ),
    Question(
        "You copy the weights of torch's `nn.GRU` into a GRU that resets *before* the matrix product. What do you get?",
        answers=[
            ("An error that names the wrong shapes.", "All shapes are the same. That is the danger."),
            ("Other outputs, without any message.", "Which kind a library has is written in its manual, if at all."),
            ("The same outputs, up to rounding.", "Only when the reset gate is 1 everywhere."),
        ],
        correct=1,
    ),
    Question(
        "A layer reads in two directions. You want one vector for the whole sentence. Why not take `outputs[:, -1]`?",
        answers=[
            (
                "Its second half has read one word.",
                "The right-to-left cell starts there. Take the state instead.",
            ),
            ("Its shape is twice as wide as it must be.", "(batch, 2 · hidden) is right: both readings side by side."),
            ("It is zero for every sentence of the batch.", "Only where the last place is padding."),
        ],
        correct=0,
    ),
    Question(
        "A trained RNN names the first symbol at length 40 in 41 of 100 cases, and at length 41 in 1 of 100. A fresh "
        "readout, fitted at 41, reaches 41 again. What is true?",
        answers=[
            ("At length 41 the state has forgotten the symbol.", "Then a fresh readout would guess: 12 of 100."),
            ("It guesses, and was lucky at length 40.", "41 of 100 is far from 12 of 100, and so is 1."),
            (
                "The state holds it; its own readout misreads it.",
                "At another length the state stands elsewhere on its circle.",
            ),
        ],
        correct=2,
    ),
]
