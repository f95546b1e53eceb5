"""The table's first half: numbers in, numbers out. Each layer against its formula in float64, or against torch's."""

import math
from collections.abc import Callable
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from tools.fuzz import naive
from tools.fuzz.calls import case
from transformer_lib import (
    alignment,
    attention,
    decoder,
    decoding,
    encoder,
    masks,
    positional_encoding,
    recurrent,
    schedule,
    seq2seq,
    text,
    transformer,
)

few, many = st.integers(1, 3), st.integers(1, 5)
flags, seeds = st.booleans(), st.integers(0, 999)
dropouts = st.sampled_from([0.0, 0, 0.1, 0.5])
wholes = st.sampled_from([torch.int64, torch.int32])
reals = st.sampled_from([torch.float32, torch.float32, torch.float64, torch.bfloat16, torch.float16])
Draw = Callable[[st.SearchStrategy], Any]


def real(draw: Draw, *sizes: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Draw a tensor of ordinary numbers, of large ones, or of zeros."""
    scale = draw(st.sampled_from([1.0, 1.0, 0.0, 20.0])) if dtype.itemsize > 2 else 1.0
    x = torch.randn(sizes, generator=torch.Generator().manual_seed(draw(seeds))) * scale
    return x.to(dtype)


def visible(draw: Draw, *sizes: int) -> Tensor | None:
    """Draw no mask, or one with any share of True, none among them."""
    share = draw(st.sampled_from([None, 0.0, 0.3, 0.8, 1.0]))
    return None if share is None else torch.rand(sizes, generator=torch.Generator().manual_seed(draw(seeds))) < share


def words(draw: Draw, batch: int, seq: int, vocab: int, dtype: torch.dtype = torch.int64, empty: bool = False) -> Tensor:
    """Draw ids of sentences: words first, then padding; with `empty` perhaps without a word."""
    generator = torch.Generator().manual_seed(draw(seeds))
    ids = torch.randint(1, vocab, (batch, seq), generator=generator)
    lengths = torch.randint(0 if empty else 1, seq + 1, (batch, 1), generator=generator)
    return ids.where(torch.arange(seq) < lengths, 0).to(dtype)


def at(module: nn.Module, dtype: torch.dtype, x: Tensor) -> nn.Module:
    """Put a module where `x` is, in evaluation mode."""
    return module.to("meta" if isinstance(x, Tensor) and x.is_meta else "cpu", dtype).eval()


def given(draws: Callable[[Draw], dict[str, Any]]) -> st.SearchStrategy:
    """Make a strategy of a function that draws arguments."""
    return st.composite(lambda draw: draws(draw))()


# Chapter 6


@given
def _dot_products(draw):
    outer, queries, keys, d_k, d_v = (
        draw(st.sampled_from([(), (2,), (2, 3), (1, 1, 2)])),
        draw(many),
        draw(many),
        draw(many),
        draw(many),
    )
    dtype = draw(reals)
    return {
        "query": real(draw, *outer, queries, d_k, dtype=dtype),
        "key": real(draw, *outer, keys, d_k, dtype=dtype),
        "value": real(draw, *outer, keys, d_v, dtype=dtype),
        "mask": visible(draw, *draw(st.sampled_from([outer, ()])), draw(st.sampled_from([1, queries])), keys),
    }


@case("scaled_dot_product_attention", given=_dot_products)
def _(query, key, value, mask):
    yield attention.scaled_dot_product_attention(query, key, value, mask)
    yield naive.attention(query, key, value, mask)


@case(
    "split_heads",
    "join_heads",
    given=given(lambda draw: {"num_heads": (n := draw(few)), "x": real(draw, draw(few), draw(few), n * draw(few))}),
)
def _(x, num_heads):
    heads = attention.split_heads(x, num_heads)
    yield heads, attention.join_heads(heads)
    yield naive.heads_of(x, num_heads), x


@case("join_heads", given=given(lambda draw: {"x": real(draw, draw(few), draw(few), draw(few), draw(few))}))
def _(x):
    yield attention.join_heads(x)
    yield torch.cat([x[:, head] for head in range(x.size(1))], dim=-1).reshape(x.size(0), x.size(2), x.size(1) * x.size(3))


@given
def _multi_head(draw):
    num_heads, dtype, batch, queries, keys = draw(few), draw(reals), draw(few), draw(few), draw(many)
    d_model = num_heads * draw(few)
    seen = draw(st.sampled_from([(), (batch, 1), (batch, num_heads)])) + (queries, keys)
    of_keys = lambda: real(draw, batch, keys, d_model, dtype=dtype)
    query = real(draw, batch, queries, d_model, dtype=dtype)
    sides = {"query": query, "key": of_keys(), "value": of_keys(), "mask": visible(draw, *seen)}
    return {"d_model": d_model, "num_heads": num_heads, "dropout": draw(dropouts), **sides, "dtype": dtype}


@case("MultiHeadAttention", "attention_weights", given=_multi_head)
def _(d_model, num_heads, dropout, query, key, value, mask, dtype):
    layer = at(attention.MultiHeadAttention(d_model, num_heads, dropout), dtype, query)
    yield layer(query, key, value, mask), attention.attention_weights(layer, query, key, mask)
    yield naive.multi_head(naive.exact(layer), num_heads, query, key, value, mask)


@case("MultiHeadAttention.keys_and_values", "MultiHeadAttention.attend", given=_multi_head)
def _(d_model, num_heads, dropout, query, key, value, mask, dtype):
    layer = at(attention.MultiHeadAttention(d_model, num_heads, dropout), dtype, query)
    yield layer.attend(query, *layer.keys_and_values(key, value), mask)
    yield naive.multi_head(naive.exact(layer), num_heads, query, key, value, mask)[0]


# Chapters 5 and 8


@case(
    "padding_mask",
    given=given(lambda draw: {"tokens": words(draw, draw(few), draw(many), 5, draw(wholes)), "pad_id": draw(many) - 1}),
)
def _(tokens, pad_id):
    yield masks.padding_mask(tokens, pad_id)
    yield torch.tensor([[[[i != pad_id for i in row]]] for row in tokens.tolist()])


@case("causal_mask", length=many, device=st.sampled_from([None, torch.device("cpu")]))
def _(length, device):
    yield masks.causal_mask(length, device)
    yield torch.tensor([[key <= query for key in range(length)] for query in range(length)])


class Running(nn.Module):
    """A sum of all so far, or with `leak` of all: of vectors, or of ids."""

    def __init__(self, leak: bool) -> None:
        super().__init__()
        self.leak = leak

    def forward(self, x: Tensor) -> Tensor:
        x = x.double() if x.ndim > 2 else x.double()[..., None]
        return x.sum(dim=1, keepdim=True).expand_as(x) if self.leak else x.cumsum(dim=1)


@given
def _to_be_causal(draw):
    batch, seq = draw(few), draw(st.integers(2, 4))
    ids = torch.arange(1, batch * seq + 1).reshape(batch, seq)
    return {"leak": draw(flags), "x": draw(st.sampled_from([ids, real(draw, batch, seq, draw(few))])), "seed": draw(seeds)}


@case("assert_causal", given=_to_be_causal)
def _(leak, x, seed):
    try:
        yield masks.assert_causal(Running(leak), x, seed=seed) or "causal"
    except AssertionError as error:
        yield "NaN" if "NaN" in str(error) else "leaks"
    yield "NaN" if x.is_floating_point() and not x.isfinite().all() else "leaks" if leak else "causal"


@case("sinusoidal_table", max_len=many, d_model=few.map(lambda n: 2 * n))
def _(max_len, d_model):
    yield positional_encoding.sinusoidal_table(max_len, d_model)
    yield naive.sinusoids(max_len, d_model)


@given
def _positions(draw):
    d_model, max_len, dtype = 2 * draw(few), draw(many), draw(reals)
    seq = draw(st.integers(1, max_len))
    x = real(draw, draw(few), seq, d_model, dtype=dtype)
    offset = draw(st.integers(0, max_len - seq))
    return {"d_model": d_model, "max_len": max_len, "dropout": draw(dropouts), "x": x, "offset": offset, "dtype": dtype}


@case("PositionalEncoding", given=_positions)
def _(d_model, max_len, dropout, x, offset, dtype):
    yield at(positional_encoding.PositionalEncoding(d_model, max_len, dropout), dtype, x)(x, offset)
    rows = naive.sinusoids(max_len, d_model)[offset : offset + x.size(1)]
    yield torch.stack([sentence.double() + rows for sentence in x]) if len(x) else x


@case("LearnedPositionalEmbedding", given=_positions)
def _(d_model, max_len, dropout, x, offset, dtype):
    layer = at(positional_encoding.LearnedPositionalEmbedding(d_model, max_len, dropout), dtype, x)
    yield layer(x, offset)
    rows = layer.table.weight.double()[offset : offset + x.size(1)]
    yield torch.stack([sentence.double() + rows for sentence in x]) if len(x) else x


# Chapter 7 and 9


@given
def _vectors(draw):
    dtype, d_model = draw(reals), draw(many)
    x = real(draw, *draw(st.sampled_from([(), (3,), (2, 3), (1, 2, 2)])), d_model, dtype=dtype)
    return {"d_model": d_model, "x": x, "dtype": dtype}


@case("LayerNorm", given=st.builds(lambda given, eps: {**given, "eps": eps}, _vectors, st.sampled_from([1e-5, 1e-3, 1])))
def _(d_model, eps, x, dtype):
    layer = at(encoder.LayerNorm(d_model, eps), dtype, x)
    yield layer(x)
    yield naive.normed(naive.exact(layer), x.double(), eps)


@case("FeedForward", given=st.builds(lambda given, d_ff: {**given, "d_ff": d_ff}, _vectors, many))
def _(d_model, d_ff, x, dtype):
    layer = at(encoder.FeedForward(d_model, d_ff), dtype, x)
    yield layer(x)
    yield naive.feed_forward(naive.exact(layer), x.double())


@case("AddAndNorm", given=st.builds(lambda given, p, pre: {**given, "dropout": p, "pre_norm": pre}, _vectors, dropouts, flags))
def _(d_model, dropout, pre_norm, x, dtype):
    layer = at(encoder.AddAndNorm(d_model, dropout, pre_norm), dtype, x)
    yield layer(x, lambda x: 2 * x)
    norm = naive.part(naive.exact(layer), "norm")
    x = x.double()
    yield x + 2 * naive.normed(norm, x) if pre_norm else naive.normed(norm, 3 * x)


@given
def _sizes(draw):
    """The fields of a small configuration."""
    num_heads, vocab = draw(few), draw(st.integers(4, 9))
    return {
        "d_model": 2 * num_heads * draw(few),
        "num_layers": draw(st.integers(1, 2)),
        "num_heads": num_heads,
        "d_ff": draw(many),
        "dropout": draw(dropouts),
        "pre_norm": draw(flags),
        "attention_dropout": draw(dropouts),
        "source_vocab_size": vocab,
        "target_vocab_size": vocab,
        "shared_vocabulary": draw(flags),
        "max_len": draw(st.integers(4, 9)),
        "positions": draw(st.sampled_from(["sinusoidal", "learned"])),
    }


_configs = _sizes.map(lambda sizes: encoder.TransformerConfig(**sizes))


@case("TransformerConfig", "parameter_table", given=_sizes)
def _(**sizes):
    config = encoder.TransformerConfig(**sizes)
    table = transformer.parameter_table(config)
    yield [getattr(config, name) for name in sizes], sum(table.values())
    with torch.device("meta"):
        model = transformer.Transformer(config)
    nn.init.uniform_(torch.empty(1), -config.dropout, config.attention_dropout)  # both are numbers
    yield list(sizes.values()), sum(parameter.numel() for parameter in model.parameters())


@case(
    "TransformerConfig.tiny",
    "TransformerConfig.base",
    "TransformerConfig.big",
    kind=st.sampled_from(["tiny", "base", "big"]).map(lambda name: getattr(encoder.TransformerConfig, name)),
    source_vocab_size=st.just(50),
    target_vocab_size=st.just(50),
)
def _(kind, source_vocab_size, target_vocab_size):
    config = kind(source_vocab_size, target_vocab_size)
    yield config.source_vocab_size, config.target_vocab_size, config.d_model
    d_model = {"tiny": 64, "base": 512, "big": 1024}[kind.__name__]
    yield range(source_vocab_size).stop, range(target_vocab_size).stop, d_model


@case("flop_table", config=_configs, source=many, target=many)
def _(config, source, target):
    yield sum(transformer.flop_table(config, source, target).values())
    n, d, f, h = config.num_layers, config.d_model, config.d_ff, config.num_heads
    product = lambda rows, inner, columns: range(rows).stop * 2 * inner * columns
    attend = lambda q, k: 2 * product(q, d, d) + 2 * product(k, d, d) + h * (product(q, d // h, k) + product(q, k, d // h))
    forward = lambda rows: product(rows, d, f) + product(rows, f, d)
    layers = attend(source, source) + forward(source) + attend(target, target) + attend(target, source) + forward(target)
    yield n * layers + product(target, d, config.target_vocab_size)


@given
def _stacks(draw):
    config, dtype, batch, rows, others = draw(_configs), draw(reals), draw(few), draw(few), draw(few)
    x, memory = (real(draw, batch, length, config.d_model, dtype=dtype) for length in (rows, others))
    own, across = visible(draw, rows, rows), visible(draw, batch, 1, 1, others)
    return {"config": config, "x": x, "memory": memory, "self_mask": own, "memory_mask": across, "dtype": dtype}


_read = _stacks.map(lambda given: {**{name: given[name] for name in ("config", "x", "dtype")}, "mask": given["self_mask"]})


@case("EncoderLayer", given=_read)
def _(config, x, mask, dtype):
    layer = at(encoder.EncoderLayer(config), dtype, x)
    yield layer(x, mask)
    yield naive.layer(naive.exact(layer), config, x.double(), mask, None, None)


@case("Encoder", given=_read)
def _(config, x, mask, dtype):
    layer = at(encoder.Encoder(config), dtype, x)
    yield layer(x, mask)
    yield naive.stack(naive.exact(layer), config, x, mask)


@case("DecoderLayer", given=_stacks)
def _(config, x, memory, self_mask, memory_mask, dtype):
    layer = at(decoder.DecoderLayer(config), dtype, x)
    yield layer(x, memory, self_mask, memory_mask)
    yield naive.layer(naive.exact(layer), config, x.double(), self_mask, memory.double(), memory_mask)


@case("Decoder", given=_stacks)
def _(config, x, memory, self_mask, memory_mask, dtype):
    layer = at(decoder.Decoder(config), dtype, x)
    yield layer(x, memory, self_mask, memory_mask)
    yield naive.stack(naive.exact(layer), config, x, self_mask, memory, memory_mask)


@case(
    "LayerCache",
    "LayerCache.append",
    "LayerCache.reorder",
    "decode_with_cache",
    given=_stacks.map(
        lambda given: {**given, "dtype": torch.float64, "x": given["x"].double(), "memory": given["memory"].double()}
    ),
)
def _(config, x, memory, self_mask, memory_mask, dtype):
    """One token after the other, and the sentences turned round."""
    layer = at(decoder.DecoderLayer(config), dtype, x)
    cache, rows = decoding.LayerCache(layer, memory), []
    cache.reorder(torch.arange(len(memory) - 1, -1, -1))
    seen = None if memory_mask is None else memory_mask.flip(0)
    for token in x.flip(0).split(1, dim=1):
        rows.append(decoding.decode_with_cache(layer, token, cache, None, seen))
    yield torch.cat(rows, dim=1).flip(0)
    earlier = torch.ones(x.size(1), x.size(1), dtype=torch.bool).tril()
    yield naive.layer(naive.exact(layer), config, x.double(), earlier, memory.double(), memory_mask)


# Chapters 10 and 13


@case(
    "TokenEmbedding",
    given=given(
        lambda draw: {
            "vocab_size": (vocab := draw(st.integers(2, 6))),
            "d_model": draw(few),
            "tokens": words(draw, draw(few), draw(few), vocab, draw(wholes)),
        }
    ),
)
def _(vocab_size, d_model, tokens):
    layer = at(transformer.TokenEmbedding(vocab_size, d_model), torch.float32, tokens)
    yield layer(tokens)
    yield torch.stack([torch.stack([layer.weight[i] * math.sqrt(d_model) for i in row]) for row in tokens.tolist()])


@given
def _sentences(draw):
    config, batch, dtype = draw(_configs), draw(few), draw(wholes)
    source, target_in = (words(draw, batch, draw(st.integers(1, 4)), 4, dtype) for _ in range(2))
    rows = torch.randint(batch, (draw(few),), generator=torch.Generator().manual_seed(draw(seeds)))
    kind = draw(st.sampled_from([transformer.Transformer, decoding.CachedTransformer]))
    return {"kind": kind, "config": config, "source": source, "target_in": target_in, "rows": rows}


@case("Transformer", "CachedTransformer", given=_sentences.map(lambda given: {k: v for k, v in given.items() if k != "rows"}))
def _(kind, config, source, target_in):
    model = at(kind(config), torch.float32, source)
    yield model(source, target_in)
    yield naive.transformer(model, source, target_in)


@case(
    *(f"{kind}Transformer.{method}" for kind in ("", "Cached") for method in ("start", "decode")),
    *("TransformerState", "TransformerState.reorder", "CachedState", "CachedState.reorder"),
    given=_sentences.map(lambda given: {"tokens": given.pop("target_in"), **given}),
)
def _(kind, config, source, tokens, rows):
    """Two calls of `decode`, and between them other sentences in another order."""
    model = at(kind(config), torch.float32, source)
    model(source, tokens)
    state, cut = model.start(source), tokens.size(1) // 2
    if cut:
        model.decode(tokens[:, :cut], state)
    state.reorder(rows)
    yield model.decode(tokens[rows][:, cut:], state)
    yield naive.transformer(model, source[rows], tokens[rows])[:, cut:]


# Chapter 2

_cells = {"tanh": nn.RNNCell, "relu": nn.RNNCell, "lstm": nn.LSTMCell, "before": nn.GRUCell, "after": nn.GRUCell}


def _cell(kind: str, input_size: int, hidden_size: int) -> nn.Module:
    if kind == "lstm":
        return recurrent.LSTMCell(input_size, hidden_size)
    if kind in ("before", "after"):
        return recurrent.GRUCell(input_size, hidden_size, kind)
    return recurrent.RNNCell(input_size, hidden_size, kind)


def _step(kind: str, w: dict[str, Tensor], x: Tensor, state: Any) -> Any:
    """Return the next state, by the formula of the cell."""
    if kind == "lstm":
        h, c = state
        i, f, g, o = (x @ w["weight_ih"].T + w["bias_ih"] + h @ w["weight_hh"].T + w["bias_hh"]).chunk(4, dim=-1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c
    if kind in ("tanh", "relu"):
        total = x @ w["weight_ih"].T + w["bias_ih"] + state @ w["weight_hh"].T + w["bias_hh"]
        return total.tanh() if kind == "tanh" else total.clamp(min=0)
    xs, hs = zip(w["weight_ih"].chunk(3), w["bias_ih"].chunk(3)), list(zip(w["weight_hh"].chunk(3), w["bias_hh"].chunk(3)))
    x_r, x_z, x_g = (x @ weight.T + bias for weight, bias in xs)
    r, z = ((part + state @ weight.T + bias).sigmoid() for part, (weight, bias) in zip((x_r, x_z), hs))
    weight, bias = hs[2]
    g = (x_g + ((r * state) @ weight.T + bias if kind == "before" else r * (state @ weight.T + bias))).tanh()
    return z * state + (1 - z) * g


@given
def _one_step(draw):
    kind, dtype, batch, inputs, hidden = draw(st.sampled_from([*_cells])), draw(reals), draw(few), draw(few), draw(few)
    state = lambda: real(draw, batch, hidden, dtype=dtype)
    return {
        "kind": kind,
        "input_size": inputs,
        "hidden_size": hidden,
        "x": real(draw, batch, inputs, dtype=dtype),
        "state": (state(), state()) if kind == "lstm" else state(),
        "dtype": dtype,
    }


@case(
    *("RNNCell", "RNNCell.initial_state", "LSTMCell", "LSTMCell.initial_state", "GRUCell", "GRUCell.initial_state"),
    given=_one_step,
)
def _(kind, input_size, hidden_size, x, state, dtype):
    cell = at(_cell(kind, input_size, hidden_size), dtype, x)
    yield cell(x, state), cell.initial_state(2)
    w, start = naive.exact(cell), torch.zeros(2, hidden_size)
    state = tuple(part.double() for part in state) if kind == "lstm" else state.double()
    yield _step(kind, w, x.double(), state), (start, start) if kind == "lstm" else start


@given
def _sequences(draw):
    kind, batch, seq = draw(st.sampled_from([*_cells])), draw(few), draw(many)
    inputs, hidden, both = draw(few), draw(few), draw(flags)
    state = lambda: real(draw, 1 + both, batch, hidden)
    x = real(draw, batch, seq, inputs)
    if draw(flags):
        lengths = torch.tensor([draw(st.integers(1, seq)) for _ in range(batch)])
        x = pack_padded_sequence(x[:, : lengths.max()], lengths, batch_first=True, enforce_sorted=False)
    states = draw(st.sampled_from([None, (state(), state()) if kind == "lstm" else state()]))
    return {"kind": kind, "input_size": inputs, "hidden_size": hidden, "bidirectional": both, "x": x, "state": states}


@case("Recurrent", given=_sequences)
def _(kind, input_size, hidden_size, bidirectional, x, state):
    layer = at(recurrent.Recurrent(_cell(kind, input_size, hidden_size), bidirectional), torch.float32, x)
    packed, lengths = isinstance(x, PackedSequence), None
    outputs, end = layer(x, state)
    yield pad_packed_sequence(outputs, batch_first=True)[0] if packed else outputs, end
    if packed:
        x, lengths = pad_packed_sequence(x, batch_first=True)
    directions = range(2 if bidirectional else 1)
    zeros = torch.zeros(len(directions), len(x), hidden_size)
    parts = [zeros] * (1 + (kind == "lstm")) if state is None else list(state) if kind == "lstm" else [state]
    right, ends = torch.zeros(len(x), x.size(1), len(directions) * hidden_size), [torch.zeros_like(part) for part in parts]
    for row in range(len(x)):
        length = x.size(1) if lengths is None else int(lengths[row])
        for way in directions:
            now = tuple(part[way, row][None].double() for part in parts)
            now = now if kind == "lstm" else now[0]
            for place in range(length) if way == 0 else reversed(range(length)):
                now = _step(kind, naive.exact(layer.cells[way]), x[row, place][None].double(), now)
                first = now[0] if kind == "lstm" else now
                right[row, place, way * hidden_size : (way + 1) * hidden_size] = first[0]
            for end_part, value in zip(ends, now if kind == "lstm" else (now,)):
                end_part[way, row] = value[0]
    yield right, tuple(ends) if kind == "lstm" else ends[0]


# Chapters 1, 3 and 4


@given
def _to_read(draw):
    vocab = draw(st.integers(2, 6))
    sizes = {
        "vocab_size": vocab,
        "d_model": draw(few),
        "hidden_size": draw(few),
        "layer": draw(st.sampled_from([nn.GRU, nn.LSTM])),
    }
    return {**sizes, "source": words(draw, draw(few), draw(many), vocab, draw(wholes))}


def _alone(layer: nn.Module, vectors: Tensor) -> tuple[Tensor, Any]:
    """Return what a recurrent layer makes of one sentence, `(seq, d_model)`, without any padding."""
    outputs, state = layer(vectors[None])
    return outputs[0], tuple(part[:, 0] for part in state) if isinstance(state, tuple) else state[:, 0]


@case("RecurrentEncoder", given=_to_read)
def _(vocab_size, d_model, hidden_size, layer, source):
    model = at(seq2seq.RecurrentEncoder(vocab_size, d_model, hidden_size, layer), torch.float32, source)
    yield model(source)
    rows, states = [], []
    for row in source.tolist():
        read = [i for i in row if i != 0]
        outputs, state = _alone(model.layer, model.embedding.weight[read])
        rows.append(F.pad(outputs, (0, 0, 0, len(row) - len(read))))
        states.append(state if isinstance(state, tuple) else (state,))
    parts = tuple(torch.stack(part, dim=1) for part in zip(*states))
    yield torch.stack(rows), parts if layer is nn.LSTM else parts[0]


@case("RecurrentDecoder", given=_to_read.map(lambda given: {"tokens": given.pop("source"), **given}))
def _(vocab_size, d_model, hidden_size, layer, tokens):
    model = at(seq2seq.RecurrentDecoder(vocab_size, d_model, hidden_size, layer), torch.float32, tokens)
    start = torch.zeros(1, len(tokens), range(hidden_size).stop, device=tokens.device)
    hidden = (start, start) if layer is nn.LSTM else start
    yield model(tokens, hidden)[0]
    rows = [_alone(model.layer, model.embedding.weight[row])[0] for row in tokens.tolist()]
    yield torch.stack([row @ model.output.weight.T + model.output.bias for row in rows])


@given
def _to_translate(draw):
    vocab, batch = draw(st.integers(3, 6)), draw(few)
    ids = {name: words(draw, batch, draw(st.integers(1, 4)), vocab, draw(wholes)) for name in ("source", "target_in")}
    rows = torch.randint(batch, (draw(few),), generator=torch.Generator().manual_seed(draw(seeds)))
    kind = draw(st.sampled_from(["gru", "lstm", "luong", "bahdanau", "dot"]))
    return {"kind": kind, "vocab_size": vocab, "d_model": draw(few), "hidden_size": draw(few), **ids, "rows": rows}


def _translator(kind: str, vocab: int, d_model: int, hidden: int) -> nn.Module:
    if kind in ("gru", "lstm"):
        return seq2seq.Seq2Seq(vocab, vocab, d_model, hidden, nn.GRU if kind == "gru" else nn.LSTM)
    dot = alignment.DotProductAttention() if kind == "dot" else None
    return alignment.AttentionSeq2Seq(vocab, vocab, d_model, hidden, dot, "bahdanau" if kind == "bahdanau" else "luong")


@case(
    *(f"{model}{method}" for model in ("Seq2Seq", "AttentionSeq2Seq") for method in ("", ".start", ".decode")),
    *("RecurrentState", "RecurrentState.reorder", "AttentionState", "AttentionState.reorder", "AttentionDecoder"),
    *("AutoregressiveModel", "AutoregressiveModel.start", "AutoregressiveModel.decode", "AutoregressiveModel.modules"),
    *("AutoregressiveModel.train", "DecoderState", "DecoderState.reorder"),
    given=_to_translate,
)
def _(kind, vocab_size, d_model, hidden_size, source, target_in, rows):
    """All at once; and in two steps, between them other sentences in another order: sentence by sentence it is the same."""
    model = at(_translator(kind, vocab_size, d_model, hidden_size), torch.float32, source)
    together = model(source, target_in)
    state, cut = model.start(source), target_in.size(1) // 2
    if cut:
        model.decode(target_in[:, :cut], state)
    state.reorder(rows)
    stepwise = model.decode(target_in[rows][:, cut:], state)
    protocols = isinstance(model, seq2seq.AutoregressiveModel), isinstance(state, seq2seq.DecoderState)
    yield together, stepwise, protocols
    alone = []
    for read, written in zip(source.tolist(), target_in.tolist()):
        read = torch.tensor([[i for i in read if i != 0]])
        state, logits = model.start(read), []
        for i in written:
            logits.append(model.decode(torch.tensor([[i]]), state)[0, 0])
        alone.append(torch.stack(logits))
    yield torch.stack(alone), torch.stack([alone[row][cut:] for row in rows.tolist()]), (True, True)


@given
def _scores(draw):
    batch, seq, dtype = draw(few), draw(many), draw(reals)
    scores, memory = real(draw, batch, seq, dtype=dtype), real(draw, batch, seq, draw(few), dtype=dtype)
    return {"scores": scores, "memory": memory, "mask": visible(draw, batch, seq)}


@case("masked_softmax", given=_scores.map(lambda given: {name: given[name] for name in ("scores", "mask")}))
def _(scores, mask):
    yield alignment.masked_softmax(scores, mask)
    yield naive.softmax(scores.double(), mask)


@case("attention_pooling", given=_scores)
def _(scores, memory, mask):
    yield alignment.attention_pooling(scores, memory, mask)
    weights = naive.softmax(scores.double(), mask)
    yield torch.einsum("bs,bsd->bd", weights, memory.double()), weights


@given
def _to_look_at(draw):
    batch, seq, query_size, dtype = draw(few), draw(many), draw(few), draw(reals)
    memory_size = draw(st.sampled_from([query_size, query_size + 1]))
    sizes = {"query_size": query_size, "memory_size": memory_size, "hidden_size": draw(few)}
    query, memory = real(draw, batch, query_size, dtype=dtype), real(draw, batch, seq, memory_size, dtype=dtype)
    return {**sizes, "query": query, "memory": memory, "mask": visible(draw, batch, seq), "dtype": dtype}


@case("AdditiveAttention", given=_to_look_at)
def _(query_size, memory_size, hidden_size, query, memory, mask, dtype):
    layer = at(alignment.AdditiveAttention(query_size, memory_size, hidden_size), dtype, query)
    yield layer(query, memory, mask)
    w, memory = naive.exact(layer), memory.double()
    inside = naive.linear(w, "from_query", query.double())[:, None] + naive.linear(w, "from_memory", memory)
    weights = naive.softmax((inside.tanh() * w["to_score.weight"][0]).sum(dim=-1), mask)
    yield torch.einsum("bs,bsd->bd", weights, memory), weights


@case("DotProductAttention", given=_scores.map(lambda given: {"query": given["memory"][:, 0].clone(), **given, "scores": None}))
def _(query, scores, memory, mask):
    yield alignment.DotProductAttention()(query, memory, mask)
    weights = naive.softmax(torch.einsum("bd,bsd->bs", query.double(), memory.double()), mask)
    yield torch.einsum("bs,bsd->bd", weights, memory.double()), weights


@given
def _reviews(draw):
    vocab = draw(st.integers(2, 6))
    sizes = {"vocab_size": vocab, "d_model": draw(few), "hidden_size": draw(few), "num_layers": draw(st.integers(1, 2))}
    return {**sizes, "tokens": words(draw, draw(few), draw(many), vocab, draw(wholes), empty=True)}


@case("SentimentClassifier", given=_reviews)
def _(vocab_size, d_model, hidden_size, num_layers, tokens):
    model = at(text.SentimentClassifier(vocab_size, d_model, hidden_size, num_layers), torch.float32, tokens)
    yield model(tokens)
    scores = []
    for row in tokens.tolist():
        read, last = [i for i in row if i != 0], torch.zeros(hidden_size)
        if read:
            last = _alone(model.gru, model.embedding.weight[read])[1][-1]
        scores.append(last @ model.output.weight[0] + model.output.bias[0])
    yield torch.stack(scores)


# Chapter 11


@case("noam_rate", step=st.integers(1, 10**6), d_model=st.integers(1, 2000), warmup=st.integers(1, 5000))
def _(step, d_model, warmup):
    yield schedule.noam_rate(step, d_model, warmup)
    rise, fall = range(step).stop * range(warmup).stop ** -1.5, range(step).stop ** -0.5
    yield math.sqrt(1 / range(d_model).stop) * min(rise, fall)


@case(
    "transformer_optimizer",
    "NoamSchedule",
    learning_rate=st.sampled_from([0.0, 1e-3, 1.0, 2]),
    d_model=many,
    warmup=many,
    steps=few,
)
def _(learning_rate, d_model, warmup, steps):
    weight = nn.Linear(1, 1, bias=False).weight
    model = nn.Module()
    model.weight = weight
    optimizer, rates = schedule.transformer_optimizer(model, learning_rate), []
    plan = schedule.NoamSchedule(optimizer, d_model, warmup)
    start = weight.item()
    for _ in range(steps if isinstance(steps, int) and steps < 9 else 1):
        rates.append(optimizer.param_groups[0]["lr"])
        weight.grad = torch.ones_like(weight)
        optimizer.step()
        plan.step()
    yield rates, weight.item()
    right = [learning_rate * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5) for step in range(1, len(rates) + 1)]
    yield right, start - sum(right)  # equal gradients: Adam moves by the rate


@case(
    "NoamSchedule.load_state_dict",
    given=given(lambda draw: {"d_model": draw(many), "warmup": draw(many), "done": draw(few)}),
)
def _(d_model, warmup, done):
    def made(d_model: int, warmup: int) -> Any:
        return schedule.NoamSchedule(torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1.0), d_model, warmup)

    plan, other = made(d_model, warmup), made(7, 7)
    for _ in range(done if isinstance(done, int) and 0 <= done < 9 else 0):
        plan.optimizer.step()
        plan.step()
    other.load_state_dict(plan.state_dict())
    yield other.get_last_lr(), other.optimizer.param_groups[0]["lr"]
    yield plan.get_last_lr(), plan.optimizer.param_groups[0]["lr"]


@given
def _losses(draw):
    vocab, outer = draw(st.integers(2, 5)), draw(st.sampled_from([(), (3,), (2, 3), (1, 2, 2)]))
    target = torch.randint(vocab, outer, generator=torch.Generator().manual_seed(draw(seeds)))
    pad_id = draw(st.integers(-1, vocab))
    reduction = draw(st.sampled_from(["mean", "sum"])) if (target != pad_id).any() else "sum"
    logits = real(draw, *outer, vocab, dtype=draw(st.sampled_from([torch.float32, torch.float64])))
    return {"logits": logits, "target": target, "smoothing": draw(dropouts), "pad_id": pad_id, "reduction": reduction}


@case("label_smoothed_loss", given=_losses)
def _(logits, target, smoothing, pad_id, reduction):
    yield schedule.label_smoothed_loss(logits, target, smoothing, pad_id, reduction)
    yield naive.smoothed_loss(logits, target, smoothing, pad_id, reduction)
