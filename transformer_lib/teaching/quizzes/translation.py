"""The quiz of chapter 14."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "Somebody trains the tokenizer on all sentences, test sentences included, and "
        "the model on the training set alone. Does its test score still tell how it does on new sentences?",
        answers=[
            (
                "No: the test sentences took part in choosing the tokens that it reads.",
                "Whether the score comes out higher for it, one would have to measure.",
            ),
            (
                "Yes: no test sentence takes part in the training of the model.",
                "Their words took part in the counting, and pieces are what the model reads.",
            ),
            (
                "No: it is too low, since as many tokens must now do for more sentences.",
                "Lower is not sure: the test's own words are counted in now, so the tokens fit them better.",
            ),
        ],
        correct=0,
    ),
    Question(
        "On longer sentences the GRU with attention gets eight in ten right, the Transformer three. "
        "What closes a large part of the gap?",
        answers=[
            (
                "Another search: with a beam of 4 the same Transformer gets six in ten right.",
                "Neither a beam nor averaged weights bring it there.",
            ),
            (
                "Other positions: with rotary ones the same Transformer gets six in ten right.",
                "They turn query and key: of two places, their product keeps only the distance.",
            ),
            (
                "Another training: without label smoothing the same Transformer gets six in ten right.",
                "Neither label smoothing nor warm-up is the reason: without them it stays near three in ten.",
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
