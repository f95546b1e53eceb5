"""Where input enters, it is checked; inside a model nothing is checked again, and nothing waits for a device."""

import inspect
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
import torch
from torch import nn

from transformer_lib import _checks
from transformer_lib.attention import MultiHeadAttention
from transformer_lib.decoder import Decoder, DecoderLayer
from transformer_lib.decoding import CachedTransformer, beam_search
from transformer_lib.encoder import Encoder, EncoderLayer, FeedForward, LayerNorm
from transformer_lib.masks import causal_mask
from transformer_lib.positional_encoding import LearnedPositionalEmbedding, PositionalEncoding, sinusoidal_table
from transformer_lib.recurrent import GRUCell, LSTMCell, Recurrent, RNNCell
from transformer_lib.seq2seq import greedy_decode
from transformer_lib.training import Batch, training_step
from transformer_lib.transformer import TokenEmbedding, Transformer, TransformerConfig

VOCAB = 50
CHECKS = [check for check in vars(_checks).values() if inspect.isfunction(check) and check.__module__ == _checks.__name__]
KINDS = pytest.mark.parametrize("kind", [Transformer, CachedTransformer])
TOKENS = torch.randint(3, VOCAB, (2, 5), generator=torch.Generator().manual_seed(0))


def base(**changes):
    """The paper's base model with its 6 layers, but narrow."""
    return replace(TransformerConfig.base(VOCAB, VOCAB), d_model=8, num_heads=2, d_ff=12, **changes)


def checks_made(model, *given):
    """Return the names of the functions of `_checks` that a call of `model` calls, one after the other."""
    codes = {inspect.unwrap(check).__code__ for check in CHECKS}
    names = []

    def note(frame, event, _):
        if event == "call" and frame.f_code in codes:
            names.append(frame.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        model(*given)
    finally:
        sys.setprofile(before)
    return names


# A whole model


@KINDS
def test_a_forward_pass_is_checked_once_however_deep_the_model_is(kind):
    shallow, deep = (checks_made(kind(base(num_layers=layers)), TOKENS, TOKENS) for layers in (1, 6))
    together = {"source_and_target", "source_to_read"}  # these two check nothing themselves: they call others
    assert together <= set(deep)
    assert deep == shallow
    assert len([check for check in deep if check not in together]) <= 12, deep


def test_no_tensor_is_written_out_where_nothing_is_wrong(monkeypatch):
    """A text of a tensor takes longer than a step of a cell: only a message may need one."""

    def written_out(tensor, **_):
        raise AssertionError("a tensor was written out")

    model = CachedTransformer(base())
    monkeypatch.setattr(torch.Tensor, "__repr__", written_out)
    for cell in (RNNCell(4, 8), LSTMCell(4, 8), GRUCell(4, 8)):
        outputs, state = Recurrent(cell)(torch.randn(2, 5, 4))
        Recurrent(cell)(outputs[:, :, :4], state)
    greedy_decode(model, TOKENS, 4)
    beam_search(model, TOKENS, 4, 2)
    training_step(model, Batch(TOKENS, TOKENS, TOKENS), torch.optim.Adam(model.parameters()))


@KINDS
def test_no_check_reads_what_is_on_another_device(kind):
    """On the meta device there are shapes and no values: whoever reads one fails."""
    model = kind(base()).to("meta")
    assert model(TOKENS.to("meta"), TOKENS.to("meta")).shape == (2, 5, VOCAB)
    with pytest.raises(ValueError, match="source must hold token ids"):
        model(TOKENS.float().to("meta"), TOKENS.to("meta"))
    with pytest.raises(ValueError, match="source needs 5 positions, but there are 4"):
        kind(base(max_len=4)).to("meta")(TOKENS.to("meta"), TOKENS.to("meta"))


# A layer alone

CONFIG = base(num_layers=2, dropout=0.0)
X, MEMORY, WIDER = torch.zeros(2, 4, 8), torch.zeros(2, 3, 8), torch.zeros(2, 4, 9)
MASK, OTHER_MASK = torch.ones(4, 4, dtype=torch.bool), torch.ones(4, 9, dtype=torch.bool)
ACROSS = torch.ones(4, 3, dtype=torch.bool)
# What makes the layer, its arguments by name, and for some of them a wrong value.
LAYERS = {
    "attention": (
        lambda: MultiHeadAttention(8, 2),
        {"query": X, "key": X, "value": X, "mask": MASK},
        {"query": WIDER, "key": X[:1], "value": X[:, :, :6], "mask": MASK.float()},
    ),
    "attention, integers": (
        lambda: MultiHeadAttention(8, 2),
        {"query": X, "key": X, "value": X},
        {"query": X.long(), "key": X.bool(), "value": X.cfloat()},
    ),
    "layer norm, integers": (lambda: LayerNorm(8), {"x": X}, {"x": X.long()}),
    "feed-forward, integers": (lambda: FeedForward(8, 12), {"x": X}, {"x": X.int()}),
    "attention, values missing": (lambda: MultiHeadAttention(8, 2), {"query": X, "key": X, "value": X}, {"value": X[:, :2]}),
    "encoder layer": (lambda: EncoderLayer(CONFIG), {"x": X, "mask": MASK}, {"x": X[0], "mask": OTHER_MASK}),
    "encoder": (lambda: Encoder(CONFIG), {"x": X, "mask": MASK}, {"x": X[:, :0], "mask": OTHER_MASK}),
    "decoder layer": (
        lambda: DecoderLayer(CONFIG),
        {"x": X, "memory": MEMORY, "self_mask": MASK, "memory_mask": ACROSS},
        {"x": WIDER, "memory": MEMORY[:1], "self_mask": ACROSS, "memory_mask": MASK},
    ),
    "decoder": (
        lambda: Decoder(CONFIG),
        {"x": X, "memory": MEMORY, "self_mask": MASK, "memory_mask": ACROSS},
        {"x": X[0], "memory": MEMORY[:, :0], "self_mask": MASK.int(), "memory_mask": ACROSS.T},
    ),
    "layer norm": (lambda: LayerNorm(8), {"x": X}, {"x": WIDER}),
    "feed-forward": (lambda: FeedForward(8, 12), {"x": X}, {"x": WIDER}),
    "sinusoids": (lambda: PositionalEncoding(8, max_len=6), {"x": X, "offset": 2}, {"x": X[0], "offset": -1}),
    "sinusoids, too long": (lambda: PositionalEncoding(8, max_len=3), {"x": X[:, :2], "offset": 1}, {"x": X}),
    "learned positions": (lambda: LearnedPositionalEmbedding(8, max_len=6), {"x": X, "offset": 2}, {"x": WIDER, "offset": -1}),
    "token embedding": (lambda: TokenEmbedding(VOCAB, 8), {"tokens": TOKENS}, {"tokens": TOKENS + VOCAB}),
    "token embedding, no ids": (lambda: TokenEmbedding(VOCAB, 8), {"tokens": TOKENS}, {"tokens": X}),
    "token embedding, bytes": (lambda: TokenEmbedding(VOCAB, 8), {"tokens": TOKENS.int()}, {"tokens": TOKENS.to(torch.int8)}),
    "token embedding, short": (lambda: TokenEmbedding(VOCAB, 8), {"tokens": TOKENS}, {"tokens": TOKENS.short()}),
}
WRONG = {
    f"{name}: {argument}": (make, right, {**right, argument: value})
    for name, (make, right, wrong) in LAYERS.items()
    for argument, value in wrong.items()
}


@pytest.mark.parametrize(("make", "right", "wrong"), WRONG.values(), ids=WRONG)
def test_a_layer_alone_names_the_argument(make, right, wrong, as_a_user_calls_it):
    """Each time, and a right call goes through before and after."""
    layer = make()
    (argument,) = (name for name, value in wrong.items() if value is not right[name])
    for _ in range(2):
        layer(**right)
        with pytest.raises(ValueError, match=rf"\b{argument}s? (and \w+ )?(must|needs)\b"):
            layer(**wrong)


@pytest.mark.parametrize("number", [None, "3", 2.5])
def test_what_is_no_count_is_refused_by_name(number, as_a_user_calls_it):
    with pytest.raises(ValueError, match=r"max_len must be a whole number below 2\^63, but it is"):
        sinusoidal_table(number, 4)
    with pytest.raises(ValueError, match=r"length must be a whole number below 2\^63, but it is"):
        causal_mask(number)


# The door is open again


@pytest.fixture(params=["encoder", "whole model"])
def broken_inside(request):
    """A right call of a model whose method itself raises, whatever it is given."""

    class Broken(nn.Module):
        def forward(self, *_):
            raise RuntimeError("broken inside")

    model = Transformer(CONFIG)
    model.encoder.layers[1].feed_forward = Broken()
    return (lambda: model.encoder(X)) if request.param == "encoder" else (lambda: model(TOKENS, TOKENS))


def test_after_an_error_inside_wrong_input_is_refused_again(broken_inside, as_a_user_calls_it):
    norm, embedding = LayerNorm(8), TokenEmbedding(VOCAB, 8)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="broken inside"):
            broken_inside()
        with pytest.raises(ValueError, match=r"x must have shape \(..., 8\)"):
            norm(WIDER)
        with pytest.raises(ValueError, match="tokens must hold ids"):
            embedding(TOKENS + VOCAB)


