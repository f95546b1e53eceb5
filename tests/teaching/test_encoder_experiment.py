"""The layer whose parts can be switched off, and what chapter 7 asks of it."""

import itertools
import math
from functools import partial

import pytest
import torch
from torch.testing import assert_close

from transformer_lib.encoder import EncoderLayer, TransformerConfig
from transformer_lib.teaching.experiments.encoder import (
    D_FF,
    D_MODEL,
    NUM_HEADS,
    VARIANTS,
    AblatedLayer,
    difference,
    differences_by_depth,
    floor_when_alike,
    train_to_say,
)

X = torch.randn(2, 5, D_MODEL)


def test_each_switch_is_the_part_it_names():
    torch.manual_seed(0)
    layer = AblatedLayer()
    attended = layer.attention(X, X, X)
    assert_close(layer(X), attended)
    layer.add = True
    assert_close(layer(X), X + attended)
    normed = AblatedLayer(add=True, norm=True)
    normed.attention.load_state_dict(layer.attention.state_dict())
    assert_close(normed(X), torch.nn.functional.layer_norm(X + attended, (D_MODEL,)))


def test_everything_on_is_an_encoder_layer():
    ours = AblatedLayer(**VARIANTS["full layer"])
    layer = EncoderLayer(TransformerConfig(d_model=D_MODEL, num_heads=NUM_HEADS, d_ff=D_FF, dropout=0.0))
    layer.attention.load_state_dict(ours.attention.state_dict())
    layer.feed_forward.load_state_dict(ours.feed_forward.state_dict())
    assert_close(layer(X), ours(X))


def test_the_larger_start_is_larger():
    weight = AblatedLayer(start=2.0).attention.query_projection.weight
    assert weight.std().item() == pytest.approx(2 / math.sqrt(D_MODEL), rel=0.15)
    assert AblatedLayer().attention.query_projection.weight.std().item() == pytest.approx(1 / math.sqrt(3 * D_MODEL), rel=0.15)


def test_difference_is_zero_for_equal_tokens_and_one_around_zero():
    assert difference(torch.ones(1, 4, D_MODEL)) == pytest.approx(0, abs=1e-6)
    opposite = torch.cat([torch.ones(1, 1, 3), -torch.ones(1, 1, 3)], dim=1)
    assert difference(opposite) == pytest.approx(1)


def test_differences_start_before_the_first_layer():
    found = differences_by_depth(partial(AblatedLayer, add=True), seed=1, depth=2)
    assert len(found) == 3 and 0.9 < found[0] < 1
    assert found == differences_by_depth(partial(AblatedLayer, add=True), seed=1, depth=2)
    assert found != differences_by_depth(partial(AblatedLayer, add=True), seed=2, depth=2)


def test_the_floor_is_the_mean_over_all_sentences():
    """Counted over all sentences of three tokens out of two: the entropy of each sentence's own tokens."""
    sentences = list(itertools.product(range(2), repeat=3))
    total = 0.0
    for sentence in sentences:
        shares = [sentence.count(token) / 3 for token in set(sentence)]
        total += -sum(share * math.log(share) for share in shares)
    assert floor_when_alike(tokens=2, places=3) == pytest.approx(total / len(sentences))
    assert floor_when_alike() == pytest.approx(1.649, abs=1e-3)


def test_a_sum_learns_to_name_the_token():
    """And a run is repeated by its seed, with sentences of its own."""
    run = partial(train_to_say, partial(AblatedLayer, add=True), steps=60, depth=1)
    losses = run(0)
    assert len(losses) == 60 and losses[-1] < 0.5 * losses[0]
    assert run(0) == losses
    assert run(1)[0] != losses[0]
