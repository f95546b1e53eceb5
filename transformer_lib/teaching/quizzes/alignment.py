"""The quiz of chapter 4."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "Somebody adds 7 to all scores of one decoder step. "
        "What happens to the weights?",
        answers=[
            ("They all grow by 7.", "Weights always sum to 1."),
            (
                "Nothing.",
                "The softmax cancels it. So one linear neuron cannot use the state.",
            ),
            ("The largest one becomes larger.", "All scores moved by the same amount."),
        ],
        correct=1,
    ),
    Question(
        "The decoder's state has 512 numbers, the encoder's outputs have 1024. "
        "Which attention fits as it is?",
        answers=[
            ("The dot product.", "It needs two vectors of equal width."),
            ("The additive one.", "Each side has a matrix of its own, to one width."),
            ("Neither.", "One of the two projects both sides to one width."),
        ],
        correct=1,
    ),
    Question(
        "What is `weights[t, i]`?",
        answers=[
            (
                "How much decoder step t takes from encoder output i.",
                "A row of the map is a step of the decoder.",
            ),
            (
                "How much encoder output t takes from decoder step i.",
                "The decoder asks, the encoder's outputs answer.",
            ),
            (
                "The probability that word i is written at step t.",
                "The weights mix vectors. The word's scores come afterwards.",
            ),
        ],
        correct=0,
    ),
    Question(
        "Padded places get the score −∞. Why not simply leave their score as it is?",
        answers=[
            (
                "They would take a share of the weights, and change the context.",
                "And the answer would change with the length of the padding.",
            ),
            ("The softmax would fail.", "It would work, and be wrong in silence."),
            ("It makes no difference.", "A score of 0 is not a weight of 0: e⁰ = 1."),
        ],
        correct=0,
    ),
    Question(
        "In a map the largest weight stands one place beside the right word, "
        "but the word is written correctly. How can that be?",
        answers=[
            ("The map must be drawn wrong.", "It can be what the model really used."),
            (
                "An encoder output also remembers its neighbours.",
                "It is a summary of the words up to there.",
            ),
            ("The weights have no influence.", "Without them the knee is back."),
        ],
        correct=1,
    ),
]
