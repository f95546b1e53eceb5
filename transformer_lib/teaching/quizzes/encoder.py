"""The quiz of chapter 7."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A batch holds 2 sentences of 3 tokens with 8 numbers each. How many means does one layer normalisation compute?",
        answers=[
            ("6, one for each token", "Each is a mean of 8 numbers."),
            ("2, one for each sentence", "The tokens of a sentence are kept apart."),
            ("8, one for each dimension", "That is what batch normalisation does."),
        ],
        correct=0,
    ),
    Question(
        "Where in an encoder layer can one token influence another?",
        answers=[
            (
                "In attention and in the feed-forward network",
                "The feed-forward network works on each token alone.",
            ),
            (
                "In attention and in the normalisation of the sum",
                "Each token is normalised with its own mean and variance.",
            ),
            ("In attention and nowhere else in the layer", "All other parts treat each token by itself."),
        ],
        correct=2,
    ),
    Question(
        "A box gives 0 for every number of every token. What comes out of its frame, add & norm, before any training?",
        answers=[
            (
                "Zeros: add & norm passes on what the box gives",
                "What the box gives is added to the token; the token is still there.",
            ),
            (
                "The token, brought to mean 0 and variance 1",
                "The way around carries it past the box, and the norm sets its size.",
            ),
            ("An error, since a token of zeros cannot be normalised", "No token of zeros arises: the plus puts the token in."),
        ],
        correct=1,
    ),
    Question(
        "A layer adds the same average to each of three tokens. What happens to the difference between two of them?",
        answers=[
            ("It is the same as before, number by number", "Both got the same on top, and the same cancels."),
            (
                "It becomes smaller, for both are mixed with the other",
                "That is so where the average *replaces* them: then it is 0.",
            ),
            (
                "It grows, because all the numbers of both tokens grow",
                "The tokens grow, and what they grow by is the same for both.",
            ),
        ],
        correct=0,
    ),
    Question(
        "Attention alone makes ten untrained tokens alike. Why is it so much faster in the second layer than in the first?",
        answers=[
            (
                "The second layer has smaller weights, so that its scores are nearer to 0",
                "Its weights are drawn in the same way as the first layer's.",
            ),
            (
                "Its softmax has become sharp, and all tokens pick the same one",
                "The other way round: the largest weight is 0.1005, nearly an even share.",
            ),
            (
                "The tokens are nearly alike already, so their scores are too",
                "And nearly equal scores make nearly even weights.",
            ),
        ],
        correct=2,
    ),
]
