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
        "A weight's first gradient is 0.000003, another's is 3. How long are Adam's first moves of the two?",
        answers=[
            ("Each has its gradient's length.", "So it would be in plain gradient descent."),
            ("Each is about one rate long.", "g / |g| has no size: even a small gradient moves a weight by the full rate."),
            ("Each is a tenth of a rate long.", "A tenth of g enters m, but m is divided by the sum of its shares, 0.1."),
        ],
        correct=1,
    ),
    Question(
        "A trained network, its loss at 0.05, goes on with an Adam that starts anew. What did the chapter see in 20 steps?",
        answers=[
            ("A loss near 0.05: what is learned stays.", "It rose in a single step, above that of a guess."),
            ("A loss near 2.5 until the end.", "So it was with the fresh network. The trained one came back."),
            ("A loss above 2.5, and then a low one.", "The fresh Adam does the harm; a trained network recovers from it."),
        ],
        correct=2,
    ),
    Question(
        "AdamW subtracts the decay beside the move of Adam, not in the gradient. What difference does it make?",
        answers=[
            ("None: the sum of both is the same.", "In the gradient, the decay is divided by the gradient's size, too."),
            ("A weight with large gradients decays as fast as others.", "Nothing divides what stands beside the move."),
            ("A weight with large gradients decays more slowly.", "So it is with the decay in the gradient: Adam divides it."),
        ],
        correct=1,
    ),
]
