"""One part exchanged for another: a new attention is one class, put in the place of ours; nothing else is touched."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from transformer_lib.decoding import CachedTransformer, greedy_decode
from transformer_lib.seq2seq import PAD_ID
from transformer_lib.teaching.later_models import (
    T5Bias,
    with_positions,
)
from transformer_lib.transformer import Transformer, TransformerConfig

CONFIG = TransformerConfig(
    source_vocab_size=11, target_vocab_size=13, d_model=16, num_layers=2, num_heads=2, d_ff=32, dropout=0.1, max_len=40
)


def relative(kind):
    def changed(model):
        with_positions(model, kind)
        for part in model.modules():
            if isinstance(part, T5Bias):  # at the start it is 0 everywhere
                nn.init.normal_(part.table)
        return model

    return changed


RELATIVE = {kind: relative(kind) for kind in ("rotary", "ALiBi", "T5's bias")}


def sentences(vocab_size, lengths):
    ids = torch.randint(3, vocab_size, (len(lengths), max(lengths)))
    return ids.masked_fill(torch.arange(max(lengths)) >= torch.tensor(lengths)[:, None], PAD_ID)


@pytest.mark.parametrize("changed", RELATIVE.values(), ids=RELATIVE)
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
