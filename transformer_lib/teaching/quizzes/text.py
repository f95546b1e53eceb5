"""The quiz of chapter 3."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A bag of words is trained on twin reviews: the same words, opposite labels. "
        "What can its accuracy on them be?",
        answers=[
            ("With enough data, close to 1.", "Data cannot help: inputs are equal."),
            ("Exactly one half.", "Both twins get one answer; it is right for one."),
            ("About 0.75.", "It would have to tell some twins apart."),
        ],
        correct=1,
    ),
    Question(
        "What does `^[a-zA-Z']` match in a text?",
        answers=[
            ("All that is no letter.", "That is `[^a-zA-Z']`, the caret inside."),
            (
                "One letter or apostrophe at the very beginning.",
                "Outside the bracket the caret means: at the beginning.",
            ),
            ("All letters.", "That would be the bracket without a caret."),
        ],
        correct=1,
    ),
    Question(
        "Why CRC-32 for the OOV buckets, and not Python's `hash`?",
        answers=[
            ("It is faster.", "Speed is not the point."),
            (
                "Python's `hash` of a string differs from process to process.",
                "A saved model would find other words in its buckets.",
            ),
            ("It never puts two words into one bucket.", "Any hash into 1000 does."),
        ],
        correct=1,
    ),
    Question(
        "You add ten columns of padding to a batch. What changes in our classifier?",
        answers=[
            ("Nothing but the time it takes.", "Packed, the GRU never sees them."),
            ("The logits of the short reviews.", "So it is without a mask."),
            ("The loss, as it is averaged over more places.", "One term per review."),
        ],
        correct=0,
    ),
    Question(
        "The vocabulary is built on training and test reviews together. What is wrong?",
        answers=[
            ("Nothing, labels are not used.", "The words of the test are used."),
            (
                "The test no longer has unknown words, and real use has.",
                "So the measure does not say what happens in use.",
            ),
            ("The vocabulary gets too large.", "`max_size` limits it."),
        ],
        correct=1,
    ),
]
