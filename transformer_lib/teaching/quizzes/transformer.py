"""The quiz of chapter 10."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A Transformer trained without positions copies each single symbol well. What does it write for `7 7`?",
        answers=[
            (
                "7 7: with equal symbols no order can be wrong.",
                "The order is no problem here, but how many there are: equal rows have that row as their average.",
            ),
            (
                "7: both sources look the same to attention.",
                "An average of equal rows is that row. Here a model without positions is worse than a guess.",
            ),
            (
                "One of the ten symbols, as if it had guessed.",
                "So does the model without cross-attention. This one sees which symbols the source has.",
            ),
        ],
        correct=1,
    ),
    Question(
        "In the base model a row of the shared matrix starts with numbers of size 0.044. What is used at the two doors?",
        answers=[
            (
                "At the entrance size 1, at the exit size 0.044.",
                "The factor √d_model makes it heard beside the positions; at the exit small rows keep it from being too sure.",
            ),
            (
                "At the entrance size 0.044, at the exit size 1.",
                "Beside the positions, of size 0.7, that would be a whisper; and at the exit the logits would be too large.",
            ),
            (
                "At both size 1: one matrix has only one size.",
                "The matrix is one, but at one of the doors its row is multiplied by √d_model.",
            ),
        ],
        correct=0,
    ),
    Question(
        "Which of these pieces could be taken out, and the small model copied as well as before, from all three starts?",
        answers=[
            ("The plus.", "Without it the share depended on the start: 91 %, 54 %, 10 %."),
            ("The positions.", "Without them five symbols came out right in one sentence of a hundred."),
            ("The encoder's attention.", "To copy a symbol, nothing has to be known about its neighbours."),
        ],
        correct=2,
    ),
    Question(
        "A model writes ten words and the end sign. How often do `start` and `decode` run?",
        answers=[
            ("One time, and ten times.", "The end sign, too, has to be chosen: eleven times."),
            (
                "One time, and eleven times.",
                "The source stays the same, and is read once; the end sign, too, has to be chosen.",
            ),
            ("Eleven times both of them.", "The source does not change while the model writes."),
        ],
        correct=1,
    ),
]
