"""The quiz of chapter 3."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A bag of words is trained on twins: the same words, opposite labels. Where must its mean loss stop?",
        answers=[
            ("At 0, when it is trained long enough.", "Both twins get one probability, and it cannot fit both labels."),
            ("At 0.693, however long it is trained.", "That is log 2: one answer for both, and p = ½ is the best one."),
            ("At 0.5, since one of each two is right.", "Half are right, but the loss is a mean of −log p, not a share."),
        ],
        correct=1,
    ),
    Question(
        "S2's pattern has its caret in the wrong place. Which two words did that put into the vocabulary?",
        answers=[
            ("*obody*, and *boring,* with its comma.", "It takes the first letter of the text, and leaves the rest."),
            ("*nobody* and *Nobody*, small and large.", "Both come with the right caret too: it changes no case."),
            ("single letters, such as *n* and also *b*.", "Only the first character of the whole text is touched."),
        ],
        correct=0,
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
        "Eight classifiers were trained without a mask, on bucketed batches. At test time 40 columns of padding were "
        "added. What happened?",
        answers=[
            ("All eight ended at a coin flip or near it.", "That is what untrained weights do. Most learned better."),
            (
                "Six kept about 0.90 or more, two fell to a guess.",
                "One of the two had 1.00 without added padding, and failed as well.",
            ),
            ("The share right stayed 1.00 for all eight.", "So it was with the mask, put back onto the same weights."),
        ],
        correct=1,
    ),
    Question(
        "The vocabulary is built on training and test reviews together. What does a word get that only the test has?",
        answers=[
            ("An id of its own, whose vector was never trained.", "As if it were known. Unknown words are no longer tested."),
            ("A bucket of its own, that no other word has.", "With the leak it needs no bucket: it counts as known."),
            ("A trained vector, which raises the accuracy.", "No training review has the word, so nothing trains it."),
        ],
        correct=0,
    ),
]
