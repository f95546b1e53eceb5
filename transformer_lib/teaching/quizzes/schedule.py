"""The quiz of chapter 11."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "The width is made four times larger, the warm-up stays. What happens to the peak of the schedule?",
        answers=[
            ("It becomes a quarter.", "The width stands under a root."),
            ("It comes later, as high.", "When it comes, the warm-up alone decides."),
            ("It becomes a half.", "The peak is 1 / √(d_model · warmup)."),
        ],
        correct=2,
    ),
    Question(
        "After the peak, when is the rate down to half of the peak?",
        answers=[
            ("At step 4 · warmup.", "Four times the steps, half the rate."),
            ("At step 2 · warmup.", "There it is the peak divided by √2, which is 0.71 of it."),
            ("At step warmup².", "The fall is 1 / √step, whatever the warm-up."),
        ],
        correct=0,
    ),
    Question(
        "A weight's first gradient is 0.000003, another's is 3. How do Adam's first moves of the two compare?",
        answers=[
            ("The second is a million times as long.", "So it would be in plain gradient descent."),
            (
                "Both are nearly as long as the rate.",
                "g / |g| has no size: even a small gradient moves a weight by the full rate.",
            ),
            ("The second is a thousand times as long.", "A root is taken, but of g²."),
        ],
        correct=1,
    ),
    Question(
        "What did the deep post-norm stack lose in its first steps at full rate?",
        answers=[
            (
                "Nothing: it only learned the task more slowly.",
                "Its loss stayed near log 12, as of a model that knows nothing.",
            ),
            (
                "The differences between the states of the places.",
                "Their spread fell almost to 0, and the last layer could tell no places apart.",
            ),
            (
                "Its weights, some of which became infinite or NaN.",
                "All losses and spreads stayed finite; nothing looked broken.",
            ),
        ],
        correct=1,
    ),
    Question(
        "A model with 37,000 words, trained with ε = 0.1, has a training loss of 1.4. Is there much left to learn?",
        answers=[
            ("Yes: its perplexity of 4 can still go down to 1.", "Only without smoothing, where the lowest loss is 0."),
            (
                "That depends on the words: more would be needed to say.",
                "The floor is a formula of V and ε, and both are given.",
            ),
            ("Hardly anything: no model gets below 1.38 here.", "It is the entropy of the smoothed target."),
        ],
        correct=2,
    ),
]
