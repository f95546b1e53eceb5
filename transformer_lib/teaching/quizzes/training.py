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
                "By the words of all the four parts together.",
                "The four then add up to the batch's loss, and the gradients to its gradient.",
            ),
            ("By the places of the part, with padding.", "Then more padding makes the loss smaller, and the model no better."),
        ],
        correct=1,
    ),
    Question(
        "24 sorted pairs are cut into 8 parts, and the loop takes the mean of the parts' mean losses. Now `ignore_index` "
        "leaves the padding out. How far is the gradient from that of the uncut batch?",
        answers=[
            (
                "Still by a quarter or more of its norm.",
                "25 to 52 %, by seed: the words of a part with few words still weigh too much.",
            ),
            (
                "Not at all: padding was the only mistake.",
                "There was a second one, the mean of means; it is still there.",
            ),
            (
                "As far as before: padding has no gradient.",
                "It has one, for id 0 as the right word: with padding it was off by 85 to 111 %.",
            ),
        ],
        correct=0,
    ),
    Question(
        "The held-out loss jumps, and each batch holds sentences of one length. Two remedies: half the learning rate, or "
        "batches that mix neighbouring lengths. What does the record say?",
        answers=[
            (
                "Half the rate makes the jumps smaller, mixing does not.",
                "The largest rises were 0.13 to 0.43, and with half the rate 0.08 to 0.45.",
            ),
            (
                "Mixing makes the jumps smaller, half the rate does not.",
                "With neighbouring lengths the largest rises were 0.19 to 0.83.",
            ),
            (
                "Neither does: the jumps stay about as large.",
                "Only batches of all lengths did, and a third of their places is padding.",
            ),
        ],
        correct=2,
    ),
    Question(
        "A run is interrupted in the middle of step 27. Its last checkpoint is of step 20. It is resumed. How does it end?",
        answers=[
            (
                "With the same bits as a run that was never interrupted.",
                "Steps 21 to 27 are done again from the same state, random numbers included.",
            ),
            (
                "Close to it: half of step 27 is in the weights already.",
                "The weights move at the end of a step, and the checkpoint is older anyway.",
            ),
            (
                "Elsewhere: dropout for steps 21 to 26 was drawn already.",
                "The state of the random numbers comes out of the checkpoint too.",
            ),
        ],
        correct=0,
    ),
    Question(
        "After 20 steps the plotted training loss is 2.4, the held-out loss 1.9. What makes up most of the difference?",
        answers=[
            (
                "The held-out sentences are fewer, and easier.",
                "They are longer: none has only one or two symbols. And a mean does not depend on their number.",
            ),
            (
                "Dropout and label smoothing, in training only.",
                "At step 20 they make the smaller part; at step 160 the larger one.",
            ),
            (
                "The plotted value is a mean over all 20 steps.",
                "It holds the first steps too, when the model knew next to nothing.",
            ),
        ],
        correct=2,
    ),
]
