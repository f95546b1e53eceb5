"""The figure's matrices are the library's, for the translator's own weights."""

import math

import pytest
import torch

from transformer_lib.attention import split_heads
from transformer_lib.masks import causal_mask, padding_mask
from transformer_lib.seq2seq import PAD_ID, SOS_ID
from transformer_lib.teaching.figures import live
from transformer_lib.translation import pretrained_translator

CASES = [
    ("je suis étudiant", 2, 0, True, True),
    ("je suis étudiant", 2, 0, False, False),
    ("ma soeur ne cherche PAS", 1, 1, True, False),
    ("ma soeur ne cherche PAS", 1, 1, False, True),
]


def cells(seen, name, inside):
    """What each cell of the matrix `name` holds of `inside`, in rows."""
    found = seen.figure.locator(f"g[data-cell={name}]").evaluate_all(
        "(cells, inside) => cells.map(cell => cell.querySelector(inside)?.textContent)", inside
    )
    side = math.isqrt(len(found))
    return [found[start : start + side] for start in range(0, len(found), side)]


def close(text, value):
    return value == 0 if text == "0" else abs(float(text) - value) <= 10.0 ** -len(text.partition(".")[2]) / 2 + 1e-6


@torch.no_grad()
@pytest.mark.parametrize(("sentence", "pads", "side", "padding", "causal"), CASES)
def test_scores_mask_and_weights_are_those_of_the_library(touch, slide, choose, sentence, pads, side, padding, causal):
    seen = touch(live.masked_sentence())
    seen.figure.get_by_role("textbox", name="French sentence").fill(sentence)
    slide(seen, "places of padding", pads)
    choose(seen, "padding at the", side)
    for label, on in {"padding mask": padding, "causal mask": causal}.items():
        if on:
            seen.figure.get_by_role("checkbox", name=label).press("Space")

    translator = pretrained_translator()
    model = translator.model.double().eval()
    words = [SOS_ID, *translator.tokenizer.encode(sentence.lower().replace("oe", "œ"))]
    ids = [*words, *[PAD_ID] * pads] if side == 0 else [*[PAD_ID] * pads, *words]
    mask = torch.ones(len(ids), len(ids), dtype=torch.bool)
    mask = mask & padding_mask(torch.tensor([ids]))[0, 0] if padding else mask
    mask = mask & causal_mask(len(ids)) if causal else mask
    attention = model.decoder.layers[0].self_attention
    x = model.positional_encoding(model.target_embedding(torch.tensor([ids])))
    q, k = (split_heads(part(x), attention.num_heads)[0, 0] for part in (attention.W_q, attention.W_k))
    attention(x, x, x, mask)
    scores, weights = q @ k.T / math.sqrt(q.size(1)), attention.weights[0, 0]

    for name, matrix in {"scores": scores, "weights": weights}.items():
        shown = [text for row in cells(seen, name, "text") for text in row]
        assert all(close(text, value) for text, value in zip(shown, matrix.flatten().tolist(), strict=True)), name
    hidden = (~mask).tolist()
    for name in ("mask", "weights"):  # what counts not at all is hatched, and a small weight is not
        assert [[cell is not None for cell in row] for row in cells(seen, name, "path")] == hidden
    assert [[cell == "−∞" for cell in row] for row in cells(seen, "mask", "text")] == hidden
    query, key = len(ids) - 2, 1
    choose(seen, "query", query)
    choose(seen, "key", key)
    first = seen.figure.locator(".tl-says").inner_text().split(". ", 1)[0]
    assert close(first.rpartition("weight ")[2], weights[query, key].item())
