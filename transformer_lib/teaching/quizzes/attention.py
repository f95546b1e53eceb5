"""The quiz of chapter 6."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "The plain average was right one time in eight. Why would more training not have helped?",
        answers=[
            (
                "Eight letters in 32 numbers melt together, and none is heard.",
                "The bars say otherwise: it knows which eight letters are in the room.",
            ),
            (
                "Two dictionaries with the same average need different answers.",
                "Let two values swap places: average and question stay, the right answer does not.",
            ),
            (
                "Each new dictionary pushes out what the older ones had taught it.",
                "There is nothing to keep of the older ones: each dictionary has pairs of its own.",
            ),
        ],
        correct=1,
    ),
    Question(
        "d_model stays 512, and 8 heads become 32. By what are the scores divided now?",
        answers=[
            ("By √512 ≈ 22.6, as they were before.", "Inside a head the vectors never were that wide."),
            ("By √16 = 4, half of what it was.", "Each head has d_k = 512 / 32 = 16 numbers; before it had 64."),
            ("By √32 ≈ 5.7, twice what it was.", "That is the number of heads, not their width."),
        ],
        correct=1,
    ),
    Question(
        "A sentence has 20 words of 512 numbers each. What does head 0 of 8 get to see?",
        answers=[
            ("All 512 numbers of all 20 words.", "Its own matrix, 512 by 64, takes in each whole word."),
            ("The first 64 numbers of all 20 words.", "Only the projected result is cut; the words themselves never are."),
            (
                "All 512 numbers of some of the words.",
                "Each head looks at each word. Cut is the result, and by its numbers, not by words.",
            ),
        ],
        correct=0,
    ),
    Question(
        "Two vectors of random numbers grow from width 16 to width 64. What does their dot product do, undivided?",
        answers=[
            ("It becomes 4 times as large: so many more products.", "Their signs differ, so many of them cancel."),
            ("It stays as large as it was: the products cancel.", "Not completely. Toss more coins, and you end further away."),
            (
                "It becomes 2 times as large: many products cancel.",
                "The typical distance from 0 grows with the root: √64 / √16 = 2.",
            ),
        ],
        correct=2,
    ),
    Question(
        "Two letters are asked for at once. How many single letters did *one* head get right, after four times the steps?",
        answers=[
            (
                "About half of them: it has a single row of weights.",
                "Weights of 0.7 and 0.3 could say which value came first; no run found that (workshop).",
            ),
            (
                "About an eighth of them, as the plain average did.",
                "It hears more than the average: its weights depend on the question.",
            ),
            (
                "Nearly all of them: more steps make up for a head.",
                "Two heads needed 400 steps for that; one head did not get there in 1,600.",
            ),
        ],
        correct=0,
    ),
]
