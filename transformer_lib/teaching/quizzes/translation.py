"""The quiz of chapter 14."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "The text is *low* five times, *lower* twice, *newest* six times. w + e was merged first. "
        "How often do `▁lo` and w meet later?",
        answers=[
            (
                "Seven times, once for each *low* and each *lower*.",
                "In *lower* the w stands in the token we by now.",
            ),
            (
                "Five times, once for each *low* of the text.",
                "*lower* has given its w to we. What a merge takes is gone for the merges after it.",
            ),
            (
                "Eight times, as often as w and e met at first.",
                "Pairs of neighbours are counted, and they do change.",
            ),
        ],
        correct=1,
    ),
    Question(
        "Somebody trains the tokenizer on all sentences, test sentences included, and "
        "the model on the training set alone. What does that do to the score?",
        answers=[
            (
                "It may be too good: the tokens fit the test sentences better than new ones.",
                "Words that only the test has get tokens of their own.",
            ),
            (
                "It stays what it was: a tokenizer has no weights and translates nothing.",
                "It has counted test text, and its pieces are what the model reads.",
            ),
            (
                "It cannot be compared: the model gets more parameters than with a clean vocabulary.",
                "Their number follows from the size asked for, and that can be the same.",
            ),
        ],
        correct=0,
    ),
    Question(
        "A prediction has all six words of its reference, in reverse order. What does the formula of BLEU give?",
        answers=[
            (
                "100: each of its words is right, and it is long enough.",
                "Only the share of single words is 1; the runs of two, three and four count as much.",
            ),
            (
                "25: one of the four shares is 1, and the three others are 0.",
                "That would be their mean. They are multiplied.",
            ),
            (
                "0: one of the four shares is 1, but no run of two words is right.",
                "One share of 0 makes the product 0, whatever the others are.",
            ),
        ],
        correct=2,
    ),
    Question(
        "On longer sentences the GRU with attention gets eight in ten right, the Transformer three. "
        "What do the nine runs show?",
        answers=[
            (
                "Attention is of no use on longer sentences: the model with the most of it falls.",
                "The GRU without attention gets one in twenty right there, and with attention eight in ten.",
            ),
            (
                "What this Transformer can do does not all carry over to lengths it was not trained on.",
                "At least 97 of 100 held-out sentences are right, and three in ten of the longer ones.",
            ),
            (
                "This Transformer knows its training sentences by heart, so that new ones are beyond it.",
                "Then it could not translate 97 of 100 new sentences of the lengths that it knows.",
            ),
        ],
        correct=1,
    ),
    Question(
        "Somebody who reads no English checks a translator by reading its French alone. Which of these errors stays hidden?",
        answers=[
            (
                "*je aime ses chiens dans la cuisine*, for *I love her dogs in the kitchen*.",
                "French writes *j'aime*: it can be seen without the English sentence.",
            ),
            (
                "*une femme rit souvent*, for *a new woman often laughs*.",
                "It is good French. That *new* is left out, only the English sentence tells.",
            ),
            (
                "*ses voitures ne sont pas noirs*, for *his cars are not black*.",
                "Cars are feminine, *noirs* is masculine: it can be seen without the English sentence.",
            ),
        ],
        correct=1,
    ),
]
