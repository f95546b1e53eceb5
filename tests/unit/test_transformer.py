"""The whole model against `nn.Transformer`, its promises, its tables, and how it starts."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lib.masks import assert_causal, causal_mask
from transformer_lib.seq2seq import greedy_decode
from transformer_lib.teaching.experiments.transformer import torch_transformer, torchs_count
from transformer_lib.teaching.torch_parity import compare_gradients
from transformer_lib.transformer import Transformer, TransformerConfig, flop_table, parameter_table

VOCAB = 13
NORMS = pytest.mark.parametrize("pre_norm", [False, True], ids=["post-norm", "pre-norm"])
lengths = st.integers(1, 6)


def sizes(vocab=VOCAB, **changes):
    small = {"d_model": 16, "num_layers": 2, "num_heads": 4, "d_ff": 24, "dropout": 0.0}
    return TransformerConfig(**{"source_vocab_size": vocab, "target_vocab_size": vocab, **small, **changes})


def tiny(vocab=VOCAB, dtype=torch.float64, **changes):
    return Transformer(sizes(vocab, **changes)).to(dtype)


def words(batch, seq, vocab=VOCAB):
    return torch.randint(3, vocab, (batch, seq))


def shaken(model):
    """Give all parameters other numbers, so that no bias is 0 and no norm's weight is 1."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model


# nn.Transformer


@NORMS
@settings(max_examples=12)
@given(batch=st.integers(1, 3), source=lengths, target=lengths, padded=st.booleans(), shared=st.booleans())
def test_equals_nn_transformer_with_gradients(pre_norm, batch, source, target, padded, shared):
    model = shaken(tiny(pre_norm=pre_norm, shared_vocabulary=shared))
    source, target_in = words(batch, source), words(batch, target)
    if padded:
        source[0, 1:], target_in[-1, 1:] = 0, 0
    ours, (theirs, stacks) = model(source, target_in), torch_transformer(model, source, target_in)
    assert_close(ours, theirs)

    upstream = torch.randn_like(ours)
    # Each row of the embeddings is an input: their gradients are the inputs' gradients.
    ends = [parameter for name, parameter in model.named_parameters() if not name.startswith(("encoder", "decoder"))]
    assert_close(*(torch.autograd.grad(output, ends, upstream, retain_graph=True) for output in (ours, theirs)))
    ours.backward(upstream)
    theirs.backward(upstream)
    for mine, its in compare_gradients(model, stacks):
        assert_close(mine, its)


# What the model promises


@NORMS
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_a_later_word_moves_no_earlier_output(pre_norm, positions):
    """In training and in evaluation mode, with dropout."""
    model = tiny(pre_norm=pre_norm, positions=positions, max_len=9, dropout=0.1)
    source, target_in = words(3, 5), words(3, 6)
    assert_causal(model, target_in, run=lambda target_in: model(source, target_in))


@given(source=lengths, target=lengths, more=st.integers(1, 3))
@settings(max_examples=15)
def test_padding_on_the_right_moves_no_real_word(source, target, more):
    model = tiny()
    source, target_in = words(2, source), words(2, target)
    with torch.no_grad():
        padded = model(F.pad(source, (0, more)), F.pad(target_in, (0, more + 1)))
        assert_close(padded[:, : target_in.size(1)], model(source, target_in))


def test_padding_on_the_left_moves_only_the_positions():
    model = tiny()
    source, target_in = words(2, 4), words(2, 3)
    left_source, left_target = F.pad(source, (2, 0)), F.pad(target_in, (3, 0))
    with torch.no_grad():
        left = model(left_source, left_target)[:, 3:]
        assert left.isfinite().all()
        # Without padding, but with the words at the places that the padding has pushed them to.
        memory = model.encoder(model.positional_encoding(model.source_embedding(source), offset=2))
        x = model.positional_encoding(model.target_embedding(target_in), offset=3)
        assert_close(left, model.output(model.decoder(x, memory, causal_mask(3))))
        model.source_embedding.weight[0] += 100
        model.target_embedding.weight[0] -= 100
        assert_close(model(left_source, left_target)[:, 3:], left)


