"""The page about the paper: what it names is there, and its tables are what our code counts."""

import math
import pkgutil
import re
import shlex
from dataclasses import replace
from functools import cache, partial
from itertools import count

import pytest
import torch
from torch.autograd.functional import jacobian
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.testing import assert_close
from torch.utils.flop_counter import FlopCounterMode

from tools import notebooks
from transformer_lib import translation
from transformer_lib.attention import MultiHeadAttention, scaled_dot_product_attention
from transformer_lib.cli import model_config, train_options, train_parser
from transformer_lib.decoding import CachedTransformer
from transformer_lib.encoder import FeedForward, TransformerConfig
from transformer_lib.recurrent import GRUCell, LSTMCell, Recurrent, RNNCell
from transformer_lib.teaching import record
from transformer_lib.teaching.experiments.translation import narrow_keys, parameters

PAGE = (notebooks.ROOT / "book" / "paper.md").read_text(encoding="utf-8")


def table(*first_columns):
    """Return the rows of the one table of the page that has these first columns, each row as a dictionary."""
    (found,) = re.findall(rf"^\| {' [|] '.join(map(re.escape, first_columns))}.*(?:\n\|.*)+", PAGE, re.MULTILINE)
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in found.splitlines())
    return [dict(zip(head, row, strict=True)) for row in rows]


def formulas(rows, column):
    """Return the formula of each row that has one, by the row's first cell: a function of the sizes in it."""
    known = {"ceil": math.ceil, "count": count}

    def formula(code):
        return lambda **sizes: eval(code, known | sizes)

    return {row["layer"]: formula(row[column].strip("`")) for row in rows}


def test_what_the_page_names_is_there():
    for name in set(re.findall(r"`~?(?:[\w.]+ <)?(transformer_lib[\w.]+)>?`", PAGE)):
        assert pkgutil.resolve_name(name).__doc__, name
    for file, name in re.findall(r"`((?:tests|notebooks)/[\w/]+\.(?:py|ipynb))::([\w-]+)`", PAGE):
        path = notebooks.ROOT / file
        there = f"def {name}(" in path.read_text(encoding="utf-8") if path.suffix == ".py" else name in ids(path)
        assert there, (file, name)


def ids(path):
    return {cell.id for cell in notebooks.read(path).cells}


# Table 1


def attention(x):
    return scaled_dot_product_attention(x, x, x)[0]


