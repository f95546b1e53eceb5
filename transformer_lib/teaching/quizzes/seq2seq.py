"""The quiz of chapter 1."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "The sentence has forty words instead of four. What grows in that which the decoder gets from the encoder?",
        answers=[
            (
                "The list of states, which has one for each word.",
                "The encoder computes them all, but only the last one is kept.",
            ),
            ("Nothing: it is one state of the same size.", "That is the bottleneck."),
            ("The state, which needs more numbers for more words.", "Its size, `hidden_size`, is chosen before training."),
        ],
        correct=1,
    ),
    Question(
        "The target is *je suis étudiant*. Halfway through training the decoder writes *je es*. "
        "What does it read at the place where it must write *étudiant*?",
        answers=[
            ("*suis*, the right word before it.", "Teacher forcing: what it wrote itself does not matter."),
            ("*es*, since it wrote that itself.", "That is test time. In training it is given the right word."),
            ("*étudiant*, the word it must write.", "Then it would only copy. The input is shifted by one place."),
        ],
        correct=0,
    ),
    Question(
        "A model spells 500 sentences twice: given the right letters, and reading its own. What is the same both times?",
        answers=[
            ("The share of right letters.", "At the eighth letter it was three quarters one way, less than half the other."),
            ("The number of mistakes in a sentence.", "*beachhead* had one mistake one way, six the other."),
            ("The share of sentences without a mistake.", "Up to the first mistake both ways have read the same."),
        ],
        correct=2,
    ),
    Question(
        "A state of 32 numbers gets half of the sentences right at 6.6 letters. Which measurement says that it was not full?",
        answers=[
            (
                "With 32 numbers or with 128, hardly any sentence of 14 letters comes out right.",
                "That there is a limit does not say what it is made of.",
            ),
            (
                "With 128 numbers and the same training, half are right at 9.9 letters.",
                "That would be so, too, if the 32 numbers had been full.",
            ),
            (
                "With 32 numbers and longer training, half are right at 9.2 letters.",
                "The same 32 numbers then hold more than before.",
            ),
        ],
        correct=2,
    ),
    Question(
        "You call `decode` with SOS and then, on the same `RecurrentState`, with *je*. What does the second call return?",
        answers=[
            (
                "One row of scores: those after SOS and *je*.",
                "The same that one call with both words gives in its last row.",
            ),
            (
                "Two rows of scores: those after SOS, and those after both.",
                "One row for each word of this call, and it had one.",
            ),
            (
                "One row of scores: those after *je*, read as a first word.",
                "The state remembers the words that it was given before.",
            ),
        ],
        correct=0,
    ),
]
