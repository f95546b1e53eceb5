"""The quiz of chapter 14."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "Somebody trains the tokenizer on all sentences, test sentences included, and "
        "the model on the training set alone. What is wrong with the score?",
        answers=[
            ("Nothing: a tokenizer does not translate.", "It has counted test text."),
            (
                "The vocabulary fits the test sentences better than it would new ones.",
                "Words that only the test has get tokens of their own.",
            ),
            ("The model gets too many parameters.", "Their number can be the same."),
        ],
        correct=1,
    ),
    Question(
        "One page reports BLEU 41, another 38, for the same translations. "
        "What do you ask first?",
        answers=[
            ("Which model is larger?", "The translations are the same."),
            (
                "What are the two signatures?",
                "Another way of cutting words, or lower case, changes the number.",
            ),
            ("How long was the training?", "The translations are the same."),
        ],
        correct=1,
    ),
    Question(
        "Why is `decode` stopped at the first EOS?",
        answers=[
            (
                "What comes after it in the batch is padding.",
                "A finished sentence stays finished; the others still write.",
            ),
            ("EOS has no text.", "Then it would be enough to leave it out."),
            ("It makes decoding faster.", "The ids have been written already."),
        ],
        correct=0,
    ),
    Question(
        "The map shows a bright cell from *ne* to *not*. What follows?",
        answers=[
            ("*ne* is written because of *not* alone.", "A map shows no causes."),
            (
                "This head took much of the vector at *not* when *ne* was written.",
                "And that vector also holds what the encoder mixed into it.",
            ),
            ("The model knows French grammar.", "That is what the tests are for."),
        ],
        correct=1,
    ),
    Question(
        "Held-out sentences are nearly perfect, longer ones are mostly wrong. Why?",
        answers=[
            (
                "Training never had so many words, nor these positions.",
                "Low loss on the same kind of text says nothing about other kinds.",
            ),
            ("The sinusoids end at ten positions.", "They have no end."),
            ("Longer sentences have unknown words.", "Each word occurs in training."),
        ],
        correct=0,
    ),
]
