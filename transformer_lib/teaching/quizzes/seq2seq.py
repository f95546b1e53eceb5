"""The quiz of chapter 1."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "The network that writes a word for each word gives *suis* and *ne* one half each after *I am*. What would help it?",
        answers=[
            (
                "A much larger state, and four times the training.",
                "All eight sentences are the same two words so far: no state can tell them apart.",
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
        "Your loss is very small, and your model writes *je je je je*. Which line of your program do you look at first?",
        answers=[
            (
                "The one that leaves the padding out of the loss.",
                "Counted padding slows the learning, and more steps make up for it.",
            ),
            ("The one that puts SOS in front of `target_in`.", "Without the shift it learns to repeat what it reads."),
            ("The one that puts EOS behind `target_out`.", "Without EOS the words are right, and then it goes on."),
        ],
        correct=1,
    ),
    Question(
        "32 numbers of 32 bits have room for 1,024 bits, and a sentence of 14 letters needs 46.5. "
        "Which measurement says that room is not what runs out?",
        answers=[
            (
                "With 128 numbers and the same training, longer sentences come out right.",
                "That would be so, too, if room were what runs out.",
            ),
            (
                "With 32 numbers and four times the training, longer ones come out right.",
                "The same 32 numbers then hold more than before.",
            ),
            (
                "With any of the four sizes, hardly any sentence of 16 letters is right.",
                "That there is a limit does not say what it is made of.",
            ),
        ],
        correct=1,
    ),
    Question(
        "You call `decode` with SOS, and then once more with *je*, on the same state. What does the second call return?",
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
