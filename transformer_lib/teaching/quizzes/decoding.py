"""The quiz of chapter 13."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "Why does greedy decoding miss the most probable sentence?",
        answers=[
            ("Its model was trained badly.", "It happens with a perfect model too."),
            (
                "The best first word need not begin the best sentence.",
                "Tu had 0.60, but it was divided between two sentences.",
            ),
            ("It stops too early.", "It stops at EOS, as every method does."),
        ],
        correct=1,
    ),
    Question(
        "What does the cache keep for the words that were written?",
        answers=[
            ("Their queries, keys and values.", "Nobody asks for old queries again."),
            ("Their keys and values, in each layer.", "The new query meets them."),
            ("The logits.", "Only the last row was ever used."),
        ],
        correct=1,
    ),
    Question(
        "Which promise of an earlier chapter makes the cache possible?",
        answers=[
            (
                "The look-ahead mask: later words move nothing at earlier places.",
                "So old keys and values stay right, in every layer.",
            ),
            ("Padding is never seen.", "True, but old words could still change."),
            ("Heads cost no parameters.", "True, and nothing to do with it."),
        ],
        correct=0,
    ),
    Question(
        "You raise alpha of the length penalty from 0 to 1. What happens?",
        answers=[
            ("Sentences become shorter.", "It is the short ones that pay."),
            ("Sentences become longer, or stay.", "Long sums are divided by more."),
            ("The search becomes faster.", "It changes the choice, not the work."),
        ],
        correct=1,
    ),
    Question(
        "What is left when the temperature goes towards 0?",
        answers=[
            ("All words, equally probable.", "That is a very high temperature."),
            ("The best word: greedy decoding.", "All others go to probability 0."),
            ("The probabilities as they are.", "That is temperature 1."),
        ],
        correct=1,
    ),
]
