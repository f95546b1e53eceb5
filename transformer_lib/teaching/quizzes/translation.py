"""The quiz of chapter 14."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "The text is *low* five times, *lower* twice, *newest* six times. w + e was merged first. "
        "How often do `▁lo` and w meet later?",
        answers=[
            (
                "Seven times: in *low* and in *lower*.",
                "In *lower* the w stands in the token we by now.",
            ),
            (
                "Five times: in *low* alone, since *lower* has given its w away.",
                "What a merge takes is gone for the merges after it.",
            ),
            (
                "Eight times, as w + e did: a merge does not change how often a letter occurs.",
                "Pairs of neighbours are counted, and they do change.",
            ),
        ],
        correct=1,
    ),
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
                "0: no run of two words is right.",
                "One share of 0 makes the product 0, whatever the others are.",
            ),
        ],
        correct=2,
    ),
    Question(
        "On longer sentences the GRU with attention gets eight in ten right, the Transformer three. What follows from that?",
        answers=[
            (
                "For real texts the GRU with attention is the better choice.",
                "Twelve thousand short sentences, 1000 steps: about other data the runs say nothing.",
            ),
            (
                "Something in this Transformer does not carry over to new lengths.",
                "Its positions are a large part of it: with rotary ones it gets six in ten.",
            ),
            (
                "The Transformer has learned its training sentences by heart, and nothing else.",
                "Then it could not translate 97 of 100 new sentences of the lengths that it knows.",
            ),
        ],
        correct=1,
    ),
    Question(
        "Somebody checks a translator by reading its French alone. Which of these errors stays hidden?",
        answers=[
            (
                "*je aime*, where *j'aime* is right.",
                "Two words that French writes as one: it can be seen without the English sentence.",
            ),
            (
                "*une femme*, where the English sentence says *a new woman*.",
                "It is good French. That something is left out, only the English sentence tells.",
            ),
            (
                "*ses voitures ne sont pas noirs*, where *noires* is right.",
                "Noun and adjective do not agree: it can be seen without the English sentence.",
            ),
        ],
        correct=1,
    ),
]
