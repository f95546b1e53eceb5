"""The five questions of the first page: what a reader should know before chapter 1."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "`A` has the shape (3, 4) and `B` the shape (4, 2). What is the shape of `A @ B`?",
        answers=[
            ("(4, 4): the inner numbers stay", "The inner numbers must be equal, and it is they that vanish."),
            (
                "(3, 2): the outer numbers stay",
                "Each of the 3 rows meets each of the 2 columns, in 4 products that are summed.",
            ),
            ("(2, 3): the outer numbers turn round", "That is the shape of the product's transpose."),
        ],
        correct=1,
    ),
    Question(
        "What is the dot product of (1, 2, 0) and (3, 1, 5)?",
        answers=[
            ("5: products place by place, summed", "1 · 3 + 2 · 1 + 0 · 5 = 5. The whole course is built of such sums."),
            ("(3, 2, 0): products place by place", "That is the elementwise product. The dot product sums its numbers."),
            ("(4, 3, 5): sums place by place", "That is the sum of the two vectors."),
        ],
        correct=0,
    ),
    Question(
        "What does this print? `print([x * x for x in range(4) if x != 1])`",
        answers=[
            ("`[0, 1, 4, 9]`: four squares", "The condition leaves the 1 out."),
            ("`[4, 9, 16]`: three squares", "`range(4)` counts from 0 and stops before 4."),
            ("`[0, 4, 9]`: three squares", "0, 2 and 3 pass the condition. Read on: the code of the course is of this kind."),
        ],
        correct=2,
    ),
    Question(
        "The loss is `(w - 3) ** 2`, and `w` is 5. Which way does gradient descent move `w`?",
        answers=[
            (
                "Down: the slope is +4, and it goes against the slope",
                "The derivative is 2 · (5 - 3) = 4. The step is minus the rate times 4.",
            ),
            ("Up: the slope is +4, and it goes with the slope", "With the slope the loss would grow. Descent goes against it."),
            (
                "It stays: the slope is 0 where the loss is lowest",
                "The lowest loss is at 3. At 5 the slope is 2 · (5 - 3) = 4.",
            ),
        ],
        correct=0,
    ),
    Question(
        "A model gives the right word the probability 0.5, then 0.25. What is the natural logarithm of their product?",
        answers=[
            (
                "log 0.75: the two are added first",
                "Probabilities of one word after another are multiplied; their logarithms are added.",
            ),
            ("log 0.5 · log 0.25: logarithms are multiplied too", "The logarithm turns a product into a sum."),
            ("log 0.5 + log 0.25: a product becomes a sum", "It is about -2.08. Chapter 1 begins with such sums."),
        ],
        correct=2,
    ),
]