def test_one_batch_is_learned_and_written_freely():
    """A shift that is off by one would give a low loss here, too, but not these words."""
    torch.manual_seed(0)
    model, source = tiny(dtype=torch.float32, d_model=32), words(3, 5)
    answer = torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0], [9, 9, 2, 0]])
    target_in = F.pad(answer[:, :-1], (1, 0), value=1)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(150):
        loss = F.cross_entropy(model(source, target_in).flatten(0, 1), answer.flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert greedy_decode(model, source, max_len=4).equal(answer)


def test_dropout_only_where_the_paper_has_it():
    model = tiny(dropout=0.1)
    assert {m.p for m in model.modules() if isinstance(m, nn.Dropout)} == {0.1}
    learned = tiny(positions="learned", max_len=7, dropout=1 - 1e-9, vocab=5).train()
    assert learned.positional_encoding(torch.ones(1, 7, 16, dtype=torch.float64)).count_nonzero() == 0


def test_each_matrix_starts_by_glorots_rule():
    model = tiny(d_model=32, d_ff=64)
    for name, parameter in [*model.encoder.named_parameters(), *model.decoder.named_parameters()]:
        if parameter.ndim == 2:
            bound = math.sqrt(6 / sum(parameter.shape))
            assert 0.95 * bound < parameter.abs().max() <= bound, name


def test_one_matrix_survives_loading_and_moving():
    model, other = tiny(shared_vocabulary=True), tiny(shared_vocabulary=True)
    model.load_state_dict(other.state_dict())
    assert_close(model.output.weight, other.output.weight)
    model.to(torch.float32)
    model(words(2, 3), words(2, 4)).square().mean().backward()
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    assert model.output.weight is model.source_embedding.weight is model.target_embedding.weight
    untied = tiny()
    assert untied.output.weight is not untied.target_embedding.weight is not untied.source_embedding.weight


@pytest.mark.parametrize("shared", [True, False])
def test_first_loss_is_within_a_tenth_of_log_v(shared, vocab=1000):
    torch.manual_seed(0)
    model = tiny(vocab, torch.float32, d_model=64, shared_vocabulary=shared)
    logits = model(words(16, 12, vocab), words(16, 12, vocab))
    loss = F.cross_entropy(logits.flatten(0, 1), words(16, 12, vocab).flatten()).item()
    assert 0.99 * math.log(vocab) < loss < 1.1 * math.log(vocab)


def test_the_papers_sizes():
    assert sum(parameter_table(TransformerConfig.base()).values()) == 63_082_496
    for config, expected in [(TransformerConfig.base(), (512, 8, 2048, 0.1)), (TransformerConfig.big(), (1024, 16, 4096, 0.3))]:
        assert (config.d_model, config.num_heads, config.d_ff, config.dropout) == expected
        assert (config.num_layers, config.source_vocab_size, config.shared_vocabulary) == (6, 37_000, True)
    tiny = TransformerConfig.tiny(13, 17)
    assert (tiny.source_vocab_size, tiny.target_vocab_size, tiny.d_model) == (13, 17, 64)


TIED = {"shared_vocabulary": True, "pre_norm": True, "positions": "learned", "max_len": 11}


@pytest.mark.parametrize("changes", [{}, {"d_ff": 40, "num_layers": 1, "target_vocab_size": 17}, TIED])
@pytest.mark.parametrize(("source", "target"), [(5, 5), (2, 9), (7, 1)])
def test_the_tables_count_every_parameter_and_product(changes, source, target):
    model = tiny(**changes)
    assert sum(parameter_table(model.config).values()) == sum(parameter.numel() for parameter in model.parameters())
    assert torchs_count(model.config, source, target) == sum(flop_table(model.config, source, target).values())


IDS = torch.ones(2, 4, dtype=torch.long)
WRONG_INPUT = {
    "source must hold ids in 0 … 12, but its ids lie in 13 … 13": (IDS + 12, IDS),
    r"source must hold token ids .*shape \(batch, seq\), .* \(4,\)": (IDS[0], IDS),
    "source needs 6 positions, but there are 5": (words(2, 6), IDS),
    "the target needs 6 positions, but there are 5": (IDS, words(2, 6)),
}


@pytest.mark.parametrize(("message", "given"), WRONG_INPUT.items(), ids=WRONG_INPUT)
def test_wrong_input_says_what_came(message, given, as_a_user_calls_it):
    with pytest.raises(ValueError, match=message):
        tiny(max_len=5)(*given)
