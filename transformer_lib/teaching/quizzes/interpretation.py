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
                "*la vache blanc*, because *cow* has a vector of its own",
                "The gender of *blanche* stood in the vector at *white*, *vache* in the one at *cow*.",
            ),
        ],
        correct=2,
    ),
    Question(
        "Two models have the same map, and write the same word for the cow and for the horse. Where do they keep the gender?",
        answers=[
            (
                "At places that may differ, since different vectors can give equal sums",
                "Models A and B were such a pair. One exchange told them apart.",
            ),
            (
                "At the brightest cell of the row, since most of the sum comes from there",
                "Model B took nothing from there that has to do with gender.",
            ),
            (
                "At the same place in both, since equal maps fetch the gender equally",
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
                "Unheld, the exchange also made the decoder write, and read, *blanc*",
                "The adjective kept the cow's ending: *la cheval blanche est fatigué*.",
            ),
        ],
        correct=1,
    ),
    Question(
        "All vectors *but* those of adjective and noun were exchanged, and no adjective turned. What follows?",
        answers=[
            (
                "These vectors hold no gender, so they add nothing to the other exchanges",
                "On top of both they turned 16 and 6 more: they are small supports.",
            ),
            (
                "To disturb the memory is not enough: it matters which vectors change",
                "That was the control. The adjective's vector alone turned most of the cases.",
            ),
            (
                "The adjective's vector is the only one that can turn the adjective",
                "The noun's turned it too, in 5 and 5 cases, and is a second support in others.",
            ),
        ],
        correct=1,
    ),
]