def test_who_is_inside_in_one_thread_is_not_in_another(as_a_user_calls_it):
    encoder, norm, errors = Encoder(CONFIG), LayerNorm(8), []

    def refused():
        try:
            norm(WIDER)
        except ValueError as error:
            errors.append(str(error))

    def in_another_thread(*_):
        thread = Thread(target=refused)
        thread.start()
        thread.join()

    encoder.layers[0].register_forward_pre_hook(in_another_thread)
    encoder(X)
    assert len(errors) == 1 and re.match(r"x must have shape \(..., 8\)", errors[0])


# Compiled

COMPILE = """
from dataclasses import replace

import torch

from transformer_lib.decoding import CachedTransformer
from transformer_lib.transformer import Transformer, TransformerConfig

config = replace(TransformerConfig.base(50, 50), num_layers=2, d_model=8, num_heads=2, d_ff=12)
source, target_in = torch.randint(3, 50, (2, 2, 5))
source[1, 3:] = target_in[0, 4:] = 0
for kind in (Transformer, CachedTransformer):
    model, graphs = kind(config).eval(), []
    count = lambda graph, inputs: graphs.append(graph) or graph.forward
    compiled = torch.compile(model, fullgraph=True, backend=count)
    with torch.no_grad():
        print(kind.__name__, compiled(source, target_in).equal(model(source, target_in)), len(graphs))
"""


def test_a_model_compiles_to_one_graph():
    """No check breaks it in two, and the logits are the same. In a process of its own: there, no test checks shapes."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    ended = subprocess.run([sys.executable, "-c", COMPILE], env=environment, capture_output=True, text=True, timeout=300)
    assert ended.stdout == "Transformer True 1\nCachedTransformer True 1\n", ended.stderr
