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
        "A trained network goes on at the rate that it bore until now, but Adam starts with empty averages. What happens?",
        answers=[
            (
                "Nothing: the network is no longer young, and only young networks need short steps.",
                "In the chapter its loss rose from 0.01 to more than that of a network that knows nothing.",
            ),
            ("The first step is too long.", "A fresh Adam moves each weight by the full rate, in any network."),
            (
                "The first steps are too short, because both averages start at 0.",
                "The division by the sum of the shares makes up for that.",
            ),
        ],
        correct=1,
    ),
    Question(
        "Twelve layers, post-norm: which runs did the warm-up save?",
        answers=[
            ("Those at middle rates.", "At the lowest rate all learned without it, at the highest none did with it."),
            ("Those at all four rates.", "At 0.0177 none of the six runs learned."),
            ("Those at the highest rate, where the danger is greatest.", "There nothing helped."),
        ],
        correct=0,
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
