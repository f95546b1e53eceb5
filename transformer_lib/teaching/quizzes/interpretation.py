"""The quiz of chapter 15."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "Of *the white cow is tired*, as the encoder has read it, the vector at *white* is exchanged for the horse's. "
        "What is written?",
        answers=[
            (
                "*la vache blanche*, because the vector at *cow* is still the cow's",
                "So it would be if the gender were fetched at *cow*, as in model B.",
            ),
            (
                "*le cheval blanc*, since all that follows depends on this vector",
                "The noun is written from the vector at *cow*, which nobody touched.",
            ),
            (
                "*la vache blanc*, and the rest stays as it was",
                "The encoder had put the gender there.",
            ),
        ],
        correct=2,
    ),
    Question(
        "Two models have the same map, and write the same word for the cow and for the horse. What do you know about where "
        "they keep the gender?",
        answers=[
            ("Nothing yet: models A and B were such a pair", "One exchange told them apart."),
            (
                "Both keep it where the row of the adjective has its brightest cell",
                "Model B took nothing from there that has to do with gender.",
            ),
            (
                "Both keep it at the same place, since map and words are the same",
                "A weight is not what is in the vector.",
            ),
        ],
        correct=0,
    ),
    Question(
        "The horse's vector at *cow* turned *fatiguée* into *fatigué*. With the decoder's own words held at *la vache "
        "blanche*, it did not. Why?",
        answers=[
            (
                "Held words are stronger than the memory, which then plays no part",
                "With the own words held, the exchange at the adjective still turned most of the pairs.",
            ),
            (
                "Unheld, the exchange also made the decoder write, and read, *cheval*",
                "Two things had changed; only both together turned the word.",
            ),
            (
                "The gender of *tired* stands in the vector at *tired*, not at *cow*",
                "In this sentence the exchange at *tired* did nothing either.",
            ),
        ],
        correct=1,
    ),
    Question(
        "In the counts, why are all vectors *but* those of noun and adjective exchanged as well?",
        answers=[
            (
                "Their heads may hold a part of the gender, which adds to the counts",
                "The count was 0: they hold none that matters here.",
            ),
            (
                "If any disturbance turned the word, it would turn here too",
                "It is the control. It turned no adjective.",
            ),
            (
                "The source has to stay one sentence, so all words must be the horse's",
                "One exchanged vector was enough in most cases.",
            ),
        ],
        correct=1,
    ),
]
