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
        "Where in an encoder layer can one token influence another?",
        answers=[
            (
                "In attention and in the feed-forward network",
                "The feed-forward network works on each token alone.",
            ),
            (
                "In attention and in the normalisation of the sum",
                "Each token is normalised with its own mean and variance.",
            ),
            ("In attention and nowhere else in the layer", "All other parts treat each token by itself."),
        ],
        correct=2,
    ),
    Question(
        "Six layers must name the token that stands at each place. You may change one thing in attention alone. "
        "Which one lets them learn it in a few hundred steps?",
        answers=[
            (
                "The norm, because it keeps the numbers at one size",
                "In the ablation attention with a norm stays near the floor for most of 2400 steps.",
            ),
            (
                "The sum, because a token keeps what it had before the layer",
                "In the ablation it was enough, without the other two.",
            ),
            (
                "A larger start, because the tokens stay apart longer",
                "They do, and the numbers grow so much that the loss is above 100 after 200 steps.",
            ),
        ],
        correct=1,
    ),
    Question(
        "Why does a pre-norm encoder end with one more layer normalisation?",
        answers=[
            (
                "Because the last layer's input is not normalised",
                "It is: pre-norm normalises what goes into each sublayer.",
            ),
            (
                "Because the sum of the layers is never normalised",
                "We saw its size grow from one to about four.",
            ),
            (
                "Because the gradient of the last layers is too small",
                "It is smaller there, and was so with that norm in place: the figure was measured with it.",
            ),
        ],
        correct=1,
    ),
]
