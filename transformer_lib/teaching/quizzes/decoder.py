"""The quiz of chapter 9."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "What is the same in the cross-attentions of decoder layers 1 and 2?",
        answers=[
            (
                "The keys and values: they are computed once and given to both.",
                "Each layer has matrices of its own, and makes its own keys and values.",
            ),
            (
                "The queries: the first layer makes them and hands them on.",
                "Each layer asks anew, from what its own self-attention has found.",
            ),
            (
                "The memory: from it each layer makes its own keys and values.",
                "The forward pass showed it: both were given the very same tensor.",
            ),
        ],
        correct=2,
    ),
    Question(
        "In the map of cross-attention the row that has read *pas* is brightest at *student*. What does the row show?",
        answers=[
            (
                "Where the model looks to write *étudiant*, the next word.",
                "A row belongs to the word that was read; its query prepares the word after it.",
            ),
            (
                "That the model takes *pas* for the translation of *student*.",
                "*pas* was chosen one row above, where the model looks at *not*.",
            ),
            (
                "That the axes of the target and the source are exchanged.",
                "The map is 6 by 5, as target and source are: the axes are right.",
            ),
        ],
        correct=0,
    ),
    Question(
        "The blind decoder of this chapter has written *tu n' es*. What does the next word, *pas*, cost it?",
        answers=[
            ("About 1.39: it must guess.", "That is the noun, one of four. After *n' es* there is no choice."),
            ("About 0.69: with *not*, or without?", "That was asked one word earlier; *n'* has answered it."),
            ("About 0: it is certain.", "French alone says *pas*. The source decides at three places, and this is none."),
        ],
        correct=2,
    ),
    Question(
        "A source of 5 words is translated. At the first place of the target, cross-attention looks at the fifth source word. "
        "Is that a leak?",
        answers=[
            (
                "Yes: place 1 may look at places up to 1 only, so the causal mask is missing.",
                "The causal mask is about target words. The source is known to its last word.",
            ),
            ("No: no target word stands there.", "The future is what is not *written* yet; the memory holds none of it."),
            (
                "Only in training, where the whole target is known; when it writes, it is none.",
                "The memory holds source words, in training and in writing alike.",
            ),
        ],
        correct=1,
    ),
    Question(
        "In the test of *See it*, *not* was lost from the source, and *je ne suis pas étudiant* kept. Which place was "
        "surprised most, on average over the seeds?",
        answers=[
            (
                "The one that writes *ne*, after *je*.",
                "That place asks the source, and the source now says something else.",
            ),
            (
                "The one that writes *étudiant*, since the source has one word less.",
                "The noun is still *student*: the place that asks for it finds its answer.",
            ),
            (
                "All six about equally, since all read one memory.",
                "One memory, but other questions: each place asks for something else.",
            ),
        ],
        correct=0,
    ),
]
