"""The quiz of chapter 1."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "The network that writes a word for each word gives *suis* and *ne* one half each after *I am*. What would help it?",
        answers=[
            (
                "To keep the state after *I*, besides the one after *am*.",
                "Both are the same in all eight sentences, so neither tells which word comes next.",
            ),
            ("To write one word later, with one place more.", "The next word is *a* or *not*, and that decides."),
            (
                "To read its own last word as well as the English.",
                "That word is *je* in all eight sentences, so it tells nothing new.",
            ),
        ],
        correct=1,
    ),
    Question(
        "The target is *je suis étudiant*. Halfway through training the decoder writes *je es*. "
        "What does it read at the place where it must write *étudiant*?",
        answers=[
            ("*suis*, the right word before it.", "Teacher forcing: what it wrote itself does not matter."),
            ("*es*, since it wrote that itself.", "That is test time. In training it is given the right word."),
            ("*étudiant*, the word it must write.", "Then it would only repeat. That is the forgotten shift."),
        ],
        correct=0,
    ),
    Question(
        "Your loss is very small, and your model writes *je je je je*. What has the decoder probably read in training?",
        answers=[
            (
                "Its own last word, right or wrong.",
                "Then it was trained as it writes, and a small loss would mean right words.",
            ),
            ("The target, without SOS in front.", "Each time the very word that it must write: it has learned to copy."),
            ("The target, without EOS at the end.", "That is as it should be: EOS is written, and never read."),
        ],
        correct=1,
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
                "One row of scores: those after *je*, read as a first word.",
                "The state remembers the words that it was given before.",
            ),
            (
                "Two rows of scores: those after SOS, and those after both.",
                "One row for each word of this call, and it had one.",
            ),
            (
                "One row of scores: those after SOS and *je*.",
                "The same that one call with both words gives in its last row.",
            ),
        ],
        correct=2,
    ),
]
