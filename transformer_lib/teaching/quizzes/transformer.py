"""The quiz of chapter 10."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A new model with 8,000 words has a first loss of 60. What do you do?",
        answers=[
            ("Train it: the loss will fall.", "It will, but something starts wrongly."),
            (
                "Look for logits that are far too large.",
                "About 9 is expected: log 8,000 and a half. It is surely wrong.",
            ),
            ("Take a smaller vocabulary.", "That changes log V only a little."),
        ],
        correct=1,
    ),
    Question(
        "Why is the embedding multiplied by √d_model?",
        answers=[
            (
                "So that a word is as large as the position that is added to it.",
                "The shared matrix starts small, for the sake of the logits.",
            ),
            ("So that the softmax is not too sharp.", "That is √d_k, in attention."),
            ("To make training faster on a graphics card.", "It is about sizes."),
        ],
        correct=0,
    ),
    Question(
        "You double `num_heads` and leave the rest. How many parameters are added?",
        answers=[
            ("Twice those of attention.", "The heads share matrices of one width."),
            ("None.", "The same numbers are cut into more, narrower heads."),
            ("It depends on the sentence.", "Parameters never do."),
        ],
        correct=1,
    ),
    Question(
        "The paper says 65 million parameters. What does its own description give?",
        answers=[
            ("Exactly 65 million.", "Count the lines of the table."),
            ("About 63 million.", "63,082,496 with one shared matrix of 37,000 rows."),
            ("About 101 million.", "That is without tying."),
        ],
        correct=1,
    ),
    Question(
        "Padding is put on the left of the source, and the model's outputs change. "
        "Is the padding mask broken?",
        answers=[
            ("Yes: padding must move nothing.", "The masks hide it. Look further."),
            (
                "No: the words have moved to other positions.",
                "The padding itself is not seen, but the places are others.",
            ),
            ("No: masks work on the right only.", "They hide padding anywhere."),
        ],
        correct=1,
    ),
]
