"""The quiz of chapter 10."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A copier trained without positions copies each single symbol well. What does it write for `7 7`?",
        answers=[
            (
                "`7 7`: the memory has two rows, and it writes one symbol for each.",
                "Both rows are equal, so attention fetches from the two what it would fetch from one.",
            ),
            (
                "`7`: what attention fetches from two equal rows is that row again.",
                "The weights sum to 1. So the two sources are one to it, and for one of them it must be wrong.",
            ),
            (
                "One of the ten symbols, any other as likely as the 7: it is a guess.",
                "So does the model without cross-attention. This one sees which symbol the source has.",
            ),
        ],
        correct=1,
    ),
    Question(
        "The rows of the base model's shared matrix start with numbers of size 0.044. Why not with size 1?",
        answers=[
            (
                "At the exit an untrained model would be too sure of some word.",
                "A logit, a sum of 512 products, would have a size of about 23. The entrance gets its size 1 by a factor.",
            ),
            (
                "At the entrance the words would be too small beside the positions.",
                "They would be large: 1 · √512 ≈ 22.6, beside positions of size 0.7.",
            ),
            (
                "At the exit the norm would make them small again before the softmax.",
                "The norm comes before the comparison, and the logits go to the softmax as they are.",
            ),
        ],
        correct=0,
    ),
    Question(
        "Which of these pieces could be taken out, and the copier copied as well as before, from all three starts?",
        answers=[
            ("The plus.", "Without it the share depended on the start: 91 %, 54 %, 10 %."),
            ("The positions.", "Without them five symbols came out right in one sentence of a hundred."),
            ("The encoder's attention.", "All three models without it copied every sentence of five, or all but one of 1,000."),
        ],
        correct=2,
    ),
    Question(
        "A model has written ten words, one after the other, and now chooses the end sign. What does this call of `decode` do?",
        answers=[
            (
                "It computes one row, and returns the logits of one.",
                "It gets one new word, but the rows of all words so far are computed again.",
            ),
            (
                "It computes eleven rows, and returns the logits of one.",
                "The start sign and ten words are computed again; the tenth word alone is new in this call.",
            ),
            (
                "It computes eleven rows, and returns the logits of eleven.",
                "So it would be in training, where all words are new. Here only the tenth is.",
            ),
        ],
        correct=1,
    ),
]
