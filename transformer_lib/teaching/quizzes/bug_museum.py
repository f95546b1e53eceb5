"""The quiz of chapter 18."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A colleague's change brings the training loss nearly to its floor at once. What do you look at first?",
        answers=[
            (
                "Whether the model also writes well, from its own words",
                "Three of the museum's better curves belong to models that copy next to nothing.",
            ),
            (
                "Whether the curve stays better with a second and a third seed",
                "The museum's five better curves are so with each of three seeds.",
            ),
            ("Whether the held-out loss is better as well", "It is: held-out sentences show their answers too."),
        ],
        correct=0,
    ),
    Question(
        "With label smoothing 0.1 and 13 words, a run ends at a training loss of 0.50. What do you say?",
        answers=[
            ("It is nearly perfect; a few more steps will bring it to 0", "With smoothing nothing comes below 0.537."),
            ("It has learned its training sentences by heart", "By heart, it would pay 0.537 as well."),
            ("No model can do that, so a number is counted wrongly", "No model beats the target's own probabilities."),
        ],
        correct=2,
    ),
    Question(
        "Padding hides rows in place of columns. What gives it away?",
        answers=[
            ("One sentence, alone and beside a longer one", "Beside a longer one it is padded, and its logits move."),
            ("A curve that ends above the right one", "Its three curves end beside the right ones."),
            ("A loss below the floor", "It is counted rightly, and stays above."),
        ],
        correct=0,
    ),
    Question(
        "You switch a bug on, and every test passes. What follows?",
        answers=[
            ("The bug is harmless, and can stay in the library", "It may be harmful in a way that nothing tests."),
            ("No test tests this line, or the bug is not on", "Either way something has to be mended."),
            ("The library is right, because its tests pass", "It has a bug at this moment: we put it there."),
        ],
        correct=1,
    ),
]
