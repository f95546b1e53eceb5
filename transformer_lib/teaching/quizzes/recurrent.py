"""The quiz of chapter 2."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
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
        "An LSTM has read *the cow sees the horse and*. Its cell state still holds the cow's gender, "
        "but its output is close to 0. Why?",
        answers=[
            ("Its output gate is nearly closed.", "It opens at *tired*, where the ending is written."),
            ("Its forget gate is nearly closed.", "Then the cell state would have lost the gender. It is hidden."),
            ("Its input gate is nearly closed.", "That protects c. What is shown of c is the output gate's work."),
        ],
        correct=0,
    ),
    Question(
        "A whiteboard's forget gate stands at 0.5 for thirty steps. What is left of the number written at first, "
        "and of the error that comes back to it?",
        answers=[
            ("A billionth of the number, all of the error.", "Each step multiplies the error by the gate as well."),
            ("A billionth of both.", "Both are multiplied by 0.5 thirty times. An open gate serves both."),
            ("Half of the number, a billionth of the error.", "Half is left after one step. The gate multiplies again."),
        ],
        correct=1,
    ),
    Question(
        "Name the first of 20 to 40 words: with torch's start, an LSTM learned nothing of it, even in 4,000 training steps. "
        "What was different in the LSTM that learned it in 400?",
        answers=[
            ("A larger state, with space for forty words.", "Both have 32 numbers, and one word to keep."),
            ("Shorter sequences at first, then longer ones.", "Both read the same lengths from the first step on."),
            ("A larger bias on its forget gate at the start.", "It began at 3, which is a gate of 0.95."),
        ],
        correct=2,
    ),
    Question(
        "A GRU's update gate stands at 0.75, its old state at 2, its proposal at −2. What is the new state?",
        answers=[
            ("−1", "In some papers. Here, as in torch, z is the share of the old."),
            ("0", "With z = 0.5 the two would cancel out."),
            ("1", "It keeps three quarters of the old: 0.75 · 2 + 0.25 · (−2) = 1."),
        ],
        correct=2,
    ),
]
