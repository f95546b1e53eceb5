"""The quiz of chapter 3."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "The vector of padding is all zeros. Why can padding still turn the verdict of a GRU?",
        answers=[
            ("The zeros are changed in training.", "Ours stay zero, and the verdict turns all the same."),
            ("The zeros are added to the logit.", "Adding zeros would do no harm. It is not the number."),
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
        "Without a mask, and without added padding, a reader is right on 99.8 of 100 held-out reviews. In wider batches it "
        "will …",
        answers=[
            ("… stay near that, since it has learned to read.", "Reader 1 had just this share, and fell to a coin flip."),
            ("… perhaps fail: this share cannot tell.", "Five of eight held, and three did not, from the same left edge."),
            ("… fail for sure, as every reader without a mask.", "Five of the eight held their verdict through forty columns."),
        ],
        correct=1,
    ),
    Question(
        "A reader gives the logit −3.6 to every review in a wide batch. You test it on negative reviews only. Which share is "
        "right?",
        answers=[
            ("All of them, though it reads nothing.", "So a test needs both kinds of reviews."),
            ("One half, as a coin flip must give.", "One half is the share over both kinds together."),
            ("None, because it has forgotten them.", "It has forgotten them, and negative is still right for each."),
        ],
        correct=0,
    ),
    Question(
        "Batches are made of reviews of similar length in place of random ones; the classifier has its mask. What changes?",
        answers=[
            ("The logits: less padding moves them less.", "With the mask padding moves no logit at all."),
            ("The work, and no logit.", "Fewer squares are computed. What a review gets stays the same."),
            ("The ids: short reviews get small ones.", "An id belongs to a word. The length of a review plays no part."),
        ],
        correct=1,
    ),
]
