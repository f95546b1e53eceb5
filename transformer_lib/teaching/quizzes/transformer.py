"""The quiz of chapter 10."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A new model with one shared matrix and 8,000 words has a first loss of 190. What do you do?",
        answers=[
            (
                "Look for logits that are far too large at the start.",
                "About 9.5 is expected: log 8,000 and a half. Something is surely wrong.",
            ),
            (
                "Train it: a first loss says nothing about the last.",
                "It may train. But 190 beside an expected 9.5 says that the start is wrong, and that is cheap to mend.",
            ),
            (
                "Take fewer words: the loss grows with the vocabulary.",
                "With its logarithm only: log 8,000 is 9, log 80,000 is 11.",
            ),
        ],
        correct=0,
    ),
    Question(
        "The embedding's matrix starts small, with standard deviation d^-0.5. Why is it multiplied by √d_model there?",
        answers=[
            ("So that the scores in attention do not saturate.", "That is the division by √d_k, inside attention."),
            ("So that its gradient is as large as the layers'.", "The page measures sizes of numbers, not of gradients."),
            (
                "So that a word is as large as the position added to it.",
                "0.0625 beside 0.707 would be a faint noise on its place.",
            ),
        ],
        correct=2,
    ),
    Question(
        "You double `num_heads` and leave the rest. How many parameters are added?",
        answers=[
            ("As many as the attention had before.", "The heads share matrices of one width."),
            ("None.", "The same matrices make more, narrower heads."),
            ("Those of one more output projection.", "One output projection joins all heads, however many there are."),
        ],
        correct=1,
    ),
    Question(
        "With 13 words and one shared matrix, the first loss is further above log V than σ²/2 says. Why?",
        answers=[
            ("A small vocabulary makes the logits larger.", "Their size is set by d_model and the start, not by V."),
            (
                "The word just read meets its own row of the matrix.",
                "Among 13 words its logit counts; among 8,000 it does not.",
            ),
            (
                "Glorot's start does not fit matrices with few rows.",
                "Glorot's start is that of the layers; the shared matrix has d^-0.5.",
            ),
        ],
        correct=1,
    ),
    Question(
        "Padding is put on the left of the source, and the model's outputs change. Is the padding mask broken?",
        answers=[
            ("Yes: a masked place must move nothing at all.", "What stands in the place moves nothing; that it is there does."),
            ("No: masks can only hide padding on the right.", "They hide padding anywhere."),
            ("No: the words have moved to other positions.", "The padding itself is not seen, but the places are others."),
        ],
        correct=2,
    ),
]
