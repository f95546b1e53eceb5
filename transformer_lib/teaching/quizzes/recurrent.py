"""The quiz of chapter 2."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "An LSTM's forget gate stands at 0.9 at every step, and its input gate at 0. "
        "How much of the cell state is left after two steps?",
        answers=[
            ("1 %", "That would be a gate that forgets nine tenths. The name misleads: a 1 keeps all."),
            ("81 %", "It was multiplied by 0.9 twice, and nothing was added."),
            ("90 %", "That is after one step. The gate multiplies again at each step."),
        ],
        correct=1,
    ),
    Question(
        "You build the GRU of equation 15-4, and copy the weights of torch's `nn.GRU` into it. What happens?",
        answers=[
            (
                "Other outputs: the reset gate stands at another place in it.",
                "torch resets after the matrix product, 15-4 before it.",
            ),
            ("Other outputs: in torch an update gate of 1 forgets.", "In both a 1 keeps the old state. Some papers swap it."),
            ("The same outputs: only the order of sums differs.", "The largest difference was about 0.45: no rounding."),
        ],
        correct=0,
    ),
    Question(
        "Name the first of 20 to 40 symbols: with torch's start, an LSTM learned nothing of it in 400 training steps. "
        "What helped?",
        answers=[
            ("An output gate that is held at 1 all the time.", "With torch's start of the forget gate it still guessed."),
            ("A limit for the norm of the gradient, clipping.", "It was clipped all along. That is against exploding."),
            ("A bias that opens the forget gate at the start.", "Then memory and gradient pass through all the steps."),
        ],
        correct=2,
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
        "Guessing one of eight symbols is right in 12 of 100 cases. An RNN with its own readout is right in 1 of 100 at "
        "length 41. What did a new linear readout find in its states there?",
        answers=[
            ("Next to nothing: 1 of 100 again.", "The states hold more than the old readout can use at this length."),
            ("The symbol, in about 43 of 100.", "The state comes round again; the old readout fits at other lengths."),
            ("Pure chance: 12 of 100, a guess.", "So it was with the other kind of run, whose own readout guesses too."),
        ],
        correct=1,
    ),
]
