"""The quiz of chapter 7."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A batch holds 2 sentences of 3 tokens with 8 numbers each. "
        "How many means does one layer normalisation compute?",
        answers=[
            ("1", "Nothing is averaged over the whole batch."),
            ("6", "One for each token, over its 8 numbers."),
            ("8", "That would be one per dimension, as batch normalisation does."),
        ],
        correct=1,
    ),
    Question(
        "Where in an encoder layer can one token influence another?",
        answers=[
            (
                "In attention and in the feed-forward network.",
                "The feed-forward network works on each token alone.",
            ),
            ("In all parts.", "Add & norm and feed-forward work on each token alone."),
            ("In attention only.", "All other parts treat each token by itself."),
        ],
        correct=2,
    ),
    Question(
        "A sentence grows from 3 to 4 tokens. What happens to the bias b₁?",
        answers=[
            (
                "It grows to (4, d_ff).",
                "Then no layer could take sentences of any length.",
            ),
            ("Nothing: it has d_ff numbers.", "The vector is added to each row."),
            ("It needs to be trained again.", "The same numbers serve each place."),
        ],
        correct=1,
    ),
    Question(
        "Why does a pre-norm encoder end with one more layer normalisation?",
        answers=[
            (
                "The sum of all layers is never normalised otherwise.",
                "We saw its size grow from one to about four.",
            ),
            ("To have more parameters.", "It has only 2 · d_model."),
            ("The decoder can only read post-norm.", "It reads any vectors."),
        ],
        correct=0,
    ),
]
