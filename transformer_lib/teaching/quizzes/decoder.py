"""The quiz of chapter 9."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "One sentence, two encoder layers, two decoder layers. "
        "How many tables of keys, for one head, do the two cross-attentions make?",
        answers=[
            (
                "One: from the memory, and both decoder layers are given it.",
                "Both are given the memory. Each makes its own keys from it, with a matrix of its own.",
            ),
            (
                "Two: both from the memory, each with a matrix of its own.",
                "`Decoder` hands the same `memory` to each layer, and each layer makes keys with a matrix of its own.",
            ),
            (
                "Two: one from each encoder layer, first to first, second to second.",
                "Encoder layer 1 reaches the decoder only through layer 2. Both tables come from the memory.",
            ),
        ],
        correct=1,
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
                "The noun's, log 4 to log 5, and the first word's, from log 8 to log 10.",
                "Ten sentences begin with *je* and ten with *tu*: that is ½ each, as before, and costs log 2.",
            ),
        ],
        correct=0,
    ),
    Question(
        "At place 1 of the target, *je* looks at *not*, place 2 of the source (from 0). Should a mask hide it?",
        answers=[
            (
                "Yes: place 1 may look at places 0 and 1, as in the box above it.",
                "In the box above, places are target words. These are source words, and all of them are known.",
            ),
            (
                "In training only: there *not* gives the answer away.",
                "To find the answer in the source is the task, in training and in writing alike.",
            ),
            (
                "No: the mask of the self-attention has hidden it already.",
                "That mask hides target words from target words. It hides nothing of the source.",
            ),
            (
                "No: a causal mask hides what is not written yet, not what is read.",
                "The words to be written are the target's; the memory holds none of them.",
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
                "These two use the source at a place where the French words alone are enough.",
                "After *je ne suis* nothing is left to ask. They ask all the same, and use the answer.",
            ),
            (
                "The third seed has not learned to use the source.",
                "It writes all 16 sentences right, and only the source says which noun it is.",
            ),
        ],
        correct=1,
    ),
]
