"""The quiz of chapter 3."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "The vector of padding is all zeros. Why can padding turn the verdict of a GRU?",
        answers=[
            ("In training its vector moves away from zero.", "Ours stays zero, and the verdict turns all the same."),
            ("The linear layer scores the padding as well.", "The linear layer sees the last state alone."),
            ("Its step changes the state all the same.", "On padding, as on a word, each step makes a new state."),
        ],
        correct=2,
    ),
    Question(
        "A vocabulary knows 4 words and has 2 OOV buckets. Which ids can an unknown word get?",
        answers=[
            ("0 or 1: they are kept for no word", "0 is padding, and 1 is the most frequent word."),
            ("4 or 5: the first two after the words", "The words have the ids 1 to 4, because 0 is padding."),
            ("5 or 6: the last two of seven ids", "Padding, four words, two buckets. CRC-32 says which of the two."),
        ],
        correct=2,
    ),
    Question(
        "Eight readers without a mask were right on at least 99 of 100 reviews. What became of them with forty columns of "
        "padding?",
        answers=[
            ("All eight ended near 50 of 100.", "The small reader would. Of these, five nearly held."),
            ("Two ended at 50, and one at 88.", "The other five nearly held. In narrow batches nothing had told which."),
            ("One ended at 88, and seven held.", "Readers 1 and 2 ended at a coin flip."),
        ],
        correct=1,
    ),
    Question(
        "Which part of `SentimentClassifier` keeps the GRU from stepping on padding?",
        answers=[
            ("`lengths`: a row ends at its last word", "They are the sums of the mask, and packing obeys them."),
            ("`clamp(min=1)`: no length is below one", "On the contrary: a review without words takes one step on padding."),
            ("`padding_idx`: its vector stays at zero", "A step on zeros is still a step."),
        ],
        correct=0,
    ),
    Question(
        "A trained classifier with its mask reads the test in batches of similar length, in place of random ones. What "
        "changes?",
        answers=[
            ("The logits of the short reviews alone", "With the mask padding moves no logit at all."),
            ("The size of the rectangles, and no logit", "Fewer squares are stored. What a review gets stays."),
            ("Each logit, since its neighbours are others", "Each row is read alone: no neighbour enters a logit."),
        ],
        correct=1,
    ),
]
