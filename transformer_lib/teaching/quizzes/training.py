"""The quiz of chapter 12."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A batch goes through the model in two parts. The first has 12 tokens in 12 places, and its losses add up to 6. The "
        "second has 2 tokens in 8 places, and its losses add up to 2. What does `training_step` report?",
        answers=[
            ("0.75, from 6 / 12 and 2 / 2.", "This is the mean of means. A token of the second part counts for six."),
            ("0.57, from 6 / 14 and 2 / 14.", "Both parts are divided by the tokens of the whole batch, and then added."),
            ("0.40, from 8 / 20.", "These are the places. More padding would make the number smaller."),
        ],
        correct=1,
    ),
    Question(
        "A model is trained with label smoothing of 0.1 on a vocabulary of 37,000 words, and its training loss stops at 1.39. "
        "What follows?",
        answers=[
            ("It is stuck, as if four words were equally likely.", "Without smoothing it would be. A perfect model has 1.38."),
            ("It is nearly perfect on its training data.", "No model gets below the entropy of the smoothed target, 1.38."),
            ("Padding is counted, which makes every loss larger.", "Padding is soon learned, and makes the loss smaller."),
        ],
        correct=1,
    ),
    Question(
        "A new loop has learned eight pairs by heart, loss 0.002. "
        "When the model writes freely, none of the sentences comes back. What do you look at first?",
        answers=[
            ("The shift between `target_in` and `target_out`.", "Without it each place reads the word to say, and copies it."),
            ("The number of pairs: too few to learn to write.", "With the shift, a few pairs are learned, and come back."),
            ("The padding, which is counted in the loss.", "The first loop counted it, and wrote both sentences all the same."),
        ],
        correct=0,
    ),
    Question(
        "Targets of the lengths 2, 2, 5, 6 and 7 are sorted; a batch may have 20 places. How many come into the first batch?",
        answers=[
            ("Four: the tokens of four fit, and those of five do not.", "The budget counts places: 4 · 6 = 24."),
            ("Two: three as wide as the longest of all do not fit.", "Only the longest of the same batch counts."),
            ("Three: four as wide as the longest of the four do not fit.", "3 · 5 = 15 places fit, and 4 · 6 = 24 do not."),
        ],
        correct=2,
    ),
    Question(
        "A run is interrupted in the middle of step 27. Its last checkpoint is of step 20. It is resumed. How does it end?",
        answers=[
            ("With the same bits as if never interrupted.", "Steps 21 to 27 are done again, with the same dropout."),
            ("Close to it: half of step 27 is in the weights.", "The weights move at the end of a step."),
            ("Elsewhere: the dropout of steps 21 to 26 is drawn.", "The state of the random numbers is in the checkpoint."),
        ],
        correct=0,
    ),
]
