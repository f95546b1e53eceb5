"""The quiz of chapter 6."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "The weights have the shape (3, 5). What sums to 1?",
        answers=[
            ("Each of the 3 rows.", "One row holds the weights of one query."),
            ("Each of the 5 columns.", "A key may be looked at by all or by nobody."),
            ("All 15 numbers together.", "They sum to 3, one for each query."),
        ],
        correct=0,
    ),
    Question(
        "d_model is 512 and there are 8 heads. By what are the scores divided?",
        answers=[
            ("√512", "Inside a head the vectors are not that wide."),
            ("√64 = 8", "Each head has d_k = 512 / 8 = 64 numbers."),
            ("√8", "That is the number of heads, not their width."),
        ],
        correct=1,
    ),
    Question(
        "You double the number of heads and keep d_model. "
        "What happens to the number of parameters?",
        answers=[
            ("It doubles.", "Each head becomes half as wide."),
            ("It stays.", "The four matrices keep their size."),
            ("It becomes a half.", "The four matrices keep their size."),
        ],
        correct=1,
    ),
    Question(
        "The sentence becomes three times as long. "
        "How many times as many scores are there?",
        answers=[
            ("3", "Each query also has three times as many keys."),
            ("6", "Queries times keys, not queries plus keys."),
            ("9", "Three times the queries, and three times the keys for each."),
        ],
        correct=2,
    ),
    Question(
        "Heads are made by `x.view(batch, heads, seq, d_k)` alone. What do you see?",
        answers=[
            ("An error about shapes.", "The number of elements fits: `view` agrees."),
            (
                "Nothing at first: the shape is right, the content is mixed up.",
                "Only a test of the values finds it.",
            ),
            ("Zeros.", "No number is lost; they are in the wrong places."),
        ],
        correct=1,
    ),
]
