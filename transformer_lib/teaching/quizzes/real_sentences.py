"""The quiz of chapter 16."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "The held-out loss of a run falls from 8.5 to 4, and its gap is 0.00 at every word. What has the model learned?",
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
            ("ln 4", "The logarithm of 0.6/0.15: its own source makes the word 4 times as likely."),
        ],
        correct=2,
    ),
    Question(
        "Run A: a lower rate. Run B: the same lower rate, and pre-norm. All else is equal; B's loss is lower. What follows?",
        answers=[
            (
                "Pre-norm helps, at the rate that both runs have.",
                "A and B differ in the norm alone: that is a controlled experiment, at this one rate.",
            ),
            (
                "Pre-norm helps, at higher rates too.",
                "For that, pre-norm has to be tried at that rate: changes need not add up.",
            ),
            (
                "The lower rate helps, with pre-norm.",
                "Both runs have the lower rate: for that, one of them would need the higher one.",
            ),
        ],
        correct=0,
    ),
    Question(
        "A translator leaves out *not*, which is rare in its training pairs. What tells you whether it reads the word?",
        answers=[
            (
                "The loss of the sentence with its own source, and with another caption's.",
                "Another caption differs in many words, and the gap could come from any of them.",
            ),
            (
                "The loss of *ne*, once with *not* in the source and once without.",
                "One word is exchanged, and the model answers itself.",
            ),
            (
                "The loss of *ne* with *not* in the source, beside those of the other tokens.",
                "That says how hard *ne* is to write. Only a second source says what comes from *not*.",
            ),
        ],
        correct=1,
    ),
]
