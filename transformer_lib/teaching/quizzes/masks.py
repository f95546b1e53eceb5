"""The quiz of chapter 8."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "Two models have learned the phone book: A's loss is 0.05, B's is 0.35. Which will write more of its numbers?",
        answers=[
            (
                "A: the smaller loss shows that it knows the book better",
                "The loss in training may be small because the answer was seen.",
            ),
            (
                "B: only a model that sees later digits gets to 0.05",
                "The least possible loss is 0.347. Below it, a model has used what is not there when it writes.",
            ),
            (
                "Both the same: 0.35 and 0.05 are both near the least loss, 0",
                "The least loss is not 0: nobody can know which of the 16 numbers comes.",
            ),
        ],
        correct=1,
    ),
    Question(
        "Why is the diagonal of the causal mask True?",
        answers=[
            ("The word of position t is already written, and the next one is to be named", "So a position may look at itself."),
            (
                "Row 0 would see nothing without it; the other rows could do without",
                "Their attention would miss the newest word; only the residual connection would bring it.",
            ),
            (
                "Position t must name word t, and the word itself is its best clue",
                "Then it could copy the answer. It names word t + 1.",
            ),
        ],
        correct=0,
    ),
    Question(
        "In cross-attention the target looks at the source. Which padding does its mask hide?",
        answers=[
            (
                "The target's: a padded query must not look at real words",
                "What a padded query finds does no harm. Rows are never hidden.",
            ),
            (
                "Both: a pair counts only if neither of its words is padding",
                "A padded query hides no key. Only keys are hidden.",
            ),
            ("The source's: the keys of this attention come from there", "What is looked at must be real."),
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
