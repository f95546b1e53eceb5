"""The quiz of chapter 15."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "In the memory of *the white cow is tired*, the vector at *white* is exchanged for the horse's. What is written?",
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
                "*la vache blanc*, because only the adjective was exchanged",
                "The gender of *blanche* stood in the vector at *white*, *vache* in the one at *cow*.",
            ),
        ],
        correct=2,
    ),
    Question(
        "Two models have the same map, for the cow as for the horse, and write the same words. Where do they keep the gender?",
        answers=[
            (
                "One perhaps at both words, the other at the noun: the sums can be equal",
                "Models A and B were such a pair. One exchange told them apart.",
            ),
            (
                "Both mostly at the brightest cell of the row, from which most is taken",
                "Model B took nothing from there that has to do with gender.",
            ),
            (
                "One perhaps in its vectors, the other in its parameters: the sums can be equal",
                "The parameters are the same for the cow and the horse, so the gender is not in them.",
            ),
        ],
        correct=0,
    ),
    Question(
        "The horse's vector at *cow* turned *fatiguée* into *fatigué*. With the decoder's own words held at *la vache "
        "blanche*, it did not. Why?",
        answers=[
            (
                "The vector at *cow* never matters for this ending",
                "With *la cheval blanche* held, the horse's vector there brought *-e* from 0.46 down to 0.01.",
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
                "Then the gender stands at the adjective or the noun, and not elsewhere",
                "On top of both they turned 16 and 6 more: they are small supports.",
            ),
            (
                "Then to change just any vectors is not enough: it matters which ones",
                "That was the control. The adjective's vector alone turned most of the cases.",
            ),
            (
                "Then the own words hold the adjective, as they did in most exchanges",
                "In most exchanges they did not: the adjective's vector alone turned 121 and 98 cases.",
            ),
        ],
        correct=1,
    ),
]
