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
        "A map puts all the weight of a step on the row of *owl*. What has this row read?",
        answers=[
            (
                "The word *owl* alone, and no other.",
                "An encoder's output is its state, and that has read the words before too.",
            ),
            ("All words up to *owl*, itself included.", "A row is a summary of what was read up to there."),
            ("The whole sentence, to its last word.", "That is so for the last row only: this encoder reads once, forwards."),
        ],
        correct=1,
    ),
]
