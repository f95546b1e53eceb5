"""The quiz of chapter 17."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "In mixed precision the products are in bfloat16. Why does the loss stay in float32?",
        answers=[
            ("It could become larger than any bfloat16.", "bfloat16 has float32's exponents, and reaches as far."),
            (
                "A loss with 8 significant bits is coarse.",
                "Near 6 the bfloat16 numbers lie 0.03 apart: smaller changes of the loss would vanish.",
            ),
            ("torch has no cross-entropy for bfloat16.", "It has one. Autocast keeps it in float32 on purpose."),
        ],
        correct=1,
    ),
    Question(
        "Two processes have 4 and 2 real tokens. DistributedDataParallel takes the mean of their gradients. What does each "
        "multiply its summed loss by?",
        answers=[
            ("By 1/4 and by 1/2.", "Then a word counts twice as much in the second process: a mean of means."),
            ("Both by 1/6.", "The mean divides once more, and the gradient is half as long as it should be."),
            ("Both by 2/6.", "The mean over two processes turns that into a sixth of the sum of all."),
        ],
        correct=2,
    ),
    Question(
        "You double the batch and keep the model. What happens to the bytes that a process sends in a step?",
        answers=[
            ("They stay as they were: there are as many gradients.", "So a larger batch sends less for each token."),
            (
                "They double, since each token brings its gradients along.",
                "Gradients of all tokens are added before they travel.",
            ),
            ("They double, unless the batch goes through in two parts.", "Parts are added within a process; one sum is sent."),
        ],
        correct=0,
    ),
    Question(
        "Adam trains a model of 100 million parameters in float32. What do parameters, gradients and moments take?",
        answers=[
            ("0.4 GB", "That is the weights alone."),
            ("0.8 GB", "Weights and gradients; Adam's two moments are missing."),
            ("1.6 GB", "4 + 4 + 8 bytes for each parameter, and the activations come on top."),
        ],
        correct=2,
    ),
    Question(
        "The paper estimates 3.3e18 operations for its base model; counted products are 9.5e17. Why do they not contradict?",
        answers=[
            (
                "The estimate is time × an assumed speed of the GPUs.",
                "It counts what they could have done in 12 hours, busy or not.",
            ),
            (
                "The backward pass is left out where products are counted.",
                "The 6 holds it: 2 operations forward and 4 backward.",
            ),
            (
                "The estimate is for the big model, which is three times larger.",
                "The big model's estimate is 2.3e19; this one is the base model's.",
            ),
        ],
        correct=0,
    ),
]
