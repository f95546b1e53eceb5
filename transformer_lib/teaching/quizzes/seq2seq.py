"""The quiz of chapter 1."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A sentence of 4 words and one of 40 go through an encoder with hidden size 64. What does the decoder get?",
        answers=[
            ("4 vectors of 64 numbers, and 40 of them.", "Those are the outputs, and `start` throws them away."),
            ("A state that is longer for the long one.", "Its size is fixed when the model is made."),
            ("One state of 64 numbers for each of them.", "However long the sentence: this is the bottleneck."),
        ],
        correct=2,
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
        "You measure 500 sentences with teacher forcing, and then written freely. What changes?",
        answers=[
            (
                "Fewer words are right, and as many whole sentences.",
                "Its first mistake is the same; only what follows it differs.",
            ),
            (
                "Fewer words are right, and fewer whole sentences too.",
                "A sentence without a mistake reads the same words both ways.",
            ),
            (
                "As many words are right, and fewer whole sentences.",
                "A wrong word that is read back pulls the next ones along.",
            ),
        ],
        correct=0,
    ),
    Question(
        "You call `decode` with SOS, and then once more with *je*, on the same state. What does the second call return?",
        answers=[
            ("The scores after *je* alone, as if it came first.", "The state remembers the words that it was given before."),
            ("The scores after SOS, and those after SOS and *je*.", "One row for each word of this call, and it had one."),
            (
                "The scores after SOS and *je*, one row of them.",
                "The same that one call with both words gives in its last row.",
            ),
        ],
        correct=2,
    ),
]
