"""`start`, `decode`, `reorder`: one promise, held to every model of the course that writes.

However the words come into a state, the logits are those of one call with all words. In float64.
"""

import math

import pytest
import torch
from torch import nn
from torch.nn.functional import pad
from torch.testing import assert_close

from transformer_lib.alignment import AttentionSeq2Seq
from transformer_lib.decoding import CachedTransformer, beam_search, sample_decode
from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID, AutoregressiveModel, DecoderState, Seq2Seq, greedy_decode
from transformer_lib.teaching.experiments.alignment import looking_first
from transformer_lib.transformer import Transformer, TransformerConfig

VOCAB, MAX_LEN = 11, 12


def transformer(kind, **changes):
    sizes = {"d_model": 8, "num_layers": 2, "num_heads": 2, "d_ff": 12, "max_len": MAX_LEN, "dropout": 0.1}
    return kind(TransformerConfig(source_vocab_size=VOCAB, target_vocab_size=VOCAB, **sizes, **changes))


def recurrent(kind, **changes):
    return kind(VOCAB, VOCAB, d_model=6, hidden_size=5, **changes)


MODELS = {
    "seq2seq-gru": lambda: recurrent(Seq2Seq),
    "seq2seq-lstm": lambda: recurrent(Seq2Seq, layer=nn.LSTM),
    "attention": lambda: recurrent(AttentionSeq2Seq),
    "attention-first": lambda: looking_first(recurrent(AttentionSeq2Seq)),
    "transformer": lambda: transformer(Transformer),
    "transformer-pre-norm": lambda: transformer(Transformer, pre_norm=True),
    "transformer-learned": lambda: transformer(Transformer, positions="learned"),
    "cached": lambda: transformer(CachedTransformer),
    "cached-pre-norm": lambda: transformer(CachedTransformer, pre_norm=True),
    "cached-learned": lambda: transformer(CachedTransformer, positions="learned"),
}

SOURCE = torch.tensor([[3, 4, 5, 6], [7, 8, 0, 0], [9, 10, 3, 0]])
RIGHT_PADDED = torch.tensor([[1, 4, 5, 6, 7, 8, 3], [1, 4, 5, 0, 0, 0, 0], [1, 8, 7, 6, 5, 0, 0]])
LEFT_PADDED = torch.tensor([[1, 4, 5, 6, 7, 8, 3], [0, 0, 0, 0, 1, 4, 5], [0, 0, 1, 8, 7, 6, 5]])


@pytest.fixture(params=MODELS)
def model(request):
    torch.manual_seed(0)
    return MODELS[request.param]().double().eval()


def all_at_once(model, source, words):
    """The logits of one call; those of the model with a cache come from the model without one."""
    if isinstance(model, CachedTransformer):
        plain = Transformer(model.config).double().eval()
        plain.load_state_dict(model.state_dict())
        model = plain
    return model.decode(words, model.start(source))


def in_pieces(model, source, words, pieces):
    state = model.start(source)
    return torch.cat([model.decode(piece, state) for piece in words.split(pieces, dim=1)], dim=1)


@pytest.mark.parametrize("words", [RIGHT_PADDED, LEFT_PADDED], ids=["right-padded", "left-padded"])
def test_words_in_pieces(model, words):
    """One by one, several at once, padding in front or behind: the logits of one call with all words."""
    expected = all_at_once(model, SOURCE, words)
    for pieces in ([1] * 7, [3, 1, 2, 1], [2, 2, 3], [6, 1]):  # with padding in front, a piece may hold no word
        assert_close(in_pieces(model, SOURCE, words, pieces), expected, msg=lambda text, pieces=pieces: f"{pieces}: {text}")


def test_pieces_give_the_gradients_of_one_call(model):
    upstream = torch.randn(3, 7, VOCAB, dtype=torch.float64)
    parameters = list(model.parameters())
    whole, pieces = model(SOURCE, RIGHT_PADDED), in_pieces(model, SOURCE, RIGHT_PADDED, [1, 4, 2])
    assert_close(pieces, whole)
    assert_close(*(torch.autograd.grad(logits, parameters, upstream) for logits in (pieces, whole)))


def test_a_state_starts_empty_and_then_remembers(model):
    """The state of no words is used as any other, at the first step already; `reorder` works on it too."""
    rows = torch.tensor([2, 0, 0])
    expected = all_at_once(model, SOURCE[rows], RIGHT_PADDED)
    state = model.start(SOURCE)
    state.reorder(rows)
    assert_close(model.decode(RIGHT_PADDED[:, :1], state), expected[:, :1])
    assert_close(model.decode(RIGHT_PADDED[:, 1:2], state), expected[:, 1:2])
    forgetful = model.decode(RIGHT_PADDED[:, 1:2], model.start(SOURCE[rows]))
    assert (forgetful - expected[:, 1:2]).abs().max() > 1e-3, "the first word must matter"


