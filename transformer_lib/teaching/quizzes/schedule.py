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
            ("Both are a tenth of the rate long.", "A tenth of g enters m, but m is divided by the sum of its shares, 0.1."),
        ],
        correct=1,
    ),
    Question(
        "In the chapter a trained network went on at the rate it had just borne, but Adam started anew. What happened?",
        answers=[
            (
                "It answered one letter everywhere, and stayed there.",
                "That is what the fresh network did. The trained one came back.",
            ),
            (
                "Its loss leapt in one step, and came back later.",
                "The fresh Adam does the harm; a trained network recovers from it.",
            ),
            (
                "Nothing: only a young network needs short steps.",
                "Its loss rose from 0.01 to more than that of a network that knows nothing.",
            ),
        ],
        correct=1,
    ),
    Question(
        "Twelve layers, post-norm, the peaks 0.0018, 0.0044, 0.0088 and 0.0177: where did the warm-up save runs?",
        answers=[
            ("At 0.0044 and 0.0088.", "At the lowest rate all learned without it, at the highest none did with it."),
            ("At 0.0018 and 0.0044.", "At 0.0018 all three runs without a warm-up learned, too."),
            ("At 0.0088 and 0.0177.", "At 0.0177 none of the six runs learned."),
        ],
        correct=0,
    ),
    Question(
        "Five words, ε = 0.1: the smoothed loss of a model has come down to its lowest, 0.39. "
        "Which probability does the model give the right word?",
        answers=[
            ("0.68, because −log 0.68 is 0.39.", "That would be the plain loss. The smoothed one asks for all five shares."),
            ("0.90, because 0.10 is handed out.", "A fifth of the 0.10 is handed to the right word itself."),
            ("0.92, the same as in the target.", "The loss is lowest where the probabilities are the target's shares."),
        ],
        correct=2,
    ),
]
