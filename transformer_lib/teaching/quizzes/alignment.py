"""The quiz of chapter 4."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "Somebody adds 7 to all scores of one decoder step. What happens to its weights?",
        answers=[
            ("Each of them grows by the same factor.", "The weights of a step always sum to 1."),
            ("The largest grows, the others shrink.", "All scores moved by the same amount."),
            ("Nothing: none of them changes at all.", "The softmax cancels it. So one linear neuron cannot use the state."),
        ],
        correct=2,
    ),
    Question(
        "The decoder's state has 512 numbers, the encoder's outputs have 1024. Which attention fits as it is?",
        answers=[
            (
                "The additive one, with one learned matrix for each side.",
                "Both sides are projected to one width, and added there.",
            ),
            (
                "The dot product, with the shorter vector padded.",
                "It needs two vectors of equal width, and zeros would hide half.",
            ),
            ("Neither of the two, before a layer is put between.", "One of the two has that layer inside."),
        ],
        correct=0,
    ),
    Question(
        "What does `weights[t, i]` tell?",
        answers=[
            ("How much encoder output t takes from decoder step i.", "The decoder asks, the encoder's outputs answer."),
            ("How much decoder step t takes from encoder output i.", "A row of the map is a step of the decoder."),
            (
                "How probable it is that step t writes source word i.",
                "The weights mix vectors. The words' scores come afterwards.",
            ),
        ],
        correct=1,
    ),
    Question(
        "A mask is forgotten, and padded places keep their scores. How do you find out?",
        answers=[
            ("The weights of a sentence no longer sum to 1.", "They do: the padding takes its share of them."),
            ("The softmax meets an infinity and returns NaN.", "Padded places have ordinary scores. It is wrong in silence."),
            ("More padding changes what the model writes.", "The padding takes a share of the weights, and of the context."),
        ],
        correct=2,
    ),
    Question(
        "In a map the largest weight stands one place beside the needed word, and the answer is right. How can that be?",
        answers=[
            ("The encoder's output there has read the needed word too.", "It is a summary of the words around it."),
            ("The weights hardly matter: the state knows it.", "Then the knee would be where chapter 1 found it."),
            ("The map is drawn from a second, different pass.", "The state holds the weights that `decode` has used."),
        ],
        correct=0,
    ),
]
