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
        "In the map of the trained decoder, *vache* looks mostly at *white*. What does this show?",
        answers=[
            (
                "Where the model looks before it writes *blanche*.",
                "The query belongs to the word that was written last, and prepares the word after it.",
            ),
            (
                "Where the model looked before it wrote *vache*.",
                "That was one step earlier, and *la* asked. Now *vache* is written, and asks for the next word.",
            ),
            (
                "Which source word *vache* is the translation of.",
                "A look prepares the next word; it says nothing about the word that asks.",
            ),
        ],
        correct=0,
    ),
    Question(
        "*vache* stands at place 2 of the target (from 0), and looks at *tired*, place 4 of the source. Should a mask hide it?",
        answers=[
            (
                "Yes: place 2 may look at places 0 to 2, as in the self-attention.",
                "In the self-attention, places are target words. These are source words, and all of them are known.",
            ),
            (
                "In training only: there *tired* gives the answer away.",
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
        "While the French is written, word after word, what does the encoder learn of it?",
        answers=[
            (
                "The queries: each layer sends them back, and the memory changes with them.",
                "Queries are compared with keys, and nothing is sent back: the memory stays as it is.",
            ),
            (
                "Nothing: its output was computed before the first French word.",
                "Cross-attention goes one way: the decoder reads the memory.",
            ),
            (
                "The weights: a word that is looked at often gets a larger row.",
                "Weights say how much of each row is read. No row is changed by that.",
            ),
        ],
        correct=1,
    ),
]
