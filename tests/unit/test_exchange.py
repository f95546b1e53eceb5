"""One part exchanged for another: a new attention is one class, put in the place of ours; nothing else is touched."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from transformer_lib.attention import MultiHeadAttention
from transformer_lib.decoding import CachedTransformer, greedy_decode
from transformer_lib.schedule import label_smoothed_loss
from transformer_lib.seq2seq import PAD_ID
from transformer_lib.teaching.later_models import (
    GroupedQueryAttention,
    RotaryAttention,
    T5Bias,
    exchange,
    with_positions,
)
from transformer_lib.transformer import Transformer, TransformerConfig

CONFIG = TransformerConfig(
    source_vocab_size=11, target_vocab_size=13, d_model=16, num_layers=2, num_heads=2, d_ff=32, dropout=0.1, max_len=40
)


def multi_query(model):
    one_group = partial(GroupedQueryAttention, groups=1)
    exchange(model.encoder, "attention", one_group)
    exchange(model.decoder, "self_attention", one_group)
    exchange(model.decoder, "cross_attention", one_group)
    return model


def relative(kind):
    def changed(model):
        with_positions(model, kind)
        for part in model.modules():
            if isinstance(part, T5Bias):  # at the start it is 0 everywhere
                nn.init.normal_(part.table)
        return model

    return changed


RELATIVE = {kind: relative(kind) for kind in ("rotary", "ALiBi", "T5's bias")}
CHANGES = {**RELATIVE, "multi-query": multi_query}


def sentences(vocab_size, lengths):
    ids = torch.randint(3, vocab_size, (len(lengths), max(lengths)))
    return ids.masked_fill(torch.arange(max(lengths)) >= torch.tensor(lengths)[:, None], PAD_ID)


@pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES)
def test_it_trains(changed):
    torch.manual_seed(0)
    model = changed(Transformer(CONFIG))
    source, target = sentences(11, [7, 5, 3]), sentences(13, [6, 6, 4])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(12):
        loss = label_smoothed_loss(model(source, target[:, :-1]), target[:, 1:], smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in model.parameters())
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] - 0.5


@pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES)
@pytest.mark.usefixtures("float64_default")
def test_cached_equals_uncached(changed):
    torch.manual_seed(0)
    model = changed(Transformer(CONFIG)).eval()
    keeping = changed(CachedTransformer(CONFIG)).eval()
    keeping.load_state_dict(model.state_dict())
    source, words = sentences(11, [7, 5]), torch.randint(3, 13, (2, 9))
    expected = model(source, words)
    state = keeping.start(source)
    pieces = [keeping.decode(piece, state) for piece in words.split([1, 3, 1, 4], dim=1)]
    assert_close(torch.cat(pieces, dim=1), expected)
    assert_close(greedy_decode(keeping, source, max_len=20), greedy_decode(model, source, max_len=20))


@pytest.mark.parametrize(
    ("changed", "moves"),
    [*((changed, False) for changed in RELATIVE.values()), (lambda model: model, True)],
    ids=[*RELATIVE, "sinusoids"],
)
@pytest.mark.usefixtures("float64_default")
def test_only_sinusoids_see_where_a_sentence_starts(changed, moves):
    """Three padded places in front move every word; its distances stay, and so do the logits that know distances alone."""
    torch.manual_seed(0)
    model = changed(Transformer(CONFIG)).eval()
    source, words = sentences(11, [6]), sentences(13, [5])
    shifted = [torch.cat([torch.full((1, 3), PAD_ID), ids], dim=1) for ids in (source, words)]
    assert torch.allclose(model(*shifted)[:, 3:], model(source, words)) != moves


@pytest.mark.usefixtures("float64_default")
def test_rotation_tells_the_order_of_words():
    torch.manual_seed(0)
    x, order = torch.randn(1, 5, 16), [4, 2, 0, 1, 3]
    for attention, sees_order in ((MultiHeadAttention(16, 2), False), (RotaryAttention(16, 2), True)):
        assert torch.allclose(attention(x[:, order], x[:, order], x[:, order]), attention(x, x, x)[:, order]) != sees_order


def test_every_other_parameter_is_the_transformers():
    """And it starts with the same weights."""
    torch.manual_seed(0)
    plain = Transformer(CONFIG).state_dict()
    for kind, changed in RELATIVE.items():
        torch.manual_seed(0)
        ours = changed(Transformer(CONFIG)).state_dict()
        assert {name for name in ours if name not in plain} == {name for name in ours if name.endswith("bias.table")}, kind
        assert all(torch.equal(ours[name], weight) for name, weight in plain.items()), kind
