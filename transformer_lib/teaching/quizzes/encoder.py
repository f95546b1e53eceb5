"""The quiz of chapter 7."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A batch holds 2 sentences of 3 tokens with 8 numbers each. How many means does one layer normalisation compute?",
        answers=[
            ("6, one for each token", "Each is a mean of 8 numbers."),
            ("2, one for each sentence", "The tokens of a sentence are kept apart."),
            ("8, one for each dimension", "That is what batch normalisation does."),
        ],
        correct=0,
    ),
    Question(
        "You change the first of three tokens in `z`, behind the first frame. How many of the layer's three outputs change?",
        answers=[
            (
                "All three, since both matrices mix the tokens once more",
                "They mix the numbers of one token; each token is worked on alone.",
            ),
            (
                "All three, since the norm takes its mean over the tokens",
                "Each token is normalised with its own mean and variance.",
            ),
            (
                "Only the first, since what follows treats each token alone",
                "Tokens meet in attention, in front of `z`; the second box and its norm mix only the numbers of one token.",
            ),
        ],
        correct=2,
    ),
    Question(
        "A box gives 0 for every number of every token. What comes out of its frame, add & norm, before any training?",
        answers=[
            (
                "Zeros, since the norm works on what the box gives",
                "The norm works on the sum, and the token is in it.",
            ),
            (
                "The token, brought to mean 0 and variance 1",
                "The way around carries it past the box, and the norm sets its size.",
            ),
            (
                "The token as it came in, since nothing is added to it",
                "The norm still follows, and gives it mean 0 and variance 1.",
            ),
        ],
        correct=1,
    ),
    Question(
        "A layer adds the same average to each of three tokens. What becomes of the first minus the second, "
        "and what of our measure, *difference*?",
        answers=[
            (
                "The first minus the second stays; the measure falls",
                "The same cancels; but the measure compares with the tokens' size, and that has grown.",
            ),
            (
                "Both stay, because each of them got the same on top",
                "The same cancels in the first. The measure compares with the tokens' size, and that has grown.",
            ),
            (
                "Both fall, because each token now holds the others",
                "Take [1, 4, 1, 0] from [4, 1, 1, 0]: the same four numbers as before.",
            ),
        ],
        correct=0,
    ),
    Question(
        "In a head without a way around, all queries are equal, but the keys differ. What do the tokens get?",
        answers=[
            (
                "Each a vector of its own, since the keys still differ",
                "Each of them asks the same of the same keys, so all get the same weights.",
            ),
            (
                "All the plain average of the values, with even weights",
                "That is so when the *keys* are equal. Keys that differ get different weights.",
            ),
            (
                "All the same vector, but not with even weights",
                "One question, one row of weights, the same for all: the collapse at once.",
            ),
        ],
        correct=2,
    ),
]
