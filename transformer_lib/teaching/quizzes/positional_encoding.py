"""The quiz of chapter 5."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "You shuffle the words of a sentence before attention without positions. What happens to its output?",
        answers=[
            ("The same rows, in the same order as before.", "The rows move along with their words."),
            ("The same rows come out, in the shuffled order.", "That is permutation equivariance."),
            ("Other rows, since each word has new neighbours.", "Each averages the same words with the same weights."),
        ],
        correct=1,
    ),
    Question(
        "Why can one matrix turn every row of the sinusoidal table into the row two positions on?",
        answers=[
            ("Neighbouring rows are nearly equal, in any case.", "The fast hand turns by two radians, a large change."),
            ("The turns depend on the shift, not the position.", "Each hand turns by its own angle, wherever it starts."),
            ("After full turns the hands repeat their old rows.", "Each comes back after another time: the row does not."),
        ],
        correct=1,
    ),
    Question(
        "Why is the sinusoidal table a buffer, and not a parameter of the layer?",
        answers=[
            ("It is not trained, but it is saved with the model.", "Ours is not saved: the formula can make it again."),
            ("All sentences share it, and no parameter is shared.", "A bias is shared as well: broadcasting serves both."),
            ("It is not trained, but it goes where the model goes.", "It moves to another device, and need not be saved."),
        ],
        correct=2,
    ),
    Question(
        "In the map of 50 positions and 128 dimensions, the columns on the right hardly change. What are they for?",
        answers=[
            ("For neighbours, where the fast hands are too alike.", "The other way round: slow hands hardly move there."),
            ("For longer texts, in which their slow hands do turn.", "The slowest turns once in 54,410 positions."),
            ("For the words, which need dimensions of their own.", "The word is added in all dimensions alike."),
        ],
        correct=1,
    ),
    Question(
        "A learned table has 64 rows, but training used only the positions 0 to 15. What does the word at position 20 get?",
        answers=[
            ("An error, since training ended with position 15.", "The table has a row 20. An error would come at position 64."),
            ("Row 20, which goes on where the trained rows end.", "Each row is trained by itself; only a formula goes on."),
            (
                "Row 20, with the numbers that the table began with.",
                "Untrained. On such rows, only 15 words of 100 were right in this chapter.",
            ),
        ],
        correct=2,
    ),
]
