"""The quiz of chapter 15."""

from transformer_lib.teaching.quiz import Question

QUESTIONS = [
    Question(
        "In the memory of *the white cow is tired*, the vector at *white* is patched with the horse's. What is written?",
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
                "*la vache blanc*, because only the adjective was patched",
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
                "Models A and B were such a pair. One patch told them apart.",
            ),
            (
                "Both mostly at the largest weight of the row, from which most is taken",
                "Model B took nothing from there that has to do with gender.",
            ),
            (
                "One perhaps in its vectors, the other in its parameters: the sums can be equal",
                "The parameters are the same for the cow and the horse: what differs must be in the vectors.",
            ),
        ],
        correct=0,
    ),
    Question(
        "The horse's vector at *cow* turned *fatiguée* into *fatigué*. With the prefix *la vache blanche est fatigué* "
        "forced, it did not. Why?",
        answers=[
            (
                "The vector at *cow* never matters for this ending",
                "With *la cheval blanche* forced, the horse's vector there brought *-e* from 0.46 down to 0.01.",
            ),
            (
                "Unforced, the patch also made the decoder write, and read, *cheval*",
                "Two things had changed; only both together turned the word.",
            ),
            (
                "Unforced, the patch also made the decoder write, and read, *blanc*",
                "The adjective kept the cow's ending: *la cheval blanche est fatigué*.",
            ),
        ],
        correct=1,
    ),
    Question(
        "All vectors *but* those of adjective and noun were patched, and no adjective turned. What follows?",
        answers=[
            (
                "Then the gender stands at the adjective or the noun, and not elsewhere",
                "A vector that turns little alone can hold a part: with the noun's, the adjective's turned 18 and 40 more.",
            ),
            (
                "Then to change just any vectors is not enough: it matters which ones",
                "That was the control. The adjective's vector alone turned most of the cases.",
            ),
            (
                "Then the prefix holds the adjective, as it did in most cases",
                "In most cases it did not: the adjective's vector alone turned 121 and 98 cases.",
            ),
        ],
        correct=1,
    ),
    Question(
        "Patched at *white* after layer 1, *blanche* stays; after layer 2, it turns. Where did *white* get the gender?",
        answers=[
            (
                "In the feed-forward network of layer 2, which changes every token's vector",
                "It works on each token alone, so nothing of *cow* can come from it.",
            ),
            ("In the self-attention of layer 2", "It is the only step between the two patches in which tokens meet."),
            ("In the decoder's cross-attention", "Both patches are made before the decoder has looked at anything."),
        ],
        correct=1,
    ),
]
