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
            ("Place t holds a word that is known, and predicts the next", "So a place may look at itself."),
            ("Row 0 alone needs it; the other rows could do without", "They would miss their newest word."),
            (
                "Place t predicts word t, and so it needs word t as input",
                "Then it could copy the answer. It predicts word t + 1.",
            ),
        ],
        correct=0,
    ),
    Question(
        "Which padding does cross-attention hide?",
        answers=[
            ("That of the target, because its queries are padded", "The target asks; nobody looks at its padding here."),
            ("That of both sentences, joined with the `&` operator", "A padded query hides no key."),
            ("That of the source, because its keys are what is looked at", "The keys come from the source."),
        ],
        correct=2,
    ),
    Question(
        "You hide a whole row by adding −10,000 to its scores, in float32. What are its weights?",
        answers=[
            ("All 0, as those of a score of −∞ would be", "A softmax always sums to 1."),
            ("The same as without any mask", "The same number added everywhere cancels out."),
            ("An even share for each of its places", "That is what *writing* −10⁹ in place of the scores gives."),
        ],
        correct=1,
    ),
]
