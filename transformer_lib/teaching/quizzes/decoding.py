"""The quiz of chapter 13."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "Why does greedy decoding miss the models' most probable sentence for *you are a student*?",
        answers=[
            (
                "*Tu* and *vous* are equally probable, and greedy decoding takes the first in the list.",
                "*Tu* has 0.60, *vous* 0.40: the best word is clear, and begins no best sentence.",
            ),
            (
                "*Tu* is more probable than *vous*, but its share is divided between two sentences.",
                "0.60 against 0.40 at first, but then 0.33 and 0.27.",
            ),
            (
                "*Vous* is more probable than *tu*, but its share is divided between two sentences.",
                "Greedy decoding would then begin with *vous*; and after *vous* nothing is divided.",
            ),
        ],
        correct=1,
    ),
    Question(
        "The fourth word goes into the decoder with a cache. What does self-attention compute, and what is kept already?",
        answers=[
            (
                "One query; the keys and values of four words are kept.",
                "The fourth word has never been read: its key and value are new.",
            ),
            (
                "Four queries, one key, one value; three keys and values are kept.",
                "The first three have asked, each at its own step.",
            ),
            (
                "One query, one key, one value; three keys and values are kept.",
                "The new word asks, and is looked at too. The first three do not change.",
            ),
        ],
        correct=2,
    ),
    Question(
        "A beam of 3 begins with three equal rows. What would it write if all three sums began at 0?",
        answers=[
            (
                "One sentence, three times: equal rows keep the same words.",
                "Equal candidates stand side by side, so the best one is kept once from each row.",
            ),
            (
                "Three sentences, as before: `topk` takes three other words.",
                "The best word stands in the list three times, once for each row. `topk` takes these.",
            ),
            (
                "Nothing: a sum of 0 counts as ended, and is never extended.",
                "A sum of −∞ is never extended. 0 is the logarithm of 1, where every sentence begins.",
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
            (
                "The smaller score wins, as with a loss.",
                "The higher score wins: −0.605 is above −0.728.",
            ),
            (
                "A negative logarithm comes nearer to 0.",
                "−0.916/1.516 = −0.605, above −0.799/1.097 = −0.728.",
            ),
        ],
        correct=2,
    ),
    Question(
        "Four words have 0.4, 0.3, 0.2 and 0.1. From how many is drawn at temperature 0.5 with top-p, p = 0.8?",
        answers=[
            ("From one: squared, its share is above the others' sum.", "It has 0.53, which does not reach 0.8."),
            ("From two: squared and scaled, they have 0.83.", "The temperature comes first: 0.53 + 0.30."),
            ("From three: two have 0.7, the third makes it 0.9.", "That is at temperature 1. The temperature comes first."),
        ],
        correct=1,
    ),
]
