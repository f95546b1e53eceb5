"""The quiz of chapter 13."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "Why does the model's most probable sentence escape greedy decoding in this chapter?",
        answers=[
            (
                "The model gives the better first word too little probability: it has learned the shares badly.",
                "It has learned the shares well: tu has 0.60 and vous 0.40, as in the book.",
            ),
            (
                "The probability of the best first word is divided, at a later place, among several whole sentences.",
                "Tu has 0.60, but it is divided between two sentences.",
            ),
            (
                "Each further word lowers the probability, so greedy decoding ends with the shorter sentence.",
                "The sentences are equally long here. Length counts in the other example.",
            ),
        ],
        correct=1,
    ),
    Question(
        "The fourth word goes into the decoder with a cache. Of which words are queries computed in self-attention?",
        answers=[
            (
                "Of all four: the first three have to look at the new word too.",
                "The earlier ones may not look at a later word.",
            ),
            (
                "Of all four: the cache keeps keys and values, but no queries.",
                "It keeps none because none is needed: the first three have asked, each at its own step.",
            ),
            (
                "Of the fourth: the first three have asked at their own steps.",
                "Of those it needs the keys and values, which are kept.",
            ),
        ],
        correct=2,
    ),
    Question(
        "Somebody decodes without the causal mask. In which layers do the keys of earlier words change with a new word?",
        answers=[
            (
                "In the second and above, but not in the first.",
                "A key of the first is made of its word and position. What enters the second has looked at the new word.",
            ),
            (
                "In the first, but not in the second and above.",
                "In the first a key is made of its word and position, before anybody looks at another word.",
            ),
            (
                "In the first as well as in the second and above.",
                "In the first a key is made of its word and position, before anybody looks at another word.",
            ),
        ],
        correct=0,
    ),
    Question(
        "A beam has 2 tokens with log P = −0.8, and 7 tokens with −0.9. Which sentence wins with α = 0, which with α = 0.6?",
        answers=[
            ("The long one with 0, the short one with 0.6.", "With 0 both are divided by 1, and −0.8 is above −0.9."),
            (
                "The short one with 0, and again with 0.6.",
                "With 0.6 it has −0.8/1.097 = −0.73, the long one −0.9/1.516 = −0.59.",
            ),
            ("The short one with 0, the long one with 0.6.", "−0.9/1.516 = −0.59 is nearer to 0 than −0.8/1.097 = −0.73."),
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
