"""Chapter 01: encoder and decoder against loops and torch's layers, and the loop that writes."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import cross_entropy, pad
from torch.testing import assert_close

from transformer_lib.seq2seq import (
    PAD_ID,
    Seq2Seq,
    greedy_decode,
)

SOURCE_VOCAB, TARGET_VOCAB, D_MODEL, HIDDEN = 9, 11, 6, 5

sizes = st.integers(1, 4)
lengths = st.lists(st.integers(1, 6), min_size=1, max_size=4)
layers = st.sampled_from([nn.GRU, nn.LSTM, nn.RNN])


def make(layer=nn.GRU):
    return Seq2Seq(SOURCE_VOCAB, TARGET_VOCAB, d_model=D_MODEL, hidden_size=HIDDEN, layer=layer).double()


def sentences(lengths, vocab):
    """Return `(batch, longest)`: rows of the given lengths, filled up with padding."""
    rows = [torch.randint(3, vocab, (length,)) for length in lengths]
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=PAD_ID)


def parts(state):
    """Return the tensors of a state, be it one or a pair."""
    return list(state) if isinstance(state, tuple) else [state]


@settings(max_examples=25)
@given(lengths=lengths, target=sizes, layer=layers)
def test_a_padded_batch_equals_torch_row_by_row(lengths, target, layer):
    """Forward and all gradients: the naive version takes one sentence at a time and never sees padding."""
    ours, theirs = make(layer), make(layer)
    theirs.load_state_dict(ours.state_dict())
    source, target_in = sentences(lengths, SOURCE_VOCAB), sentences([target] * len(lengths), TARGET_VOCAB)
    encoder, decoder = theirs.encoder, theirs.decoder

    logits = ours(source, target_in)
    rows = []
    for row, length in enumerate(lengths):
        _, state = encoder.layer(encoder.embedding(source[[row], :length]))
        outputs, _ = decoder.layer(decoder.embedding(target_in[[row]]), state)
        rows.append(decoder.output(outputs))
    expected = torch.cat(rows)
    assert_close(logits, expected)

    upstream = torch.randn_like(logits)
    logits.backward(upstream)
    expected.backward(upstream)
    for (name, parameter), their_parameter in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        assert_close(parameter.grad, their_parameter.grad, msg=lambda text, name=name: f"{name}: {text}")


@settings(max_examples=25)
@given(lengths=lengths, target=sizes)
def test_equals_a_loop_over_the_words(lengths, target):
    """Forward and the embeddings' gradients, with one cell call for each word."""
    model = make()

    def as_cell(layer):
        cell = nn.GRUCell(layer.input_size, layer.hidden_size).double()
        cell.load_state_dict({name.removesuffix("_l0"): value for name, value in layer.state_dict().items()})
        return cell

    read, write = as_cell(model.encoder.layer), as_cell(model.decoder.layer)
    source, target_in = sentences(lengths, SOURCE_VOCAB), sentences([target] * len(lengths), TARGET_VOCAB)
    expected = []
    for english, french in zip(source, target_in, strict=True):
        state = torch.zeros(HIDDEN, dtype=torch.float64)
        for word in english[english != PAD_ID]:
            state = read(model.encoder.embedding.weight[word], state)
        for word in french:
            state = write(model.decoder.embedding.weight[word], state)
            expected.append(model.decoder.output.weight @ state + model.decoder.output.bias)
    logits, expected = model(source, target_in), torch.stack(expected).view(len(lengths), target, TARGET_VOCAB)
    assert_close(logits, expected)

    tables = [model.encoder.embedding.weight, model.decoder.embedding.weight, model.decoder.output.weight]
    upstream = torch.randn_like(logits)
    assert_close(torch.autograd.grad(logits, tables, upstream), torch.autograd.grad(expected, tables, upstream))


@settings(max_examples=25)
@given(lengths=lengths, extra=st.integers(1, 7), layer=layers)
def test_padding_moves_nothing(lengths, extra, layer):
    encoder = make(layer).encoder
    source = sentences(lengths, SOURCE_VOCAB)
    outputs, state = encoder(source)
    wider, state_of_wider = encoder(pad(source, (0, extra), value=PAD_ID))
    for part, part_of_wider in zip(parts(state), parts(state_of_wider), strict=True):
        assert_close(part_of_wider, part, rtol=0, atol=0)
    assert_close(wider[:, : source.size(1)], outputs, rtol=0, atol=0)
    assert not wider[:, source.size(1) :].any()
    assert not outputs[source == PAD_ID].any()

    sum(part.sum() for part in parts(state_of_wider)).backward()
    assert not encoder.embedding.weight.grad[PAD_ID].any()


