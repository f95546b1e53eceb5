"""The quiz of chapter 14."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "Somebody trains the tokenizer on all sentences, test sentences included, and "
        "the model on the training set alone. What is wrong with the score?",
        answers=[
            (
                "The vocabulary fits the test sentences better than new ones.",
                "Words that only the test has get tokens of their own.",
            ),
            (
                "Nothing: a tokenizer has no weights and translates nothing.",
                "It has counted test text, and its pieces are what the model reads.",
            ),
            (
                "The model gets more parameters than one with a clean vocabulary.",
                "Their number follows from the size asked for, and that can be the same.",
            ),
        ],
        correct=0,
    ),
    Question(
        "Of *the white cow is tired*, as the encoder has read it, the vector at *white* is exchanged for the horse's. "
        "What is written?",
        answers=[
            (
                "*la vache blanche*: the noun decides, and its vector is still the cow's.",
                "So it would be if some head fetched the gender at *cow*.",
            ),
            (
                "*le cheval blanc*: the decoder reads the sentence from that vector on.",
                "The noun is written from the vector at *cow*, which nobody touched.",
            ),
            (
                "*la vache blanc*: the adjective's gender stands in the vector at *white*.",
                "The encoder has put it there, from the noun beside it.",
            ),
        ],
        correct=2,
    ),
    Question(
        "A translation without any right run of four words has BLEU 0 by the formula, and 18 by sacrebleu. Why?",
        answers=[
            (
                "sacrebleu leaves out the precisions that are 0 and takes the mean of the rest.",
                "`eff:no` says that all four are used.",
            ),
            (
                "sacrebleu counts a precision of 0 as if a small part of one n-gram were right.",
                "That is `smooth:exp`: first a half, then a quarter.",
            ),
            (
                "sacrebleu cuts words into pieces first, and pieces make right runs more often.",
                "`13a` separates punctuation; it cuts no word.",
            ),
        ],
        correct=1,
    ),
    Question(
        "For *blanche* the map has one bright cell, at *white*. How do you find out where the gender comes from?",
        answers=[
            (
                "Look at the maps of the other heads: one of them is bright at *cow*.",
                "Even then it would be a place that was looked at, and no cause.",
            ),
            (
                "Exchange the noun in the source or in the decoder's words, one at a time.",
                "What changes the ending is what the ending depends on.",
            ),
            (
                "Take the mean over layers and heads, so that no road is overlooked.",
                "A mean of maps is a map: it says where, and not what was taken from there.",
            ),
        ],
        correct=1,
    ),
    Question(
        "Of the Transformer's wrong translations of longer sentences, most …",
        answers=[
            (
                "have more words than any training sentence: they do not just stop early.",
                "Counted: more than half have more than ten words.",
            ),
            (
                "break off after ten words, where the sentences of its training used to end.",
                "About three in ten break off after a right beginning; the others do not.",
            ),
            (
                "hold a word that training never had, and go wrong from this word on.",
                "Each word of the test sets occurs in training; that was checked.",
            ),
        ],
        correct=0,
    ),
]
