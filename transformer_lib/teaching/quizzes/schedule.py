"""The quiz of chapter 11."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "The width is made four times larger, the warm-up stays. "
        "What happens to the peak of the schedule?",
        answers=[
            ("It is a quarter.", "The width stands under a root."),
            ("It is a half.", "The peak is 1 / √(d_model · warmup)."),
            ("It stays, but comes later.", "When it comes, the warm-up alone decides."),
        ],
        correct=1,
    ),
    Question(
        "After the peak, when is the rate down to half of the peak?",
        answers=[
            (
                "At step 2 · warmup.",
                "There it is the peak divided by √2, which is 0.71 of it.",
            ),
            ("At step 4 · warmup.", "Four times the steps, half the rate."),
            ("At step warmup².", "The fall is 1 / √step, whatever the warm-up."),
        ],
        correct=1,
    ),
    Question(
        "A weight's first gradient is a millionth of another weight's. "
        "How do Adam's first moves of the two compare?",
        answers=[
            (
                "They are as long as each other, as far as ε is smaller still.",
                "g / |g| has no size. This is why the first steps are the risky ones.",
            ),
            ("One is a millionth of the other.", "So it would be without Adam."),
            ("One is a thousandth of the other.", "A root is taken, but of g²."),
        ],
        correct=0,
    ),
    Question(
        "What did the deep post-norm stack lose in its first steps at full rate?",
        answers=[
            ("Nothing, it learned more slowly.", "Its loss stayed at log 12."),
            (
                "The differences between the places: all states became alike.",
                "The spread of the states fell almost to 0.",
            ),
            ("Its weights: they became NaN.", "All numbers stayed finite."),
        ],
        correct=1,
    ),
    Question(
        "A model with 37,000 words, trained with ε = 0.1, has a training loss of 1.4. "
        "Is there much left to learn from this data?",
        answers=[
            ("Yes, the loss can still go to 0.", "Only without smoothing."),
            (
                "No, hardly anything: the floor is 1.38.",
                "The entropy of the smoothed target.",
            ),
            ("It cannot be said.", "The floor is a formula of V and ε."),
        ],
        correct=1,
    ),
]
