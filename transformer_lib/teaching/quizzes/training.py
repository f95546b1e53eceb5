"""The quiz of chapter 12."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "You send a batch through in four parts. By what do you divide each part's "
        "summed loss?",
        answers=[
            ("By the part's own words.", "Then four means are added."),
            ("By 4.", "That is right only if all parts have one word each."),
            ("By the words of the whole batch.", "The four then add up to its loss."),
        ],
        correct=2,
    ),
    Question(
        "The training loss is 0.02 and the model, writing freely, gives nonsense. "
        "What do you look at first?",
        answers=[
            ("The shift.", "If it reads the word that it has to say, it only copies."),
            ("The learning rate.", "It has trained well: too well, for this output."),
            ("The number of layers.", "More of them do not repair a leak."),
        ],
        correct=0,
    ),
    Question(
        "Sentences longer than 50 tokens are cut off, and the model never stops "
        "writing after long inputs. Why?",
        answers=[
            ("Its positions end at 50.", "The table has 5,000 places."),
            (
                "The cut took their EOS away.",
                "No long sentence has one. Leave such sentences out, or keep them.",
            ),
            ("It needs beam search.", "No search can find what is not there."),
        ],
        correct=1,
    ),
    Question(
        "You kept the model's weights and the optimizer's state, and resume. What is "
        "still not the same?",
        answers=[
            ("Nothing.", "What says which sentence comes next, and what is dropped?"),
            (
                "The place in the data, the schedule, the random numbers.",
                "All three belong into the checkpoint.",
            ),
            ("The loss function.", "It has no state."),
        ],
        correct=1,
    ),
    Question(
        "The held-out loss is lower than the training loss. Is that a mistake?",
        answers=[
            ("Yes, the sets were swapped.", "Possible, but there is a plainer reason."),
            (
                "No: only training has dropout and label smoothing.",
                "Smoothing alone puts a floor under the training loss.",
            ),
            ("No: the held-out set is smaller.", "A mean does not depend on that."),
        ],
        correct=1,
    ),
]
