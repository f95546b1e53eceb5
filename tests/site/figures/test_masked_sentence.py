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


def close(text, value):
    """Tell whether `text` is `value`, rounded; "0" is what counts not at all, and a small weight is 0.00."""
    return (value == 0) == (text == "0") and abs(float(text) - value) <= 10.0 ** -len(text.partition(".")[2]) / 2 + 1e-6


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

    def shown(name):
        return seen.figure.locator(f"g[data-cell={name}]").evaluate_all("cells => cells.map(cell => cell.textContent)")

    for name, matrix in {"scores": scores, "weights": weights}.items():
        assert all(close(*pair) for pair in zip(shown(name), matrix.flatten().tolist(), strict=True)), name
    assert shown("mask") == ["" if may else "−∞" for may in mask.flatten().tolist()]
    words, pad = torch.tensor(ids) != PAD_ID, torch.tensor(ids) == PAD_ID
    later = (weights * words * ~causal_mask(len(ids))).sum(dim=1)[words].mean().item()
    expected = [f"{value:.2f}" if value else "0" for value in (later, weights[words][:, pad].sum(dim=1).mean().item())]
    said = "Of a word's weight, {} lies on later words and {} on padding, on average."
    assert seen.figure.locator(".tl-says").inner_text().startswith(said.format(*expected))
