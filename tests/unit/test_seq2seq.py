"""Chapter 01: encoder and decoder against torch's layers, and the loop that writes."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import pad
from torch.testing import assert_close

from transformer_lib.seq2seq import PAD_ID, Seq2Seq, generate, greedy_decode

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


def test_a_finished_sentence_stays_finished():
    """While the others go on it gets padding, whatever is chosen; and the loop ends with the last sentence."""
    chosen = iter(torch.tensor([[5, 2, 7, 8, 2], [6, 7, 8, 2, 3], [2, 2, 2, 2, 2]]).T)
    written = generate(make(), torch.full((3, 2), 3), 9, lambda logits: next(chosen))
    assert written.tolist() == [[5, 2, 0, 0], [6, 7, 8, 2], [2, 0, 0, 0]]


def test_padding_and_sos_are_never_written():
    model = make()
    with torch.no_grad():
        model.decoder.output.bias[:2] = 1e6
    assert greedy_decode(model, SOURCE, max_len=4).min() >= 2


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
