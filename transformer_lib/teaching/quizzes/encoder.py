"""The quiz of chapter 7."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A batch holds 2 sentences of 3 tokens with 8 numbers each. How many means does one layer normalisation compute?",
        answers=[
            ("2, one for each sentence", "The tokens of a sentence are kept apart."),
            ("6, one for each token", "Each is a mean of 8 numbers."),
            ("8, one for each dimension", "That is what batch normalisation does."),
        ],
        correct=1,
    ),
    Question(
        "A sublayer gives 0 for every number of every token. What comes out of its add & norm, before any training?",
        answers=[
            (
                "Zeros, as the sublayer gave",
                "The norm works on the sum, and the token is in it.",
            ),
            (
                "The token, brought to mean 0 and variance 1",
                "The residual connection carries it past the sublayer, and the norm sets its size.",
            ),
            (
                "The token just as it came in",
                "The norm still follows, and gives it mean 0 and variance 1.",
            ),
        ],
        correct=1,
    ),
    Question(
        "The same average is added to each of three tokens. What becomes of the first token minus the second?",
        answers=[
            ("It stays as it was before", "Both got the same on top, and the same cancels."),
            (
                "It becomes smaller",
                "Take (1, 4, 1, 0) from (4, 1, 1, 0): (3, -3, 0, 0), as before.",
            ),
            ("It becomes 0", "They would be the same if the average *replaced* them."),
        ],
        correct=0,
    ),
    Question(
        "The sentence becomes twice as long. Which of these grows?",
        answers=[
            ("The matrix W_O of the heads", "It is learned, (n_head · d_v, d_model), whatever the sentence."),
            ("The bias b_1 of the network", "It is one vector of d_ff numbers, the same for every row."),
            ("The scores within a head", "They are (seq_len, seq_len): each token looks at each."),
        ],
        correct=2,
    ),
]
