"""The quiz of chapter 4."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "Somebody adds 7 to all scores of one decoder step. What happens to its weights?",
        answers=[
            ("Each of them grows by the same factor.", "The weights of a step always sum to 1."),
            ("The largest grows, the others shrink.", "All scores moved by the same amount."),
            ("Nothing: none of them changes at all.", "The factor `e^7` stands above and below the fraction, and cancels."),
        ],
        correct=2,
    ),
    Question(
        "The decoder's state has 512 numbers, the encoder's outputs have 1024. Which attention fits as it is?",
        answers=[
            ("The additive one: its matrices bring both to one width.", "Each side has a matrix of its own."),
            (
                "The dot product: it has no matrix that fixes a width.",
                "It multiplies number by number, so both need the same width.",
            ),
            ("Both: every score is one number, whatever the widths.", "It is, but the dot product cannot even be computed."),
        ],
        correct=0,
    ),
    Question(
        "A map has a line for each written word and a column for each source word. What sums to 1?",
        answers=[
            ("Each column: every source word is used up once.", "In the map *cow* serves for *la*, *vache* and *blanche*."),
            ("Each line: every written word has one look to share.", "Each step has its own softmax over the source words."),
            ("The whole map: all its weights are one softmax.", "The decoder looks anew before each word, with a new softmax."),
        ],
        correct=1,
    ),
    Question(
        "A mask is forgotten, and padded places keep their scores. How does it show?",
        answers=[
            ("The weights of a written word sum to less than 1.", "They still sum to 1: the padding takes its share of them."),
            (
                "The loss becomes NaN at the first padded sentence.",
                "Padded places have ordinary scores. It is wrong in silence.",
            ),
            (
                "A sentence changes with what else is in its batch.",
                "More padding takes more of the weights, and of the context.",
            ),
        ],
        correct=2,
    ),
    Question(
        "A map puts all the weight of a step on one source word. What may you conclude?",
        answers=[
            ("The written word is the translation of that word.", "*blanche* looked at *cow*: a row is not only its word."),
            (
                "The context can carry all words up to that one.",
                "The mix is that one row, and the row has read them all.",
            ),
            (
                "The other source words have no part in that step.",
                "Those before it are in the row, and the state has read all.",
            ),
        ],
        correct=1,
    ),
]
