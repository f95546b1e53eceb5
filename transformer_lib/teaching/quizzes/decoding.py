"""The quiz of chapter 13."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "After *found a* sixteen words are right, after *slept under a* one is. What does top-k with k = 3 do?",
        answers=[
            (
                "It forbids right words at the first place, and allows wrong ones at the second.",
                "A fixed number is too small for the flat place and too large for the sharp one.",
            ),
            (
                "It adapts: three words at the first place, and *tree* alone at the second.",
                "That is what top-p does. Top-k keeps three words everywhere.",
            ),
            (
                "It keeps the right words at both, since *tree* has 0.99 anyway.",
                "Only three of the sixteen stay, and two wrong words stay beside *tree*.",
            ),
        ],
        correct=0,
    ),
    Question(
        "The length penalty divides the longer sentence by more. Why does that help it?",
        answers=[
            (
                "A probability below 1 comes nearer to 1.",
                "Divided by more than 1 it becomes smaller. But the logarithm is divided, not P.",
            ),
            ("The smaller score wins, as with a loss.", "The higher score wins: −0.605 is above −0.728."),
            (
                "A negative logarithm comes nearer to 0.",
                "Divided by its larger penalty, the long sentence has −0.605, above −0.728.",
            ),
        ],
        correct=2,
    ),
    Question(
        "The fourth word goes into the decoder with a cache. What does self-attention compute, and what is kept already?",
        answers=[
            (
                "One query; the keys and values of four words are kept.",
                "The fourth word has never been read: its key and value are new.",
            ),
            (
                "One query, one key, one value; three keys and values are kept.",
                "The new word asks, and is looked at too. The first three do not change.",
            ),
            (
                "Four queries, one key, one value; three keys and values are kept.",
                "The first three have asked, each at its own step.",
            ),
        ],
        correct=1,
    ),
    Question(
        "Four words have 0.4, 0.3, 0.2 and 0.1. From how many is drawn at temperature 0.5 with top-p and the share 0.8?",
        answers=[
            ("From one: squared, its share is above the others' sum.", "It has 0.53, which does not reach 0.8."),
            ("From two: squared and scaled, they have 0.83.", "The temperature comes first: 0.53 + 0.30."),
            ("From three: two have 0.7, the third makes it 0.9.", "That is at temperature 1. The temperature comes first."),
        ],
        correct=1,
    ),
]
