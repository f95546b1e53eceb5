"""The quiz of chapter 1."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A sentence of 4 words and one of 40 go through an encoder with hidden 64. "
        "What does the decoder get?",
        answers=[
            ("4 vectors and 40 vectors.", "That would be attention, chapter 4."),
            (
                "One state of 64 numbers, for both.",
                "However long the sentence: this is the bottleneck.",
            ),
            (
                "A state that is ten times as long.",
                "`hidden` is fixed when the model is made.",
            ),
        ],
        correct=1,
    ),
    Question(
        "The target is *je suis étudiant*. What does the decoder read in training "
        "at the place where it must write *étudiant*?",
        answers=[
            ("*étudiant*", "Then it would only repeat. That is the forgotten shift."),
            ("*suis*", "The right word before it, whatever it has written itself."),
            (
                "The word that it has just written.",
                "That is test time. In training it is given the right word.",
            ),
        ],
        correct=1,
    ),
    Question(
        "Your loss is lower than your friend's, on the same data and the same model, "
        "but your translations are worse. What do you look at first?",
        answers=[
            (
                "Whether one of you counts padding in the loss.",
                "Easy padding pulls the mean down and teaches nothing.",
            ),
            (
                "The learning rate.",
                "It would not make the loss lower and the words worse.",
            ),
            ("The number of layers.", "The model is the same."),
        ],
        correct=0,
    ),
    Question(
        "EOS is left out of the targets. What does the trained model do?",
        answers=[
            ("It writes nothing.", "It has learned all the words, so it writes them."),
            (
                "It writes the right words and then goes on.",
                "Nothing has ever taught it to stop.",
            ),
            (
                "Its loss stays high.",
                "The loss was as small as that of the right model.",
            ),
        ],
        correct=1,
    ),
]
