"""The quiz of chapter 16."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "The held-out loss of a run falls from 8.5 to 4, and its gap is 0.00. What has the model learned?",
        answers=[
            (
                "To translate the frequent words.",
                "Then their own source would make them more likely, and there would be a gap.",
            ),
            (
                "What French captions are like.",
                "It names words by the French words before them, and the English one changes nothing.",
            ),
            (
                "Nothing: the loss falls because the rate falls.",
                "A loss of 4 in place of 8.5 is learned. The question is what.",
            ),
        ],
        correct=1,
    ),
    Question(
        "With its own source a model gives the right word 0.6, with another's 0.15. How large is the gap at this word?",
        answers=[
            ("0.45", "Losses are logarithms: the gap is the logarithm of the ratio, not the difference of the probabilities."),
            ("4", "This is the ratio, e to the power of the gap."),
            ("log 4", "The logarithm of 0.6/0.15: its own source makes the word 4 times as likely."),
        ],
        correct=2,
    ),
    Question(
        "Run A: a lower rate. Run B: the same lower rate, and pre-norm. All else is equal; B's loss is lower. What follows?",
        answers=[
            (
                "Pre-norm helps, at A's rate.",
                "A and B differ in the norm alone: that is a controlled experiment, at this one rate.",
            ),
            (
                "Pre-norm helps, at the first run's rate too.",
                "For that, pre-norm has to be tried at that rate: changes need not add up.",
            ),
            (
                "Each of the two changes brings about half of it.",
                "Only runs with one change each could say how much each brings.",
            ),
        ],
        correct=0,
    ),
    Question(
        "A translator leaves out *not*, which is rare in its training pairs. What tells you whether it reads the word?",
        answers=[
            (
                "How often *not* and *ne* stand in the training pairs.",
                "That is a suspicion: in this chapter it pointed the wrong way.",
            ),
            (
                "The loss of *ne*, once with *not* in the source and once without.",
                "One word is exchanged, and the model answers itself.",
            ),
            (
                "The BLEU of sentences with *not*, beside that of all others.",
                "It says how well they are written, and not what was read.",
            ),
        ],
        correct=1,
    ),
]
