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
        "d_model is 512 and there are 8 heads. By what are the scores divided?",
        answers=[
            ("√512, the root of d_model", "Inside a head the vectors are not that wide."),
            ("√8, the root of the heads", "That is the number of heads, not their width."),
            ("√64, the root of d_k", "Each head has d_k = 512 / 8 = 64 numbers."),
        ],
        correct=2,
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
        "The scores of two words differ by 8, and the better one has the weight 0.9997. "
        "How much does that weight rise when its score rises by 0.1?",
        answers=[
            ("By about 0.1, as the score did.", "Between score and weight lies the softmax, and here it hardly listens."),
            ("By about 0.025, a quarter of it.", "So much it would rise if the two scores were equal."),
            ("By about 0.00003: hardly at all.", "Eight ahead, the softmax no longer listens: so scores are kept small."),
        ],
        correct=2,
    ),
    Question(
        "Heads are made by `x.view(batch, heads, seq, d_k)` alone. What happens?",
        answers=[
            (
                "An error: so many numbers do not fit into this shape.",
                "They fit: the product of the sizes is the same.",
            ),
            (
                "No error, and heads that mix numbers of several words.",
                "A head's first rows are parts of the first word. Only a test of the values finds it.",
            ),
            (
                "Nothing bad: it is a shorter way to say it.",
                "Right shape, wrong content: rows must be cut first, and then two axes swapped.",
            ),
        ],
        correct=1,
    ),
]
