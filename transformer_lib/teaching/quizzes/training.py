"""The quiz of chapter 12."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "You send a batch through in four parts. By what do you divide each part's summed loss?",
        answers=[
            (
                "By the words of that part, and later by four.",
                "Then a word in a part with few words counts for more than one in a part with many.",
            ),
            (
                "By the words of all the four parts together.",
                "The four then add up to the batch's loss, and the gradients to its gradient.",
            ),
            (
                "By the places of that part, padding included.",
                "Then more padding makes the loss smaller, and the model no better.",
            ),
        ],
        correct=1,
    ),
    Question(
        "A loop uses `ignore_index=0` and sends each batch through in one piece. Then the memory gets short: it sends the "
        "batch in eight parts, and takes the mean of their eight means. What happens to the gradient?",
        answers=[
            (
                "Nothing, since padding is still left out of each mean.",
                "Padding is out, but a word in a part with few words now weighs more than another.",
            ),
            (
                "It is now wrong, although no padding is counted.",
                "It is off by 25 to 52 % in the chapter's three seeds: this is the mean of means.",
            ),
            (
                "It is better, since each part holds less padding.",
                "Less padding helps the loop that counts places. This one never counted it.",
            ),
        ],
        correct=1,
    ),
    Question(
        "One batch is learned by heart, and the loss is 0.002. Freely written, none of its sentences comes back. "
        "What do you look at first?",
        answers=[
            (
                "The shift between `target_in` and `target_out`.",
                "Without it each place reads the word that it has to say, and copies it.",
            ),
            (
                "The number of steps: it has not learned enough.",
                "A loss of 0.002 per word cannot become much smaller. What it has learned is to copy.",
            ),
            (
                "The padding, which has been counted in the loss.",
                "That makes a loop waste steps, but learning by heart succeeds all the same.",
            ),
        ],
        correct=0,
    ),
    Question(
        "Sentences are sorted by length, and the budget of a batch becomes twice as large. What does the share of padding do?",
        answers=[
            (
                "It halves, because there are half as many batches.",
                "Fewer batches are fewer rectangles, but each is wider than more of its sentences.",
            ),
            (
                "It stays, because the sentences are still sorted.",
                "Sorted, yes. But a larger batch reaches from shorter sentences to longer ones.",
            ),
            (
                "It grows, because more lengths share a rectangle.",
                "With 48 sentences you could see it under the slider; with 2,000 it hardly matters.",
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
                "Close to it: the half of step 27 is in the weights already.",
                "The weights move at the end of a step, and the checkpoint is older anyway.",
            ),
            (
                "Elsewhere: the dropout of steps 21 to 26 was drawn already.",
                "The state of the random numbers comes out of the checkpoint too.",
            ),
        ],
        correct=0,
    ),
]
