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
        "In the chapter a trained network went on at nearly the same rate, but Adam started anew. What did its loss do?",
        answers=[
            (
                "It leapt above 2.5 in one step and stayed there.",
                "The fresh network stayed near 2.5. The trained one came back.",
            ),
            (
                "It leapt above 2.5 in one step and came back.",
                "The fresh Adam does the harm; a trained network recovers from it.",
            ),
            (
                "It rose a little in each step and came back.",
                "One step was enough: it went from 0.01 to more than that of a network that knows nothing.",
            ),
        ],
        correct=1,
    ),
    Question(
        "Twelve layers, post-norm: what does the record show at 0.0177, the formula's own peak for 100 steps of warm-up?",
        answers=[
            ("With the climb no run learned either.", "The formula is no law. Here its peak needs a factor."),
            ("With the climb two runs of three learned.", "That was at half of it, 0.0088."),
            ("With the climb all three runs learned.", "That was at a quarter of it, 0.0044, and below."),
        ],
        correct=0,
    ),
    Question(
        "Five words, ε = 0.1: the smoothed loss of a model has come down to its lowest, 0.39. "
        "Which probability does the model give the right word?",
        answers=[
            ("0.68, because −log 0.68 is 0.39.", "That would be the plain loss. The smoothed one asks for all five shares."),
            ("0.90, because 0.10 is handed out.", "A fifth of the 0.10 is handed to the right word itself."),
            ("0.92, because 0.02 is given back.", "The loss is lowest where the probabilities are the target's shares."),
        ],
        correct=2,
    ),
]
