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
        "Forget gate and input gate of an LSTM both stand at 1 all the time. What is its cell state?",
        answers=[
            ("The sum of all its proposals so far.", "Nothing is erased, and everything is written: add, add, add."),
            ("The proposal of the last step alone.", "That is replace: a forget gate of 0. At 1 it forgets nothing."),
            ("The mean of the old and of the new.", "Two halves would do that. Here both pass whole."),
        ],
        correct=0,
    ),
    Question(
        "The plain cell fails to name the first of 20 to 40 symbols. Why was it also trained on 2 to 5 symbols?",
        answers=[
            (
                "To show that what it learns on short sequences helps with the long ones.",
                "Each training began anew, so nothing was carried over.",
            ),
            (
                "To show that 32 numbers are enough for short sequences, and too few for long ones.",
                "It has one symbol to keep in both, and an LSTM keeps it in 32 numbers.",
            ),
            (
                "To show that the task can be learned, and that the training is sound.",
                "It is perfect there. So what breaks it is the distance.",
            ),
        ],
        correct=2,
    ),
    Question(
        "Name the first of 20 to 40 symbols: with torch's start, an LSTM learned nothing of it in 400 training steps. "
        "What was missing?",
        answers=[
            (
                "Room in its memory: 32 numbers could not hold a symbol over forty steps.",
                "The same 32 numbers hold it if the forget gate starts open.",
            ),
            (
                "News from the end: hardly any of the error came back to the first step.",
                "Of 0.6 a step, two parts in ten million are left after 30 steps.",
            ),
            (
                "A gate that can keep: its forget gate could not come near enough to 1.",
                "It is the same gate as in the LSTM that learned. Only its start differs.",
            ),
        ],
        correct=1,
    ),
    Question(
        "A GRU's update gate stands at 0.75, its old state at 2, its proposal at −2. What is the new state?",
        answers=[
            ("−1, since it takes three quarters of the new.", "In some papers. Here, as in torch, z is what is kept."),
            ("0, since the old and the new cancel out.", "With z = 0.5 they would."),
            ("1, since it keeps three quarters of the old.", "0.75 · 2 + 0.25 · (−2) = 1."),
        ],
        correct=2,
    ),
]
