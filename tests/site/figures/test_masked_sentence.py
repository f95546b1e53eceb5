"""The figure's matrices are the library's, for the translator's own weights; its words and its complaints."""

import math
import re

import pytest
import torch

from transformer_lib.attention import attention_weights, split_heads
from transformer_lib.masks import causal_mask, padding_mask
from transformer_lib.seq2seq import PAD_ID, SOS_ID
from transformer_lib.teaching.figures import live
from transformer_lib.translation import pretrained_translator


@pytest.fixture(scope="module")
def translator():
    translator = pretrained_translator()
    translator.model.double().eval()
    return translator


@pytest.fixture(scope="module")
def first_head(translator):
    """A function from ids to the scores of the first head and its weights with a mask, both (seq, seq)."""
    model = translator.model
    attention = model.decoder.layers[0].self_attention

    @torch.no_grad()
    def compute(ids, mask):
        x = model.positional_encoding(model.target_embedding(torch.tensor([ids])))
        q, k = (
            split_heads(project(x), attention.num_heads)[0, 0]
            for project in (attention.query_projection, attention.key_projection)
        )
        scores = q @ k.T / math.sqrt(q.size(1))
        return scores, attention_weights(attention, x, x, mask)[0, 0]

    return compute


def write(seen, sentence):
    box = seen.figure.get_by_role("textbox", name="French sentence")
    box.focus()
    seen.page.keyboard.press("ControlOrMeta+a")
    seen.page.keyboard.type(sentence)
    if not sentence:
        seen.page.keyboard.press("Delete")


def says(seen):
    return seen.figure.locator(".tl-says").inner_text()


def cells(seen, name, inside):
    """What each cell of the matrix `name` holds of `inside`, in rows."""
    found = seen.figure.locator(f"g[data-cell={name}]").evaluate_all(
        "(cells, inside) => cells.map(cell => cell.querySelector(inside)?.textContent)", inside
    )
    side = math.isqrt(len(found))
    return [found[start : start + side] for start in range(0, len(found), side)]


def close(text, value):
    return value == 0 if text == "0" else abs(float(text) - value) <= 10.0 ** -len(text.partition(".")[2]) / 2 + 1e-6


@pytest.mark.parametrize("look_ahead", [False, True])
@pytest.mark.parametrize("padding", [False, True])
@pytest.mark.parametrize(("sentence", "pads", "side"), [("je suis étudiant", 2, 0), ("ma soeur ne cherche PAS", 1, 1)])
def test_scores_mask_and_weights_are_those_of_the_library(
    touch, slide, choose, translator, first_head, sentence, pads, side, padding, look_ahead
):
    seen = touch(live.masked_sentence())
    write(seen, sentence)
    slide(seen, "places of padding", pads)
    choose(seen, "padding at the", side)
    for label, on in {"padding mask": padding, "causal mask": look_ahead}.items():
        if on:
            seen.figure.get_by_role("checkbox", name=label).press("Space")

    words = [SOS_ID, *translator.tokenizer.encode(sentence.lower().replace("oe", "œ"))]
    ids = [*words, *[PAD_ID] * pads] if side == 0 else [*[PAD_ID] * pads, *words]
    mask = torch.ones(len(ids), len(ids), dtype=torch.bool)
    if padding:
        mask = mask & padding_mask(torch.tensor([ids]))[0, 0]
    if look_ahead:
        mask = mask & causal_mask(len(ids))
    scores, weights = first_head(ids, mask)

    for name, matrix in {"scores": scores, "weights": weights}.items():
        shown = cells(seen, name, "text")
        assert len(shown) == len(ids)
        for texts, row in zip(shown, matrix.tolist(), strict=True):
            assert [(text, value) for text, value in zip(texts, row, strict=True) if not close(text, value)] == [], name
    hidden = (~mask).tolist()
    for name in ("mask", "weights"):  # what counts not at all is hatched, and a small weight is not
        assert [[cell is not None for cell in row] for row in cells(seen, name, "path")] == hidden
    assert [[cell == "−∞" for cell in row] for row in cells(seen, "mask", "text")] == hidden

    for query, key in [(0, len(ids) - 1), (len(ids) - 2, 1)]:
        choose(seen, "query", query)
        choose(seen, "key", key)
        first, rest = says(seen).split(". ", 1)
        *score, weight = first.partition(": score ")[2].replace("−", "-").split(" → ")
        shown, comma, note = score[0].partition(", ")
        assert close(shown, scores[query, key].item())
        assert [comma + note, *score[1:]] == ([", not masked"] if mask[query, key] else ["", "masked -∞"])
        assert close(weight.removeprefix("weight "), weights[query, key].item())
        row, real = weights[query], torch.tensor(ids) != PAD_ID
        if mask[query].any():
            told = re.match(r".* (\S+) lies on later words, (\S+) on itself and earlier words, (\S+) on padding\.", rest)
            after = torch.arange(len(ids)) > query
            for text, counted in zip(told.groups(), (after & real, ~after & real, ~real), strict=True):
                assert close(text, row[counted].sum().item())
        else:
            assert rest.startswith("This query may look at nothing.")
        assert rest.endswith("so its scores change too.") == (side == 1 and pads > 0)
    assert seen.complaints == []
