"""The quiz of chapter 10."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A Transformer trained without positions is asked to copy 7 8 9. What does it most likely write?",
        answers=[
            (
                "Three symbols that have nothing to do with the source.",
                "It still asks the memory, where the symbols stand.",
            ),
            (
                "7, 8 and 9, in any order.",
                "The memory says which symbols there are, and nothing says where they stood.",
            ),
            (
                "Nothing: the shapes no longer fit, so it cannot run.",
                "Positions are added; without them the shapes are the same.",
            ),
        ],
        correct=1,
    ),
    Question(
        "With one shared matrix, why is the row multiplied by √d_model at the entrance and not at the exit?",
        answers=[
            (
                "At the entrance it must be heard beside the positions; at the exit it must not be too sure.",
                "Rows start small for the exit, and the factor makes them as large as what is added next.",
            ),
            (
                "At the entrance the gradient is smaller, because it has to come through all of the layers.",
                "The reason lies in what is added next: the positions, whose numbers have the size 0.7.",
            ),
            (
                "At the exit the softmax makes all sizes equal, so that a factor would change nothing there.",
                "It would: logits twice as large gave 98 % in place of 84 %.",
            ),
        ],
        correct=0,
    ),
    Question(
        "You double `num_heads` and leave the rest. What happens to the number of parameters?",
        answers=[
            ("It grows: all the attentions are doubled.", "The heads share matrices of one width, `d_model`."),
            ("Each head brings an output projection of its own.", "One output projection joins all heads, however many."),
            ("It stays: the heads become half as wide.", "The same matrices are cut into more and narrower heads."),
        ],
        correct=2,
    ),
    Question(
        "A model writes ten words and the end sign. How often do its two halves, `start` and `decode`, run?",
        answers=[
            ("One time each, for the whole sentence.", "Each word that is written must be read before the next one is chosen."),
            ("One time and eleven times.", "The source stays the same, and is read once; the end sign, too, has to be chosen."),
            ("Eleven times each.", "The source does not change while the model writes."),
        ],
        correct=1,
    ),
]
