"""The quiz of chapter 5."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "You shuffle the words of a sentence before attention without positions. "
        "What happens to its output?",
        answers=[
            (
                "It stays exactly the same, row by row.",
                "The rows move along with their words.",
            ),
            (
                "The same rows come out, in the shuffled order.",
                "That is permutation equivariance.",
            ),
            (
                "All rows change.",
                "Each row is an average of the same words with the same weights.",
            ),
        ],
        correct=1,
    ),
    Question(
        "`d_model` is 512. Which dimensions change fastest from word to word?",
        answers=[
            ("0 and 1", "Pair 0 turns one radian per word."),
            ("510 and 511", "The last pair needs about 60,600 words for one turn."),
            ("All change equally fast.", "Each pair has a speed of its own."),
        ],
        correct=0,
    ),
    Question(
        "Why is the table a buffer and not a parameter?",
        answers=[
            ("Buffers are faster.", "Speed has nothing to do with it."),
            (
                "It must move with the model, but not be trained.",
                "And since the formula can make it again, it is not saved either.",
            ),
            ("Parameters cannot hold sines.", "A parameter can hold any numbers."),
        ],
        correct=1,
    ),
    Question(
        "A decoder writes its fifth word and forgets `offset`. "
        "What does the model believe?",
        answers=[
            ("The word is at position 4.", "It would be so with `offset=4`."),
            (
                "The word is at position 0.",
                "Each new word would claim to be the first one.",
            ),
            (
                "Nothing: positions are not used there.",
                "The decoder adds positions as well.",
            ),
        ],
        correct=1,
    ),
    Question(
        "A model with a learned table was trained on 16 tokens. "
        "What happens at token 20?",
        answers=[
            ("It works as well as before.", "Row 20 was never trained."),
            (
                "If the table has a row 20, the row is still random; "
                "if not, there is an error.",
                "We measured the first case: it only guesses.",
            ),
            ("It uses row 20 − 16 = 4.", "Nothing wraps around."),
        ],
        correct=1,
    ),
]