def restricted(x, r):
    """Attend to the `r` places around each one, and compute nothing for the others."""
    around = [r // 2, r // 2]
    keys = F.pad(x, [0, 0, *around]).unfold(0, r, 1).mT  # (n, r, d)
    real = F.pad(torch.ones(len(x), dtype=torch.bool), around).unfold(0, r, 1)  # (n, r)
    return scaled_dot_product_attention(x[:, None], keys, keys, real[:, None])[0].squeeze(1)


def read(cell, x):
    """Return the last output of a recurrent cell."""
    outputs, _ = Recurrent(cell)(x[None])
    return outputs[:, -1]


def convolution(x, k, dilation=1, groups=1, seed=0):
    """Mix each place with k - 1 places before it."""
    d = x.size(1)
    weight = torch.randn(d, d // groups, k, generator=torch.Generator().manual_seed(seed), dtype=x.dtype)
    before = F.pad(x.T[None], [dilation * (k - 1), 0])
    return F.conv1d(before, weight, dilation=dilation, groups=groups)[0].T


def separable(x, k):
    return convolution(convolution(x, k, groups=x.size(1)), 1)


def multi_head(x):
    return MultiHeadAttention(x.size(1), 2)(x[None], x[None], x[None])


COUNTED = {
    "self-attention": lambda x, k, r: attention(x),
    "the same with its four projections": lambda x, k, r: multi_head(x),
    "recurrent": lambda x, k, r: read(RNNCell(x.size(1), x.size(1)), x),
    "recurrent, GRU": lambda x, k, r: read(GRUCell(x.size(1), x.size(1)), x),
    "recurrent, LSTM": lambda x, k, r: read(LSTMCell(x.size(1), x.size(1)), x),
    "convolutional": lambda x, k, r: convolution(x, k),
    "convolutional, separable": lambda x, k, r: separable(x, k),
    "self-attention, restricted": lambda x, k, r: restricted(x, r),
}
OPERATIONS = formulas(table("layer", "the paper", "multiplications"), "multiplications")


def multiplications(layer, *inputs):
    # The counter does not look into the fused attention kernel: take the plain one.
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH), torch.no_grad():
        layer(*inputs)
    return counter.get_total_flops() / 2


@pytest.mark.parametrize("layer", COUNTED)
def test_operations_of_a_layer(layer):
    assert OPERATIONS.keys() == COUNTED.keys()
    for n, d, k, r in [(7, 4, 3, 5), (14, 4, 5, 3), (9, 16, 7, 7)]:
        assert multiplications(COUNTED[layer], torch.randn(n, d), k, r) == OPERATIONS[layer](n=n, d=d, k=k, r=r)


PATHS = table("layer", "sequential, in the paper")
PRODUCTS = {"MmBackward0", "BmmBackward0", "AddmmBackward0", "ConvolutionBackward0"}


def products_in_a_row(output):
    """Return how many matrix products wait for one another: the longest chain of them in the graph behind `output`."""

    @cache
    def longest(node):
        behind = [longest(before) for before, _ in node.next_functions if before]
        return max(behind, default=0) + (node.name() in PRODUCTS)

    return longest(output.grad_fn)


@pytest.mark.parametrize("layer", [row["layer"] for row in PATHS])
def test_products_in_a_row(layer):
    formula = formulas(PATHS, "products in a row")[layer]
    run = COUNTED.get(layer) or (lambda x, k, r: convolution(x, k, dilation=k))  # the dilated one is in this table alone
    for n in (5, 11):
        assert products_in_a_row(run(torch.randn(n, 4, requires_grad=True), 3, 3)) == formula(n=n)


def repeated(layer):
    def many(x, times, k, r):
        for number in range(times):
            x = layer(x, number, k, r)
        return x

    return many


def last_states(x, times, k, r):
    """Return for each place what a recurrent cell has, if it reads only the last `times` words up to there."""
    torch.manual_seed(0)
    cell = RNNCell(x.size(1), x.size(1)).double()
    state = x.new_zeros(len(x), x.size(1))
    for _ in range(times):
        state = cell(x, F.pad(state, [0, 0, 1, 0])[:-1])  # the state of the place before
    return state


STACKS = {
    "self-attention": repeated(lambda x, number, k, r: attention(x)),
    "recurrent": last_states,
    "convolutional": repeated(lambda x, number, k, r: convolution(x, k, seed=number)),
    "convolutional, dilated": repeated(lambda x, number, k, r: convolution(x, k, dilation=k**number, seed=number)),
    "self-attention, restricted": repeated(lambda x, number, k, r: restricted(x, r)),
}


@pytest.mark.parametrize("layer", STACKS)
def test_layers_until_all_places_meet(layer):
    path = formulas(PATHS, "layers or steps")
    assert path.keys() == STACKS.keys()
    for n, k, r in [(5, 3, 3), (9, 3, 5), (13, 5, 3), (14, 3, 7)]:
        x = torch.randn(n, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(n))
        wanted = torch.ones(n, n, dtype=torch.bool)
        if "attention" not in layer:  # the others look back only
            wanted = wanted.tril()
        expected = path[layer](n=n, k=k, r=r)
        for times in {expected - 1, expected} - {0}:
            stack = partial(STACKS[layer], times=times, k=k, r=r)
            meets = jacobian(stack, x).abs().amax(dim=(1, 3)) > 0  # (n, n)
            assert meets[wanted].all() == (times == expected), (n, times)


# Table 3

SIZES = table("row", "change", "paper", "ours")


def changed(row):
    changes = eval(f"dict({row['change'].strip('`')})")
    d_k = changes.pop("d_k", None)
    return replace(TransformerConfig.base(), **changes), d_k


def size(row, **more):
    config, d_k = changed(row)
    with torch.device("meta"):
        model = CachedTransformer(replace(config, **more))
        return parameters(model if d_k is None else narrow_keys(model, d_k))


@pytest.mark.parametrize("row", SIZES, ids=lambda row: f"{row['row']} {row['change']}")
def test_sizes_of_table_3(row):
    assert f"{size(row):,}" == row["ours"]
    vocabulary = {"source_vocab_size": 41_100, "target_vocab_size": 41_100}
    larger = f"{size(row, **vocabulary) / 1e6:.2f}" if row["paper"] else ""
    assert larger == row["ours with 41,100 tokens"]


def test_chapter_15s_sizes_are_those_of_its_record():
    sizes = record("translation_sizes")["numbers"]
    shown = {row["chapter 15"].strip("`"): row["its parameters"] for row in SIZES if row["chapter 15"]}
    assert shown == {name: f"{rows[0]['parameters']:,}" for name, rows in sizes.items() if name != "pre-norm"}


def test_the_feed_forward_network_is_two_convolutions():
    layer = FeedForward(6, 10).double()
    x = torch.randn(2, 5, 6, dtype=torch.float64)
    inside = F.conv1d(x.mT, layer.inner.weight[:, :, None], layer.inner.bias).relu()  # (batch, d_ff, seq)
    assert_close(layer(x), F.conv1d(inside, layer.outer.weight[:, :, None], layer.outer.bias).mT)


def test_operations_of_the_papers_training():
    a_second = 8 * 9.5e12
    assert f"{12 * 3600 * a_second:.1e}" == "3.3e+18" and f"{3.5 * 86_400 * a_second:.1e}" == "2.3e+19"


def test_where_perplexity_and_bleu_part():
    base, *others = (
        (row["change"], float(row["perplexity"]), float(row["BLEU"])) for row in table("row", "change", "perplexity", "BLEU")
    )
    both_lower = [change for change, *scores in others if scores[0] < base[1] and scores[1] < base[2]]
    assert both_lower == ["`num_layers=8`", "`smoothing=0.0`"]


def test_how_long_a_translation_may_be(monkeypatch):
    asked = []
    monkeypatch.setattr(translation, "greedy_decode", lambda model, source, max_len: asked.append((source, max_len)) or source)
    translation.pretrained_translator().translate("I am a student")
    assert asked[0][1] == 2 * asked[0][0].size(1) + 10


def test_variants_are_off():
    base = TransformerConfig.base()
    assert (base.pre_norm, base.positions) == (False, "sinusoidal")


def test_the_papers_training_as_a_command():
    (line,) = re.findall(r"^transformer-train (.+)$", PAGE, re.MULTILINE)
    given = train_options(train_parser(), ["--data", "folder", "--out", "folder", *shlex.split(line)])
    config = model_config(given, given.vocab_size, given.vocab_size)
    assert replace(config, source_vocab_size=37_000, target_vocab_size=37_000) == TransformerConfig.base()
    rows = {row["setting"]: row["the paper's base"] for row in table("setting", "the paper's base")}
    numbers = {"steps": given.steps, "steps of warm-up": given.warmup, "tokens of a batch, each side": given.max_tokens}
    assert {name: f"{number:,}" for name, number in numbers.items()}.items() <= rows.items()
    assert rows["factor of the rate"] == str(given.learning_rate) and rows["label smoothing"] == str(given.smoothing)
