"""The quiz of chapter 9."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "Where do the keys of the *second* decoder layer's cross-attention come from?",
        answers=[
            ("From the second encoder layer of six.", "Only the last layer is read."),
            (
                "From the encoder's last layer.",
                "Each decoder layer is given the same memory.",
            ),
            (
                "From the first decoder layer.",
                "From there come its queries.",
            ),
        ],
        correct=1,
    ),
    Question(
        "The source has 7 words and the target 4. What is the shape of one head's "
        "cross-attention weights?",
        answers=[
            ("(7, 4)", "The axes are swapped: rows are the ones who ask."),
            ("(4, 4)", "That is the shape of the self-attention's weights."),
            ("(4, 7)", "Four queries, seven keys, and each row sums to 1."),
        ],
        correct=2,
    ),
    Question(
        "Why does cross-attention take no look-ahead mask?",
        answers=[
            (
                "The source is known in full before writing starts.",
                "No word of the memory lies in the future.",
            ),
            (
                "The softmax already hides the future.",
                "The softmax hides nothing.",
            ),
            (
                "It takes one, but only in training.",
                "It takes none in either mode.",
            ),
        ],
        correct=0,
    ),
    Question(
        "A model writes perfect French, and its loss stops at the logarithm of the "
        "number of possible sentences. What do you suspect?",
        answers=[
            ("It needs more layers.", "The bound holds for any size."),
            (
                "The source does not reach the decoder.",
                "It has learned the language, and nothing about this sentence.",
            ),
            ("The look-ahead mask is missing.", "Then the loss would be too low."),
        ],
        correct=1,
    ),
    Question(
        "You shuffle the rows of the memory. What changes in the decoder's output?",
        answers=[
            ("Nothing.", "Cross-attention is a sum over the source words."),
            (
                "The rows of the output move along.",
                "They would in self-attention; here the queries have not moved.",
            ),
            ("Everything.", "The same weights meet the same values."),
        ],
        correct=0,
    ),
]