def test_earlier_words_do_not_see_later_ones():
    model = make()
    source, target_in = sentences([4, 2], SOURCE_VOCAB), sentences([5, 5], TARGET_VOCAB)
    changed = target_in.clone()
    changed[:, 3] = 3 + (changed[:, 3] - 2) % (TARGET_VOCAB - 3)
    before, after = model(source, target_in), model(source, changed)
    assert_close(after[:, :3], before[:, :3], rtol=0, atol=0)
    assert not torch.equal(after[:, 3], before[:, 3])


def test_encoder_and_decoder_share_no_weights():
    model = make()
    assert not torch.equal(model.encoder.layer.weight_hh_l0, model.decoder.layer.weight_hh_l0)


# Three sources of different length, and three answers, one of them longer and one shorter than its source.
BATCH = torch.tensor([[3, 4, 5, 6], [4, 7, 0, 0], [8, 0, 0, 0]])
BATCH_IN = torch.tensor([[1, 7, 8, 0, 0], [1, 9, 3, 4, 5], [1, 6, 0, 0, 0]])
BATCH_OUT = torch.tensor([[7, 8, 2, 0, 0], [9, 3, 4, 5, 2], [6, 2, 0, 0, 0]])


def test_a_batch_learned_by_heart_comes_back():
    """Written freely, not read: a shift by one would show."""
    torch.manual_seed(0)
    model = Seq2Seq(SOURCE_VOCAB, TARGET_VOCAB, d_model=16, hidden_size=32)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(60):
        loss = cross_entropy(model(BATCH, BATCH_IN).flatten(0, 1), BATCH_OUT.flatten(), ignore_index=PAD_ID)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.05
    assert torch.equal(greedy_decode(model, BATCH, max_len=5), BATCH_OUT)


class Position:
    """The state of `ByTable`: how many words are written."""

    position = 0

    def reorder(self, rows):
        """Which words come depends on the place alone."""


class ByTable(nn.Module):
    """Writes `table[sentence][position]`."""

    max_len = math.inf

    def __init__(self, table):
        super().__init__()
        self.table = table

    def start(self, source):
        return Position()

    def decode(self, tokens, state):
        wanted = torch.tensor([row[state.position] for row in self.table])
        state.position += 1
        return nn.functional.one_hot(wanted, TARGET_VOCAB).double().unsqueeze(1)


def test_a_finished_sentence_stays_finished():
    """While the others go on it gets padding, whatever the model says; and the loop ends with the last sentence."""
    model = ByTable([[5, 2, 7, 8, 2], [6, 7, 8, 2, 3], [2, 2, 2, 2, 2]])
    written = greedy_decode(model, torch.full((3, 2), 3), max_len=9)
    assert written.tolist() == [[5, 2, 0, 0], [6, 7, 8, 2], [2, 0, 0, 0]]


SOURCE, TARGET = torch.tensor([[3, 4], [5, 0]]), torch.tensor([[1, 3, 4], [1, 5, 0]])
WRONG_INPUTS = {
    "unknown source word": (SOURCE + 5, TARGET, "source must hold ids in 0 … 8, .* 5 … 10"),
    "unknown target word": (SOURCE, TARGET + 7, "tokens must hold ids in 0 … 10, .* 7 … 12"),
    "nothing to read": (SOURCE[:, :0], TARGET, "source must hold token ids"),
    "padding before a word": (SOURCE.flip(1), TARGET, "row of source must start with a word, but row 1"),
    "padding before a target word": (SOURCE, TARGET.flip(1), "row of target_in must start with a word, but row 1"),
}


@pytest.mark.parametrize(("source", "target_in", "message"), WRONG_INPUTS.values(), ids=WRONG_INPUTS.keys())
def test_wrong_input(source, target_in, message, as_a_user_calls_it):
    with pytest.raises(ValueError, match=message):
        make()(source, target_in)