@pytest.mark.parametrize("words", [RIGHT_PADDED, LEFT_PADDED], ids=["right-padded", "left-padded"])
@pytest.mark.parametrize("rows", [[2, 0, 1], [1, 1, 0, 0, 0, 2], [0, 2]], ids=["another order", "repeat", "drop"])
def test_reorder(model, rows, words):
    """After some words the sentences are reordered, repeated and dropped; then others go on."""
    rows = torch.tensor(rows)
    state = model.start(SOURCE)
    model.decode(words[:, :4], state)
    state.reorder(rows)
    others = torch.arange(3, 3 + 2 * len(rows)).remainder(VOCAB - 3).add(3).view(-1, 2)
    expected = all_at_once(model, SOURCE[rows], torch.cat([words[rows, :4], others], dim=1))[:, 4:]
    assert_close(model.decode(others, state), expected)
    state.reorder(torch.tensor([len(rows) - 1]))
    words = torch.cat([words[rows, :4], others, others[:, :1]], dim=1)[-1:]
    assert_close(model.decode(words[:, -1:], state), all_at_once(model, SOURCE[rows][-1:], words)[:, -1:])


def test_two_states_do_not_mix(model):
    first, second = model.start(SOURCE), model.start(SOURCE.flip(0))
    logits = []
    for one, other in zip(RIGHT_PADDED[:, :3].split(1, dim=1), LEFT_PADDED[:, :3].split(1, dim=1), strict=True):
        logits.append(model.decode(one, first))
        model.decode(other, second)
    assert_close(torch.cat(logits, dim=1), all_at_once(model, SOURCE, RIGHT_PADDED[:, :3]))


def test_greedy_writes_the_best_word_each_time(model):
    """What is generated, read back in one call, has each next word as its best; no model writes padding or SOS."""
    generated = greedy_decode(model, SOURCE, MAX_LEN)
    logits = all_at_once(model, SOURCE, pad(generated[:, :-1], (1, 0), value=SOS_ID))
    logits[:, :, [PAD_ID, SOS_ID]] = -math.inf
    ended = (generated == EOS_ID).long()
    real = ended.cumsum(dim=1) - ended == 0  # up to EOS, with it
    assert torch.equal(logits.argmax(dim=-1)[real], generated[real])
    assert not generated[~real].any()


def test_a_beam_of_one_is_greedy(model):
    source = torch.randint(3, VOCAB, (8, 5))
    for alpha in (0.0, 0.6):
        assert torch.equal(beam_search(model, source, 8, beam_size=1, alpha=alpha), greedy_decode(model, source, 8))


def sample(model, source, max_len):
    return sample_decode(model, source, max_len, generator=torch.Generator().manual_seed(0))


WRITERS = pytest.mark.parametrize("write", [greedy_decode, sample, beam_search], ids=["greedy", "sample", "beam"])


@WRITERS
def test_each_part_gets_its_mode_back(model, write):
    """It writes in evaluation mode, without gradients; a part that was frozen stays frozen."""
    expected = write(model, SOURCE, 6)
    model.train()
    model.encoder.eval()
    modes = [part.training for part in model.modules()]
    during = set()
    watch = lambda part, given, result: during.add((part, part.training, torch.is_grad_enabled()))
    for part in model.modules():
        part.register_forward_hook(watch)
    assert torch.equal(write(model, SOURCE, 6), expected), "no dropout"
    assert [part.training for part in model.modules()] == modes
    assert len(during) > 3
    assert not any(training or with_gradients for _, training, with_gradients in during)


@WRITERS
def test_broken_weights_are_refused(model, write):
    """NaN has no best word; and the modes come back all the same."""
    model.train()
    with torch.no_grad():
        next(parameter for name, parameter in model.named_parameters() if "decoder" in name)[:] = math.nan
    with pytest.raises(ValueError, match="the model's scores are NaN: its weights are broken"):
        write(model, SOURCE, 6)
    assert all(part.training for part in model.modules())


def test_every_model_has_the_protocol(model):
    assert isinstance(model, AutoregressiveModel)
    assert isinstance(model.start(SOURCE), DecoderState)
    assert not isinstance(model.encoder, AutoregressiveModel)


@WRITERS
def test_max_len_limits(model, write, as_a_user_calls_it):
    assert write(model, SOURCE, 1).size(1) == 1
    with pytest.raises(ValueError, match="max_len must be .*, but it is 0"):
        write(model, SOURCE, 0)
    if math.isfinite(model.max_len):
        with pytest.raises(ValueError, match="max_len must be .*, but it is 13"):
            write(model, SOURCE, MAX_LEN + 1)


def test_a_refused_call_leaves_the_state(model, as_a_user_calls_it):
    state = model.start(SOURCE)
    model.decode(RIGHT_PADDED[:, :2], state)
    with pytest.raises(ValueError, match="must hold ids in 0 … 10, but its ids lie in 11 … 11"):
        model.decode(torch.full((3, 1), VOCAB), state)
    if math.isfinite(model.max_len):
        with pytest.raises(ValueError, match="the target needs 13 positions, but there are 12"):
            model.decode(torch.full((3, MAX_LEN - 1), 5), state)
    assert_close(model.decode(RIGHT_PADDED[:, 2:3], state), all_at_once(model, SOURCE, RIGHT_PADDED[:, :3])[:, 2:])
