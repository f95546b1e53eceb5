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
        "Why can one matrix turn every row of the sinusoidal table into the row two positions on?",
        answers=[
            (
                "The rows of neighbours are nearly equal, so a small change is enough.",
                "The fast hand turns by two radians: a large change, and yet the matrix is exact.",
            ),
            (
                "The angle of each turn depends on the shift, and not on the position.",
                "Each hand turns by the angle of two positions, wherever it starts.",
            ),
            (
                "The hands come back after a full turn, so the rows repeat themselves.",
                "Each hand comes back, but after another time, so the whole row does not repeat.",
            ),
        ],
        correct=1,
    ),
    Question(
        "Why is the sinusoidal table a buffer, and not a parameter of the layer?",
        answers=[
            (
                "Training must not change it, and it must be saved with the model.",
                "Ours is not saved (`persistent=False`): the formula can always make it again.",
            ),
            (
                "All sentences of a batch share it, and a parameter is not shared.",
                "A bias is shared by all sentences as well: broadcasting serves both.",
            ),
            (
                "Training must not change it, but it must go where the model goes.",
                "A buffer moves to another device with the model. With `persistent=False` ours is not saved.",
            ),
        ],
        correct=2,
    ),
    Question(
        "In the map of 50 positions and 128 dimensions, the columns on the right hardly change. What are they for?",
        answers=[
            (
                "For neighbours, which the fast hands cannot tell apart.",
                "The other way round: slow hands hardly move between neighbours, fast ones do.",
            ),
            (
                "For longer texts, in which their slow hands do turn.",
                "Each hand tells positions apart at its own scale; the slowest turns once in 54,410 positions.",
            ),
            (
                "For the words, which need dimensions without positions.",
                "The word's numbers are added in all dimensions alike.",
            ),
        ],
        correct=1,
    ),
    Question(
        "A learned table has 64 rows, and was trained on sentences of 16 words. What does the word at position 20 get?",
        answers=[
            (
                "An error, since training ended with position 15.",
                "The table has a row 20. An error would come at position 64.",
            ),
            (
                "Row 20, which goes on where the trained rows end.",
                "Each row is trained by itself. Only a formula goes on, as that of the sinusoids.",
            ),
            (
                "Row 20, with the numbers that the table began with.",
                "Nothing has trained it. On such positions the network was right for 15 words of 100; guessing is for 8.",
            ),
        ],
        correct=2,
    ),
]
