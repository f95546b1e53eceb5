"""The quiz of chapter 8."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A model of the phone book reaches a loss far below the book's floor. What do you do first?",
        answers=[
            (
                "Check the learning rate: it may be too high",
                "A bad rate makes the loss larger. It cannot push it below the floor.",
            ),
            (
                "Check the masks: the model may see the answer",
                "Only knowledge of the answer can push the loss below the floor.",
            ),
            (
                "Check for overfitting: the book may be too small",
                "By heart, the phone book costs its floor and no less.",
            ),
        ],
        correct=1,
    ),
    Question(
        "Why is the diagonal of the causal mask True?",
        answers=[
            ("Place t holds a known word and predicts the next", "So a place may look at itself."),
            ("Row 0 alone needs it; the other rows could do without", "They would miss their newest word."),
            (
                "Place t predicts word t, and so it needs word t as input",
                "Then it could copy the answer. It predicts word t + 1.",
            ),
        ],
        correct=0,
    ),
    Question(
        "In cross-attention the target looks at the source. Which padding does its mask hide?",
        answers=[
            ("That of the target, because its queries are padded", "The target asks; nobody looks at its padding here."),
            ("That of both sentences, joined with the `&` operator", "A padded query hides no key."),
            ("That of the source, where the keys come from", "What is looked at must be real."),
        ],
        correct=2,
    ),
    Question(
        "Somebody writes 0 in place of each hidden score, and then takes the softmax. What do the hidden words get?",
        answers=[
            (
                "Nothing, since a score of 0 stands for no attention at all",
                "A score is no weight. Only −∞ becomes a weight of 0.",
            ),
            ("A share like that of any other score of 0", "The softmax raises e to it, and e⁰ is 1."),
            ("An even share of the row, and so do all of its other words", "The other words keep their own scores."),
        ],
        correct=1,
    ),
]
