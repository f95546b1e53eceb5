"""The page about the paper: what it names is there, and what it counts is so. Formulas and numbers are read from the page."""

import ast
import json
import math
import pkgutil
import re
import shlex
from dataclasses import replace
from functools import cache, partial
from itertools import count
from pathlib import Path

import pytest
import torch
from myst_parser.mdit_to_docutils.base import default_slugify
from torch import nn
from torch.autograd.functional import jacobian
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.testing import assert_close
from torch.utils.flop_counter import FlopCounterMode

from transformer_lib import translation
from transformer_lib.attention import MultiHeadAttention, scaled_dot_product_attention
from transformer_lib.cli import model_config, train_options, train_parser
from transformer_lib.decoding import CachedTransformer
from transformer_lib.encoder import FeedForward, TransformerConfig
from transformer_lib.recurrent import GRUCell, LSTMCell, RNNCell
from transformer_lib.schedule import noam_rate
from transformer_lib.teaching import record
from transformer_lib.teaching.experiments.translation import narrow_keys, parameters
from transformer_lib.transformer import parameter_table

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "book" / "paper.md").read_text(encoding="utf-8")
PROSE = " ".join(PAGE.split())  # without ends of lines


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


# What the page names


def test_every_name_is_in_the_library():
    names = re.findall(r"`~?(?:[\w.]+ <)?(transformer_lib[\w.]+)>?`", PAGE)
    assert len(names) == PAGE.count("transformer_lib") > 30
    for name in set(names):
        assert pkgutil.resolve_name(name).__doc__, name


@cache
def names_of_tests(file):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@cache
def cells_of(file):
    return {cell["id"]: "".join(cell["source"]) for cell in json.loads((ROOT / file).read_text(encoding="utf-8"))["cells"]}


def test_every_test_and_cell_is_there():
    named = re.findall(r"`((?:tests|notebooks)/[\w/]+\.(?:py|ipynb))::([\w-]+)`", PAGE)
    assert len(named) == PAGE.count("::") > 60
    missing = {(file, name) for file, name in named if name not in (names_of_tests if file.endswith(".py") else cells_of)(file)}
    assert not missing


def test_every_entry_is_held_or_not_built():
    entries = re.findall(r"^[^\n]+\n: .+\n(?:  .+\n)*", PAGE, re.MULTILINE)
    assert len(entries) > 40
    for entry in entries:
        text = re.sub(r"\s+", " ", entry).strip()
        assert re.search(r" Held by (`[^`]+::[^`]+`(, |\.$))+$", text) or " : Not built: " in text, entry


def test_every_heading_is_there():
    links = re.findall(r"\]\(\.\./(notebooks/\w+\.ipynb)#([^)]+)\)", PAGE)
    assert len(links) == PAGE.count("notebooks/") - PAGE.count("`notebooks/") > 30
    for file, place in set(links):
        headings = re.findall(r"^#+ (.*)$", "\n".join(cells_of(file).values()), re.MULTILINE)
        assert place in {default_slugify(heading.replace("`", "")) for heading in headings}, (file, place)
    here = {default_slugify(heading) for heading in re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)}
    assert here >= set(re.findall(r"\]\(#([^)]+)\)", PAGE))


# Section 3


def test_the_feed_forward_network_is_two_convolutions():
    layer = FeedForward(6, 10).double()
    x = torch.randn(2, 5, 6, dtype=torch.float64)
    inside = F.conv1d(x.mT, layer.inner.weight[:, :, None], layer.inner.bias).relu()  # (batch, d_ff, seq)
    assert_close(layer(x), F.conv1d(inside, layer.outer.weight[:, :, None], layer.outer.bias).mT)


# Table 1


def attention(x):
    return scaled_dot_product_attention(x, x, x)[0]


