"""The quiz of chapter 19."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "A translator becomes a language model. Which of its parts has nothing left to do?",
        answers=[
            ("The causal mask.", "Training still answers all places at once, so it still hides what comes later."),
            ("Cross-attention.", "It asks a source, and there is no source any more."),
            ("The output layer.", "The model still has to score every token as the next one."),
        ],
        correct=1,
    ),
    Question(
        "With rotary positions, a query at 7 and a key at 4 have the score 1.3. The same two vectors now stand at 107 and 104. "
        "What is it?",
        answers=[
            ("Smaller, because the positions are larger.", "The angles are larger, but for both arrows alike."),
            ("It depends on the words between them.", "The two vectors are the same, so only their distance counts."),
            ("1.3, as before.", "Both arrows turn by the same angle, so the angle between them stays."),
        ],
        correct=2,
    ),
    Question(
        "A model has 32 heads of queries and 8 of keys and values. How large is its cache, beside one with 32 of each?",
        answers=[
            ("A quarter.", "Only keys and values are kept, and there are 8 heads of each, not 32."),
            ("The same, since each head still looks up.", "Each head looks up, but four of them in the same rows."),
            ("An eighth.", "There are 8 heads of 32, and that is a quarter."),
        ],
        correct=0,
    ),
    Question(
        "Somebody loads SmolLM2 with the base 10,000 in place of 100,000. All names and shapes fit. "
        "What happens in a short text?",
        answers=[
            ("torch refuses the weights.", "The base is no weight; nothing in the file has another shape."),
            ("Nothing: the base only scales the angles.", "The loss rises: the heads have learned to use the old angles."),
            ("It writes, with a slightly higher loss.", "In our passage the loss rose by 0.03 a token. No error tells you."),
        ],
        correct=2,
    ),
]
