"""The quiz of chapter 12."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "You send a batch through in four parts. By what do you divide each part's summed loss?",
        answers=[
            (
                "By the words of that part, then by four.",
                "Then a word in a part with few words counts for more than one in a part with many.",
            ),
            (
                "By the words of the whole batch.",
                "The four then add up to the batch's loss, and the gradients to its gradient.",
            ),
            ("By the places of the part, with padding.", "Then more padding makes the loss smaller, and the model no better."),
        ],
        correct=1,
    ),
    Question(
        "The training loss is 0.02 and the model, writing freely, gives nonsense. What do you look at first?",
        answers=[
            (
                "Whether the decoder's input is shifted.",
                "If it reads the word that it has to say, it only copies, and the loss is tiny.",
            ),
            (
                "Whether the learning rate is too high.",
                "The loss is 0.02: the weights have found what was asked for, whatever that was.",
            ),
            ("Whether the model has enough layers.", "It has learned its task almost perfectly; it was given the wrong one."),
        ],
        correct=0,
    ),
    Question(
        "Of three runs at one rate, the held-out loss of one does not jump. Which is it, by this chapter's record?",
        answers=[
            (
                "The one whose batches hold one length each.",
                "These jump: a few short batches in a row, and long sentences are forgotten.",
            ),
            (
                "The one whose batches hold neighbouring lengths.",
                "There are still batches of nothing but short sentences, and they jump no less.",
            ),
            ("The one whose batches hold sentences of all lengths.", "Its price is padding: more than a third of the places."),
        ],
        correct=2,
    ),
    Question(
        "You kept the model's weights and the optimizer's state, and resume. What is still not as it was?",
        answers=[
            (
                "The place in the data, the schedule and the random numbers.",
                "All three belong into the checkpoint, beside the two.",
            ),
            (
                "Adam's averages, which start again from nothing as before.",
                "They are the optimizer's state, and that was kept.",
            ),
            (
                "Nothing: weights and optimizer are all that a step changes.",
                "A step also takes a batch, a rate and a dropout mask; what says which?",
            ),
        ],
        correct=0,
    ),
    Question(
        "After 20 steps the plotted training loss is 2.4, the held-out loss 1.9. What makes up most of the difference?",
        answers=[
            (
                "The held-out sentences are fewer, and easier.",
                "They are drawn like the others, and a mean does not depend on how many they are.",
            ),
            (
                "Dropout and label smoothing, in training only.",
                "They make a part, but the smaller one: the chapter measured it.",
            ),
            (
                "The plotted value is a mean over all 20 steps.",
                "It holds the first steps too, when the model knew next to nothing.",
            ),
        ],
        correct=2,
    ),
]
