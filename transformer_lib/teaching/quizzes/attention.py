"""The quiz of chapter 6."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A network hears only the plain average of the values. Why does more training not help it?",
        answers=[
            ("The many values melt together, and no word is left.", "Their mean is left; lost is who said what."),
            ("Two cases with one average need different answers.", "If two values swap places, the average stays."),
            ("Each new sentence pushes out what was learned before.", "Even one sentence has swapped cases with one average."),
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
            ("All 512 numbers of some of the words.", "It looks at each word; cut is the result, not the words."),
        ],
        correct=0,
    ),
    Question(
        "Two vectors of random numbers grow from width 16 to width 64. What does their dot product do, undivided?",
        answers=[
            ("It becomes 4 times as large: so many more products.", "Their signs differ, so many of them cancel."),
            ("It stays as large as it was: the products cancel.", "Not completely. Toss more coins, and you end further away."),
            ("It becomes 2 times as large: many products cancel.", "Its typical size grows with the root: √64 / √16 = 2."),
        ],
        correct=2,
    ),
    Question(
        "Two people are asked for at once. How many single answers did *one* head get right, after twice the steps?",
        answers=[
            ("About half of them: it finds one, or mixes all.", "One found, one guessed among 15: ½ + ½ · 1/15 = 0.53."),
            ("About one in eight of them: eight people are there.", "That would be a guess among those who meet."),
            ("Nearly all of them: more steps make up for a head.", "Two heads did that in 400 steps; one did not in 800."),
        ],
        correct=0,
    ),
]
