"""The quiz of chapter 10."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "The rows of the base model's shared matrix start with numbers of size 0.044. Why not with size 1?",
        answers=[
            (
                "At the exit even a word that does not fit at all would get a large logit.",
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
        "The base model without weight tying: how many parameters more does it have?",
        answers=[
            (
                "About 18.9 million: the linear layer gets a matrix of its own.",
                "The two embeddings part as well: one matrix becomes three.",
            ),
            (
                "About 37.9 million: one matrix becomes three.",
                "One for the source, one for the target, one for the linear layer: two more of 18.9 million each.",
            ),
            (
                "None: the three tensors are copies of one another, and are learned together.",
                "Tied, it is one tensor with three names. Without tying there are three, and each is learned by itself.",
            ),
        ],
        correct=1,
    ),
    Question(
        "The model reads five words and writes four. What is true of the memory, in the base model?",
        answers=[
            (
                "It is 4 × 512 at the end: it gets one row more with each word that is written.",
                "The memory belongs to the source. What grows is the prefix, in the state's tokens.",
            ),
            (
                "It is 5 × 512, and is computed again for each of the words that are written.",
                "That would be `forward`, called four times. The class reads the source in `start` alone.",
            ),
            (
                "It is 5 × 512, and is computed once.",
                "`start` reads the source. Each call of `decode` asks the same memory.",
            ),
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
