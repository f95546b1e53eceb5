"""The quiz of chapter 3."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "The vector of padding is all zeros. Why can padding still turn the verdict of a GRU?",
        answers=[
            ("Training changes the zeros as well.", "Ours stay zero, and the verdict turns all the same."),
            ("The logit counts them as negative.", "The logit comes from the last state, not from the zeros."),
            ("Each step of the GRU changes its state.", "Also a step on zeros. So at padding no step must be taken."),
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
        "Without a mask, and without added padding, a reader is right on more than 99 of 100 held-out reviews. In wider "
        "batches it will …",
        answers=[
            ("… stay near that, if it really reads the words.", "Reader 1 had such a share, and fell to a coin flip."),
            ("… hold or fail, which this share cannot tell.", "Five of eight held and three did not, from one left edge."),
            ("… fail for sure, as every reader without a mask.", "Five of the eight held their verdict through forty columns."),
        ],
        correct=1,
    ),
    Question(
        "A reader gives the logit −3.6 to every review in a wide batch. You test it on negative reviews only. Which share is "
        "right?",
        answers=[
            ("All of them, each for the same reason.", "It says negative to all. A test needs both kinds of reviews."),
            ("One half, since it can only guess now.", "One half is the share over both kinds together."),
            ("None, because it has forgotten each.", "It has forgotten them, and negative is still right for each."),
        ],
        correct=0,
    ),
    Question(
        "Batches are made of reviews of similar length in place of random ones; the classifier has its mask. What changes?",
        answers=[
            ("The logits: less padding moves them less.", "With the mask padding moves no logit at all."),
            ("The amount of work, and none of the logits.", "Fewer squares are computed. What a review gets stays."),
            ("The gradients: less padding enters them.", "With the mask no gradient depends on padding."),
        ],
        correct=1,
    ),
]
