"""The quiz of chapter 8."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "Your language model reaches a loss far below the entropy of its text. "
        "What do you do first?",
        answers=[
            ("Publish.", "No honest model can be better than the entropy."),
            (
                "Look for a leak from the future.",
                "Only knowledge of the answer can push the loss below the floor.",
            ),
            ("Train longer.", "The loss would fall further, and so would its worth."),
        ],
        correct=1,
    ),
    Question(
        "Why is the diagonal of the look-ahead mask True?",
        answers=[
            (
                "The input is shifted by <SOS>: place t holds a known word, "
                "and word t + 1 is predicted.",
                "So a place may look at itself.",
            ),
            (
                "Only to avoid NaN in row 0.",
                "It does that too, but it is right for all rows.",
            ),
            ("It should be False.", "Then row 0 would have nothing to see."),
        ],
        correct=0,
    ),
    Question(
        "Which padding does cross-attention hide?",
        answers=[
            ("That of the target.", "The target asks; its padding is not looked at."),
            ("That of the source.", "The keys come from the source."),
            ("None: the look-ahead mask is enough.", "It has no look-ahead mask."),
        ],
        correct=1,
    ),
    Question(
        "You hide a whole row by adding −10,000 to its scores, in float32. "
        "What are its weights?",
        answers=[
            ("All 0.", "A softmax always sums to 1."),
            ("NaN.", "That would be −∞ without care."),
            (
                "Those of the row without any mask.",
                "The same number added everywhere cancels out.",
            ),
        ],
        correct=2,
    ),
]
