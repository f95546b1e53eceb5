"""The quiz of chapter 3."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A bag of words is trained on twin reviews: the same words, opposite labels. What can its accuracy on them be?",
        answers=[
            ("Close to 1, with enough twins to learn from.", "Data cannot help: both inputs are equal."),
            ("One half, however long it is trained.", "Both twins get one answer; it is right for one."),
            ("About 0.75, since some pairs differ in a word.", "Then they would be no twins."),
        ],
        correct=1,
    ),
    Question(
        "What does `^[a-zA-Z']` match in a text?",
        answers=[
            ("Every character that is no letter.", "That is `[^a-zA-Z']`, the caret inside."),
            ("Every letter and every apostrophe.", "That would be the bracket without a caret."),
            ("A letter or apostrophe at its beginning.", "Outside the bracket the caret means: at the beginning."),
        ],
        correct=2,
    ),
    Question(
        "Why CRC-32 for the OOV buckets, and not Python's `hash`?",
        answers=[
            ("It is the same each time Python starts.", "A saved model finds the same words in its buckets."),
            ("It never puts two words into one bucket.", "With 1000 buckets any hash puts some words together."),
            ("It takes less time for the longer words.", "Speed is not the point."),
        ],
        correct=0,
    ),
    Question(
        "You add ten columns of padding to a batch. What changes in our classifier?",
        answers=[
            ("The logits of the shorter reviews.", "So it is without a mask."),
            ("The loss, for it has more places.", "The loss has one term for each review."),
            ("Neither a logit nor the loss.", "Packed, the GRU never sees the new columns."),
        ],
        correct=2,
    ),
    Question(
        "The vocabulary is built on training and test reviews together. What is wrong?",
        answers=[
            ("The test has no unknown words, and real use has.", "So the measure does not say what happens in use."),
            ("The vocabulary grows too large for the embedding.", "`max_size` limits it."),
            ("Nothing, as long as the labels stay hidden from it.", "The words of the test are used, and words tell much."),
        ],
        correct=0,
    ),
]
