"""The quiz of chapter 9."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "What is the same in the cross-attentions of decoder layers 1 and 2?",
        answers=[
            (
                "The keys and values: they are computed once and given to both.",
                "Each layer has matrices of its own, and makes its own keys and values.",
            ),
            (
                "The queries: the first layer makes them and hands them on.",
                "Each layer asks anew, from what its own self-attention has found.",
            ),
            (
                "The memory: from it each layer makes its own keys and values.",
                "The forward pass showed it: both were given the very same tensor.",
            ),
        ],
        correct=2,
    ),
    Question(
        "In the map of cross-attention the row that has read *pas* is brightest at *student*. What does the row show?",
        answers=[
            (
                "Where the model looks to write *étudiant*, the next word.",
                "A row belongs to the word that was read; its query prepares the word after it.",
            ),
            (
                "That the model takes *pas* for the translation of *student*.",
                "*pas* was chosen one row above, where the model looks at *not*.",
            ),
            (
                "That the axes of the target and the source are exchanged.",
                "The map is 6 by 5, as target and source are: the axes are right.",
            ),
        ],
        correct=0,
    ),
    Question(
        "16 sources have only 4 different translations, each of them four times. How low can the mean loss of a decoder "
        "without cross-attention go, in nats per sentence?",
        answers=[
            ("To log 16 = 2.77, for 16 sources.", "It does not see the sources: only the different answers count."),
            ("To log 4 = 1.39, for 4 answers.", "It deals out a quarter to each of the four, and no size does better."),
            ("To 0, if it is large enough.", "It gives each source the same probabilities, whatever its size."),
        ],
        correct=1,
    ),
    Question(
        "The decoder with cross-attention has more parameters than the one without. Why can that not be what helped?",
        answers=[
            (
                "A larger blind decoder still answers each source alike.",
                "Whatever deals out the same probabilities for each source has log 16 as its floor.",
            ),
            (
                "The blind decoder has parameters enough for 16 sentences.",
                "It writes French without a mistake; but that alone sets no floor for a larger one.",
            ),
            (
                "Both were trained on the same pairs, for as many steps.",
                "So they were. That makes the training equal, not the size.",
            ),
        ],
        correct=0,
    ),
    Question(
        "You shuffle the rows of the memory, and no output of the decoder changes. How does the decoder know the order of the "
        "source words at all?",
        answers=[
            (
                "Its cross-attention adds the positions to the keys.",
                "Then a shuffle would change the outputs. Positions are added at the entrance only.",
            ),
            (
                "Its causal mask lets the source words in one by one.",
                "That mask is about target words; the whole memory is seen from the first word on.",
            ),
            (
                "The encoder wrote it into the vectors of the memory.",
                "It had the positions of chapter 5; a row carries its place wherever it stands.",
            ),
        ],
        correct=2,
    ),
]
