"""The quiz of chapter 13."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "Why does greedy decoding miss the most probable sentence?",
        answers=[
            (
                "The best first word need not begin the best sentence.",
                "Tu had 0.60, but it was divided between two sentences.",
            ),
            (
                "The probabilities of a badly trained model are not right.",
                "It happens with a model that has learned the book perfectly, too.",
            ),
            (
                "It stops at the first EOS, so that longer sentences are never seen.",
                "Every method ends a sentence at its EOS. Greedy misses others for another reason.",
            ),
        ],
        correct=0,
    ),
    Question(
        "What does the cache keep for the words that were written?",
        answers=[
            ("Their queries, keys and values, in each layer.", "Nobody asks for old queries again."),
            ("The rows of logits that they gave, one for each.", "Only the last row is ever used, and only once."),
            ("Their keys and values, in each layer.", "The new query meets them."),
        ],
        correct=2,
    ),
    Question(
        "Which promise of an earlier chapter makes the cache possible?",
        answers=[
            (
                "The causal mask: later words move nothing at earlier places.",
                "So old keys and values stay right, in every layer.",
            ),
            (
                "The padding mask: no word ever attends to a place without a word.",
                "True, but without the other mask old words would still change with each new one.",
            ),
            (
                "The split into heads: each head works on a part of the vector by itself.",
                "True, and nothing to do with it.",
            ),
        ],
        correct=0,
    ),
    Question(
        "You raise alpha of the length penalty from 0 to 1. What happens to this chapter's beam search?",
        answers=[
            ("Its sentences become shorter, or stay.", "It is the short ones that pay."),
            ("Its sentences become longer, or stay.", "Long sums are divided by more."),
            (
                "It chooses the same, and stops earlier.",
                "What is chosen changes: long sums are divided by more.",
            ),
        ],
        correct=1,
    ),
    Question(
        "What is left when the temperature goes towards 0?",
        answers=[
            ("All words, each as probable as the others.", "That is a very high temperature."),
            (
                "The best word and those near it: the others are cut off.",
                "Those near it go too: with a small T, the power 1/T makes every difference large.",
            ),
            ("The best word alone: greedy decoding.", "All others go to probability 0."),
        ],
        correct=2,
    ),
]
