"""The quiz of chapter 1."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "The sentence has forty words instead of four. What grows in that which the decoder gets from the encoder?",
        answers=[
            ("The list of states, which has one for each word.", "The encoder has them all, but only the last one is kept."),
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
            ("Hardly any sentence of 14 letters comes out right.", "That there is a limit does not say what it is made of."),
            ("With 128 numbers half are right at 9.9 letters.", "That would be so, too, if the 32 had been full."),
            ("Trained longer, 32 numbers reach 9.2 letters.", "The same 32 numbers then hold more than before."),
        ],
        correct=2,
    ),
]
