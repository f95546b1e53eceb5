"""The quiz of chapter 9."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "Where do the keys of the *second* decoder layer's cross-attention come from?",
        answers=[
            ("From the encoder's second layer.", "Only if that is its last one: no other layer is read."),
            ("From the first decoder layer.", "From there come its queries, by way of its self-attention."),
            ("From the encoder's last layer.", "Each decoder layer is given the same memory."),
        ],
        correct=2,
    ),
    Question(
        "The source has 7 words and the target 4. What is the shape of one head's cross-attention weights?",
        answers=[
            ("(7, 4)", "The axes are swapped: rows are the ones who ask."),
            ("(4, 7)", "Four queries, seven keys, and each row sums to 1."),
            ("(4, 4)", "That is the shape of the self-attention's weights."),
        ],
        correct=1,
    ),
    Question(
        "Why does cross-attention take no look-ahead mask?",
        answers=[
            (
                "The memory holds no word of the target.",
                "The whole source is known before the first word is written: nothing in it lies in the future.",
            ),
            (
                "The self-attention before it has hidden the future words of the source.",
                "The self-attention before it sees target words only.",
            ),
            (
                "The encoder has already used the look-ahead mask on the memory.",
                "The encoder looks in both directions: it has no such mask.",
            ),
        ],
        correct=0,
    ),
    Question(
        "A model writes perfect French, and its loss stops at the logarithm of the number of possible sentences. "
        "What do you suspect?",
        answers=[
            ("It needs more layers, or a longer training.", "That floor holds for any size and any budget."),
            (
                "The source does not reach the decoder.",
                "It has learned the language, and nothing about this sentence.",
            ),
            ("The look-ahead mask is missing in the decoder.", "Then it reads the answers, and the loss is too *low*."),
        ],
        correct=1,
    ),
    Question(
        "You shuffle the rows of the memory. What changes in the decoder's output?",
        answers=[
            ("Nothing.", "Cross-attention is a sum over the source words, and a sum has no order."),
            ("Its rows move along.", "They would in self-attention; here the queries have not moved."),
            ("Every number.", "The same weights meet the same values."),
        ],
        correct=0,
    ),
]
