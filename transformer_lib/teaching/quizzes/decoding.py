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
            ("Of all four, since each of them has to look at the new word.", "The earlier ones may not look at a later word."),
            (
                "Of the first three only: these are what the new word looks at.",
                "The new word looks at their keys and values, which are kept.",
            ),
            ("Of the fourth only: nothing is asked a second time for the first three.", "Their keys and values are enough."),
        ],
        correct=2,
    ),
    Question(
        "Which promise of an earlier chapter makes the cache possible?",
        answers=[
            (
                "The causal mask: no place sees a later one, so a later word changes nothing there.",
                "So old keys and values stay right, in every layer.",
            ),
            (
                "Attention in halves: keys and values are computed apart from queries.",
                "That makes the code short. But without the mask the old keys would change with each new word.",
            ),
            (
                "The positions: a word keeps its place when others are written after it.",
                "True, but in the next layer its key would still change if it saw the new word.",
            ),
        ],
        correct=0,
    ),
    Question(
        "You raise alpha of the length penalty from 0 to 1. What changes in the sentences of this chapter's beam search?",
        answers=[
            ("They become shorter, or stay.", "It is the short ones that pay."),
            ("They become longer, or stay.", "Long sums are divided by more."),
            (
                "Nothing: it stops earlier.",
                "What is chosen changes: long sums are divided by more.",
            ),
        ],
        correct=1,
    ),
    Question(
        "Four words have 0.4, 0.3, 0.2 and 0.1. Top-p with p = 0.6 draws from how many of them?",
        answers=[
            ("One: with the second the sum would be above 0.6.", "The fewest that reach p are kept, and 0.4 alone does not."),
            ("Two: one word does not reach 0.6, and two words do.", "They have 0.7 together, by which both are divided."),
            ("Four: no word has more than 0.6, so that none is cut.", "The sum of the best is compared with p, not each word."),
        ],
        correct=1,
    ),
]
