"""The quiz of chapter 6."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "The weights have the shape (3, 5): 3 queries, 5 keys. What sums to 1?",
        answers=[
            ("Each of the 5 columns.", "A key may be looked at by all or by nobody."),
            ("Each of the 3 rows.", "One row holds the weights of one query."),
            ("All 15 of the numbers.", "They sum to 3, one for each query."),
        ],
        correct=1,
    ),
    Question(
        "d_model stays 512, and 8 heads become 32. By what are the scores divided now?",
        answers=[
            ("By √512 ≈ 22.6, as they were before.", "Inside a head the vectors never were that wide."),
            ("By √16 = 4, half of what it was.", "Each head has d_k = 512 / 32 = 16 numbers; before it had 64."),
            ("By √32 ≈ 5.7, twice what it was.", "That is the number of heads, not their width."),
        ],
        correct=1,
    ),
    Question(
        "What does head 0 of 8 see of a word's vector of 512 numbers?",
        answers=[
            (
                "All 512 of them, projected onto 64.",
                "Its own matrix, 512 by 64, takes in the whole vector.",
            ),
            (
                "The first 64 of them, exactly as they are.",
                "Only the projected result is cut; the vector itself never is.",
            ),
            (
                "Every eighth of them, 64 in all.",
                "Nothing of the word's vector is left out before the projection.",
            ),
        ],
        correct=0,
    ),
    Question(
        "Of two words, one has the weight 0.881, and its score rises by 0.1. How much does its weight rise, about?",
        answers=[
            ("By 0.088: so much is 0.1 of it.", "Between score and weight lies the softmax, which already leans to one side."),
            ("By 0.025: as from even weights.", "So much it would rise if the two scores were equal."),
            ("By 0.010: less than from even ones.", "The further ahead a word is, the less its weight still moves."),
        ],
        correct=2,
    ),
    Question(
        "The rows 0 1 2 3, 10 11 12 13 and 20 21 22 23 become two heads by `view(1, 2, 3, 2)` alone. "
        "Which rows does head 1 get?",
        answers=[
            ("12 13, then 20 21, then 22 23.", "The numbers stay in order, and head 1 gets the second half of them all."),
            ("2 3, then 12 13, then 22 23.", "So it should be; but for that the axes of words and heads must be swapped."),
            ("10 11, then 12 13, then 20 21.", "The numbers stay in order, but 10 11 is still in head 0."),
        ],
        correct=0,
    ),
]
