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
        "`d_model` is 512. Which dimensions change fastest from word to word?",
        answers=[
            ("0 and 1, the first pair", "Pair 0 turns one radian per word."),
            (
                "510 and 511, the last pair",
                "The last pair needs about 60,600 words for one turn.",
            ),
            ("none: all are equally fast", "Each pair has a speed of its own."),
        ],
        correct=0,
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
                "In our task the model then did hardly better than guess.",
            ),
        ],
        correct=2,
    ),
]
