"""The quiz of chapter 9."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "What is the same in the cross-attentions of decoder layers 1 and 2?",
        answers=[
            (
                "The keys and values: made once from memory, given to both layers.",
                "Each layer has matrices of its own, and makes its own keys and values.",
            ),
            (
                "The queries: made once from the target words, given to both layers.",
                "Each layer asks anew, from what its own self-attention has found.",
            ),
            (
                "The memory: made once from the source sentence, given to both layers.",
                "`Decoder` hands the same `memory` to each layer; matrices make the rest.",
            ),
        ],
        correct=2,
    ),
    Question(
        "In *See it*, *pas* asks, and its thickest line goes to *student*. What does this line show?",
        answers=[
            (
                "Where the model looks before it writes *étudiant*.",
                "The query belongs to the word written last, and prepares the word after it.",
            ),
            (
                "Where the model looked before it wrote *pas*.",
                "That was one step earlier, and *suis* asked. Now *pas* is written, and asks for the next word.",
            ),
            (
                "Which source word *pas* is the translation of.",
                "A look prepares the next word; it says nothing about the word that asks.",
            ),
        ],
        correct=0,
    ),
    Question(
        "The task gets a fifth noun, and with it 20 pairs. Which losses of a perfect blind decoder change?",
        answers=[
            (
                "The noun's alone: it rises from log 4 to log 5, and no other one changes.",
                "Only there has the number of choices grown. The whole sentence costs log 20 now.",
            ),
            (
                "All six, by equal parts: together they rise from log 16 to log 20.",
                "The sum is right, but it rises at one word: ten *je* and ten *tu* are still ½ each, and *pas* is certain.",
            ),
            (
                "The noun's, from log 4 to log 5, and the first word's, from log 8 to 10.",
                "Ten sentences begin with *je* and ten with *tu*: that is ½ each, as before, and costs log 2.",
            ),
        ],
        correct=0,
    ),
    Question(
        "A source of 5 words is translated. At the first place of the target, cross-attention looks at the fifth source word. "
        "Is that a leak?",
        answers=[
            (
                "Yes: place 1 may look at places up to 1 only, so the causal mask is missing.",
                "The causal mask is about target words. The source is known to its last word.",
            ),
            (
                "Yes: in training, the fifth source word gives the fifth target word away.",
                "To translate it is the task. It is given in training and in writing alike.",
            ),
            (
                "No: the causal mask of the encoder has hidden what must be hidden already.",
                "The encoder has no causal mask: its words look forwards and backwards.",
            ),
            (
                "No: the words that the decoder must predict are the target's, not these.",
                "The future is what is not *written* yet; the memory holds none of it.",
            ),
        ],
        correct=3,
    ),
    Question(
        "In the test of *See it*, *not* was lost from the source, and two of three seeds doubted *pas*. What does that show?",
        answers=[
            (
                "These two have not learned that *pas* follows *je ne suis*.",
                "With *not* in the source, *pas* costs ≈ 0.01, in every seed.",
            ),
            (
                "These two use the source at a place where French would do.",
                "After *je ne suis* nothing is left to ask. They ask all the same, and use the answer.",
            ),
            (
                "The place before *pas* looks at *not* in these two only.",
                "All three look there, as the workshop shows; the third hardly misses it. To look is not yet to use.",
            ),
        ],
        correct=1,
    ),
]