def restricted(x, r):
    """Attend to the `r` places around each one, and compute nothing for the others."""
    around = [r // 2, r // 2]
    keys = F.pad(x, [0, 0, *around]).unfold(0, r, 1).mT  # (n, r, d)
    real = F.pad(torch.ones(len(x), dtype=torch.bool), around).unfold(0, r, 1)  # (n, r)
    return scaled_dot_product_attention(x[:, None], keys, keys, real[:, None])[0].squeeze(1)


def near(n, r):
    """Return the mask that hides all but the `r` places around each one."""
    places = torch.arange(n)
    return (places[:, None] - places).abs() <= r // 2


def read(cell, x):
    """Return the last output of a recurrent cell."""
    state = cell.initial_state(1)
    for row in x:
        state = cell(row[None], state)
    return state if isinstance(state, torch.Tensor) else state[0]


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


def test_a_mask_saves_nothing():
    x = torch.randn(9, 4)
    masked = lambda x: scaled_dot_product_attention(x, x, x, near(9, 3))[0]
    assert_close(masked(x), restricted(x, 3))
    assert multiplications(masked, x) == OPERATIONS["self-attention"](n=9, d=4)


def test_where_attention_is_cheaper():
    d = 16
    for n in range(1, 4 * d):
        cost = {layer: formula(n=n, d=d, k=3, r=3) for layer, formula in OPERATIONS.items()}
        projected = cost["the same with its four projections"]
        assert (cost["self-attention"] < cost["recurrent"]) == (n < d)
        assert projected > cost["recurrent"]
        assert (projected < cost["recurrent, LSTM"]) == (n < 2 * d)


def test_a_separable_convolution_as_wide_as_the_sentence():
    d = 4
    feed_forward = FeedForward(d, 4 * d)
    for n in (5, 9):
        convolutional = OPERATIONS["convolutional, separable"](n=n, k=n, d=d)
        first, second = n**2 * d, n * d**2
        assert convolutional == first + second
        assert OPERATIONS["self-attention"](n=n, d=d) == 2 * first
        assert multiplications(feed_forward, torch.randn(1, n, d)) == 8 * second


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
    state = cell.initial_state(len(x))
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


@pytest.mark.parametrize(("n", "k"), [(125, 5), (126, 5), (216, 6), (243, 3), (1000, 10)])
def test_dilated_convolutions_at_a_whole_power(n, k):
    """Where a logarithm of floating-point numbers comes out a little above a whole number."""
    layer = "convolutional, dilated"
    expected = formulas(PATHS, "layers or steps")[layer](n=n, k=k)
    for times in (expected - 1, expected):
        x = torch.ones(n, 1, dtype=torch.float64, requires_grad=True)
        STACKS[layer](x, times, k, None)[-1].backward()
        assert bool(x.grad[0] != 0) == (times == expected)


# Section 5, and table 2


def test_times_and_operations_of_the_papers_training():
    hours, days = 100_000 * 0.4 / 3600, 300_000 * 1.0 / 86_400
    assert 11 < hours < 12 and round(days, 1) == 3.5
    a_second = 8 * 9.5e12
    assert f"{12 * 3600 * a_second:.1e}" == "3.3e+18" and f"{3.5 * 86_400 * a_second:.1e}" == "2.3e+19"


# Table 3

SCORES = table("row", "change", "perplexity", "BLEU")
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


def printed():
    """Return the rows for which the paper prints a size; big is the last."""
    rows = [row for row in SIZES if row["paper"]]
    assert len(rows) == 11 and rows[-1]["row"] == "big"
    return rows


def test_both_tables_have_the_same_rows():
    scored, sized = ([(row["row"], row["change"]) for row in rows] for rows in (SCORES, SIZES))
    assert len(scored) == len(set(scored)) == 20
    assert [row for row in scored if "smoothing" not in row[1]] == sized


def test_where_perplexity_and_bleu_part():
    """The page names each change that lowers both."""
    base, *others = ((row["change"], float(row["perplexity"]), float(row["BLEU"])) for row in SCORES)
    both_lower = [change for change, *scores in others if scores[0] < base[1] and scores[1] < base[2]]
    assert both_lower == ["`num_layers=8`", "`smoothing=0.0`"]
    assert "Two of the changes lower the perplexity and the BLEU: eight layers, and training without label smoothing" in PROSE


def test_chapter_15_has_the_perplexities_of_table_3():
    cell = ast.parse(cells_of("notebooks/15_interpretation.ipynb")["table-three"])
    given = {node.targets[0].id: node.value for node in cell.body if isinstance(node, ast.Assign)}
    theirs = {name: perplexity for name, (_, perplexity) in ast.literal_eval(given["PAPER"]).items()}
    theirs["base"] = ast.literal_eval(given["PAPER_BASE"])
    perplexity = {row["change"]: float(row["perplexity"]) for row in SCORES}
    assert theirs == {row["chapter 15"].strip("`"): perplexity[row["change"]] for row in SIZES if row["chapter 15"]}


@pytest.mark.parametrize("row", SIZES, ids=lambda row: f"{row['row']} {row['change']}")
def test_sizes_of_table_3(row):
    assert f"{size(row):,}" == row["ours"]
    vocabulary = {"source_vocab_size": 41_100, "target_vocab_size": 41_100}
    larger = f"{size(row, **vocabulary) / 1e6:.2f}" if row["paper"] else ""
    assert larger == row["ours with 41,100 tokens"]


def test_a_larger_vocabulary_gives_ten_printed_sizes():
    ten = printed()[:-1]
    ours, widths, theirs = zip(*((size(row), changed(row)[0].d_model, int(row["paper"])) for row in ten))
    assert all(1e6 < 1e6 * paper - number < 4.2e6 for number, paper in zip(ours, theirs))
    fits = lambda tokens: [round((n + (tokens - 37_000) * d) / 1e6) for n, d in zip(ours, widths)] == list(theirs)
    ends = re.search(r"from (4\d,\d+) to (4\d,\d+) tokens", PROSE).groups()
    lowest, highest = (int(number.replace(",", "")) for number in ends)
    assert [tokens for tokens in range(36_000, 46_000) if fits(tokens)] == list(range(lowest, highest + 1))
    assert lowest <= 41_100 <= highest


def test_the_printed_size_of_big_does_not_fit():
    big, wide = printed()[-1], next(row for row in SIZES if row["change"] == "`d_model=1024`")
    assert replace(changed(big)[0], dropout=0.3) == TransformerConfig.big()
    more = size(big) - size(wide)
    assert more == sum(parameter_table(changed(big)[0]).values()) - sum(parameter_table(changed(wide)[0]).values())
    assert f"{more:,} parameters more" in PROSE
    assert int(big["paper"]) - int(wide["paper"]) == 45 < more / 1e6 - 1


def test_chapter_15s_sizes_are_those_of_its_record():
    sizes = record("translation_sizes")["numbers"]
    shown = {row["chapter 15"].strip("`"): row["its parameters"] for row in SIZES if row["chapter 15"]}
    assert shown == {name: f"{rows[0]['parameters']:,}" for name, rows in sizes.items() if name != "pre-norm"}


# Where we differ


def test_how_long_a_translation_may_be(monkeypatch):
    asked = []
    monkeypatch.setattr(translation, "greedy_decode", lambda model, source, max_len: asked.append((source, max_len)) or source)
    translator = translation.pretrained_translator()
    translator.translate("I am a student")
    ((source, max_len),) = asked  # greedily, since no beam was asked for
    assert max_len == 2 * source.size(1) + 10 < source.size(1) + 50


def test_the_biases_of_attention_in_the_base_model():
    with torch.device("meta"):
        model = CachedTransformer(TransformerConfig.base())
    layers = [module for module in model.modules() if isinstance(module, MultiHeadAttention)]
    biases = sum(part.bias.numel() for layer in layers for part in layer.children() if isinstance(part, nn.Linear))
    assert f"{biases:,} in the base model" in PROSE


def test_variants_are_off():
    base = TransformerConfig.base()
    assert (base.pre_norm, base.attention_dropout, base.positions) == (False, 0.0, "sinusoidal")


# How our translators are trained

COMMAND = ["--data", "folder", "--out", "folder"]  # what nobody can leave out


def settings(config, *, vocabulary, max_tokens, steps, factor, warmup, smoothing, limit, cooldown=0):
    """Return the cells of a column of the table."""
    return {
        "layers": f"{config.num_layers}",
        "`d_model`": f"{config.d_model}",
        "heads": f"{config.num_heads}",
        "`d_ff`": f"{config.d_ff:,}",
        "norm": "before" if config.pre_norm else "after",
        "dropout": f"{config.dropout}",
        "joint vocabulary": f"{vocabulary:,}",
        "tokens of a batch, each side": f"{max_tokens:,}",
        "steps": f"{steps:,}",
        "factor of the rate": f"{factor}",
        "steps of warm-up": f"{warmup:,}",
        "highest rate": highest_rate(config, factor, warmup),
        "steps of cool-down": f"{cooldown:,}" if cooldown else "none",
        "label smoothing": f"{smoothing}",
        "longest gradient": "no limit" if math.isinf(limit) else f"{limit}",
    }


def highest_rate(config, factor, warmup):
    return f"{factor * noam_rate(warmup, config.d_model, warmup):.4f}"


def of_the_command(*options):
    """Return the column of `transformer-train` with these options."""
    given = train_options(train_parser(), [*COMMAND, *options])
    config = model_config(given, given.vocab_size, given.vocab_size)
    assert config.shared_vocabulary
    return settings(
        config,
        vocabulary=given.vocab_size,
        max_tokens=given.max_tokens,
        steps=given.steps,
        factor=given.learning_rate,
        warmup=given.warmup,
        smoothing=given.smoothing,
        limit=given.max_grad_norm,
        cooldown=given.cooldown,
    )


THE_PAPERS = settings(
    TransformerConfig.base(),
    vocabulary=37_000,
    max_tokens=25_000,
    steps=100_000,
    factor=1.0,
    warmup=4000,
    smoothing=0.1,
    limit=math.inf,
)


def of_a_translator(name, **names):
    """Return the column of one of the library's two, from what its file holds and from the record beside it."""
    config = translation.pretrained_translator(name).model.config
    written = json.loads((ROOT / "transformer_lib" / "pretrained" / f"{name}.json").read_text(encoding="utf-8"))["settings"]
    assert (written["d_model"], written["dropout"]) == (config.d_model, config.dropout)
    assert config.source_vocab_size == written[names["vocabulary"]] and config.shared_vocabulary
    return settings(config, **{name: written[key] for name, key in names.items()})


def test_settings_of_our_translators():
    rows = table("setting", "the paper's base")
    columns = {name: {row["setting"]: row[name] for row in rows} for name in rows[0]}
    same = {name: name for name in ("max_tokens", "steps", "warmup", "smoothing")}
    assert columns["the paper's base"] == THE_PAPERS
    assert columns["chapter 14"] == of_a_translator("translator", vocabulary="vocabulary", factor="rate", limit="clip", **same)
    captions = {"vocabulary": "vocab_size", "factor": "learning_rate", "limit": "max_grad_norm", "cooldown": "cooldown"}
    assert columns["captions"] == of_a_translator("captions", **captions, **same)
    assert columns["`transformer-train`"] == of_the_command()
    with_base = of_the_command("--config", "base")
    assert f"its highest rate is then {with_base['highest rate']}, after {with_base['steps of warm-up']} steps" in PROSE


def test_the_papers_training_as_a_command():
    (line,) = re.findall(r"^transformer-train (.+)$", PAGE, re.MULTILINE)
    assert of_the_command(*shlex.split(line)) == THE_PAPERS


def test_the_papers_recipe():
    """Its big model, its averages, and what somebody names goes before it."""
    base, big, own = (
        train_options(train_parser(), [*COMMAND, "--recipe", "paper", *more])
        for more in ([], ["--config", "big"], ["--steps", "10", "--config", "tiny"])
    )
    assert (base.config, base.average, base.every * 0.4, base.accumulation_steps) == ("base", 5, 600, 8)
    assert (big.config, big.average, big.every * 1.0, big.steps) == ("big", 20, 600, 300_000)
    assert (own.config, own.steps, own.warmup) == ("tiny", 10, 4000)
    assert train_options(train_parser(), COMMAND) == train_parser().parse_args(COMMAND)
