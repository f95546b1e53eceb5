"""The quiz of chapter 5."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "You shuffle the words of a sentence before attention without positions. What happens to its output?",
        answers=[
            (
                "The same rows, in the same order as before.",
                "The rows move along with their words.",
            ),
            (
                "The same rows come out, in the shuffled order.",
                "That is permutation equivariance.",
            ),
            (
                "Other rows, since each word has new neighbours.",
                "Each row is an average of the same words with the same weights.",
            ),
        ],
        correct=1,
    ),
    Question(
        "One matrix turns the row of position 3 into the row of position 5. What does it make of the row of position 40?",
        answers=[
            (
                "No row of the table: the matrix was made for position 3.",
                "It holds the shift, 2, and no position.",
            ),
            (
                "The row of position 42.",
                "Each hand turns by two words, wherever it starts.",
            ),
            (
                "Nearly the row of position 42, as far as the slow hands go.",
                "It is exact, for the fast hands as well: a shift is the same turn everywhere.",
            ),
        ],
        correct=1,
    ),
    Question(
        "Why is the sinusoidal table a buffer, and not a parameter of the layer?",
        answers=[
            (
                "Training must not change it, but it must be saved with the model.",
                "Ours is not saved (`persistent=False`): the formula can always make it again.",
            ),
            (
                "A parameter would have to be `(batch, max_len, d_model)`, one per sentence.",
                "A parameter broadcasts as a buffer does.",
            ),
            (
                "It must follow the model to another device, but never be changed by training.",
                "And with `persistent=False` ours is not saved either: the formula can make it again.",
            ),
        ],
        correct=2,
    ),
    Question(
        "A decoder feeds in only its fifth word, and forgets `offset`. What does the model believe?",
        answers=[
            (
                "The word is at position 0.",
                "Each new word would claim to be the first one.",
            ),
            ("The word is at position 4.", "It would be so with `offset=4`."),
            (
                "The word has no position.",
                "Some row is always added, and here it is the wrong one.",
            ),
        ],
        correct=0,
    ),
    Question(
        "A learned table has 64 rows, and was trained on 16 tokens. What happens at position 20?",
        answers=[
            (
                "An error: no more than 16 positions are allowed.",
                "The table has a row 20. An error would come at position 64.",
            ),
            (
                "It adds row 4, since the positions start again at 16.",
                "Nothing wraps around.",
            ),
            (
                "It adds row 20, still the random row of the start.",
                "Nothing has trained it. The workshop shows what that does.",
            ),
        ],
        correct=2,
    ),
]
