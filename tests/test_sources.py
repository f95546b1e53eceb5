"""book/sources.md is true: every part of the five documents has a row, each link its cell, each correction its check.

The tests named `test_s2_8_…` are checks of the corrections: what the document has, run beside what is right. A number that they
work out must stand in the row of that name.
"""

import ast
import re
from math import cos, log, sin
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from tools import notebooks
from transformer_lib.attention import scaled_dot_product_attention
from transformer_lib.decoder import Decoder
from transformer_lib.encoder import LayerNorm, TransformerConfig
from transformer_lib.masks import causal_mask
from transformer_lib.positional_encoding import PositionalEncoding, sinusoidal_table
from transformer_lib.seq2seq import PAD_ID, RecurrentEncoder
from transformer_lib.text import bucket_batches, pad_batch

PAGE = (notebooks.ROOT / "book" / "sources.md").read_text(encoding="utf-8")
LINK = re.compile(r"\]\(\.\./notebooks/(?P<stem>\w+)\.ipynb(?:#cell-(?P<cell>[\w-]+))?\)")
ANY_LINK_TO_A_CHAPTER = re.compile(r"\]\([^)]*\.ipynb[^)]*\)")
PART = re.compile(r"^\| (?P<number>\d+)(?P<example>[a-z]?) \|(?P<text>.*)\|$", re.MULTILINE)
CORRECTION = re.compile(r"^\| \*\*(?P<name>S\d-\d+)\*\*(?: ★)? \|(?P<text>.*)\|$", re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.^-])\d[\d,]*\.\d+|(?<![\w.,^-])\d{2,}(?:,\d{3})*")

# How many headings each document has, those that only hold other headings left out.
PARTS = {"S0": 8, "S1": 6, "S2": 19, "S3": 8, "S4": 7}

CORRECTIONS = {row["name"]: row["text"] for row in CORRECTION.finditer(PAGE)}


def rows_of(document):
    """Return the rows of a document's first table: those between its heading and the next one."""
    inside = re.search(rf"^## {document} · .*?(?=^##)", PAGE, re.DOTALL | re.MULTILINE)
    return list(PART.finditer(inside[0]))


def checked_here():
    """Return the names of the corrections that have a test in this file: `S2-8` for `test_s2_8_…`."""
    functions = [node.name for node in ast.parse(Path(__file__).read_text(encoding="utf-8")).body if hasattr(node, "name")]
    found = (re.match(r"test_(s\d)_(\d+)_", name) for name in functions)
    return {f"{match[1].upper()}-{match[2]}" for match in found if match}


@pytest.mark.parametrize("document", PARTS)
def test_every_part_has_a_row_with_a_link(document):
    rows = rows_of(document)
    numbers = [int(row["number"]) for row in rows]
    assert numbers == sorted(numbers) and set(numbers) == set(range(1, PARTS[document] + 1))
    without_link = [row["number"] + row["example"] for row in rows if not ANY_LINK_TO_A_CHAPTER.search(row["text"])]
    assert not without_link


def test_every_link_names_a_cell():
    cells = {path.stem: {cell.id for cell in notebooks.read(path).cells} for path in notebooks.all_notebooks()}
    links = list(LINK.finditer(PAGE))
    assert len(links) == len(ANY_LINK_TO_A_CHAPTER.findall(PAGE)), "a link is written in another way"
    broken = [link[0] for link in links if link["cell"] and link["cell"] not in cells.get(link["stem"], ())]
    broken += [link[0] for link in links if link["stem"] not in cells]
    assert not broken


def test_corrections_are_counted_from_one():
    for document in PARTS:
        numbers = [int(name.split("-")[1]) for name in CORRECTIONS if name.startswith(document)]
        assert numbers == list(range(1, len(numbers) + 1))
    assert f"{len(CORRECTIONS)} corrections" in PAGE


def test_every_correction_is_shown():
    """By a cell of a chapter, by a test here, or by what is cited."""
    tested = checked_here()
    assert tested <= set(CORRECTIONS)
    for name, text in CORRECTIONS.items():
        assert ("test" in text.split("|")[-1]) == (name in tested), f"{name}: the last column says whether a test holds it"
    unshown = [
        name
        for name, text in CORRECTIONS.items()
        if name not in tested and not LINK.search(text) and not re.search(r"manual|paper|by reading", text)
    ]
    assert not unshown


def test_every_number_is_shown():
    """In a row without a test, by a cell that the row links to."""
    cells = {(path.stem, cell.id): cell for path in notebooks.all_notebooks() for cell in notebooks.read(path).cells}
    missing = []
    for name in set(CORRECTIONS) - checked_here():
        linked = [cells[link["stem"], link["cell"]] for link in LINK.finditer(CORRECTIONS[name])]
        shown = " ".join(cell.source + str(cell.get("outputs", "")) for cell in linked)
        missing += [(name, number) for number in NUMBER.findall(CORRECTIONS[name].split("|")[1]) if number not in shown]
    assert not missing


def says(name, *numbers):
    """Hold the numbers of a check against its row."""
    missing = [number for number in numbers if number not in CORRECTIONS[name]]
    assert not missing, f"the row of {name} does not say {missing}"


def does_not_compile(program, error):
    with pytest.raises(error):
        compile(program, "as printed", "exec")


def does_not_run(program, error, message, **given):
    with pytest.raises(error, match=message):
        exec(program, given)


def random(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


# S0 · hyperparameters, positional encoding


def test_s0_1_two_names_for_one_table():
    class Printed:
        def __init__(self, position, d_model):
            self.pos_encoding = sinusoidal_table(position, d_model).unsqueeze(0)

        def call(self, inputs):
            return inputs + self.post_encoding[:, : inputs.shape[1], :]

    x, layer = random(2, 3, 8), Printed(50, 8)
    with pytest.raises(AttributeError, match="post_encoding"):
        layer.call(x)
    layer.post_encoding = layer.pos_encoding
    assert_close(layer.call(x), PositionalEncoding(d_model=8)(x))


def test_s0_2_methods_without_indent():
    does_not_compile("class Table:\n\ndef __init__(self):\n    pass", IndentationError)
    compile("class Table:\n\n    def __init__(self):\n        pass", "repaired", "exec")


def test_s0_4_index_of_a_pair_or_of_a_dimension():
    as_text, as_code = 10_000 ** (2 * 6 / 8), 10_000 ** (2 * (6 // 2) / 8)
    says("S0-4", f"{as_text:,.0f}", f"{as_code:,.0f}")
    ours = sinusoidal_table(2, 8)[1, 6].item()
    assert_close(ours, sin(1 / as_code), rtol=0, atol=1e-7)


def test_s0_7_angles_in_float32():
    position, pair = torch.arange(5000.0).unsqueeze(1), torch.arange(256.0)
    angles = position * (1 / torch.pow(10_000.0, 2 * pair / 512))
    ours = sinusoidal_table(5000, 512)[:, 0::2]
    error = (angles.sin() - ours).abs()[4999].max().item()
    assert 1e-4 < error < 1e-3


# S1 · the decoder


def s1_attention(querys, keys, values, is_causal=False):
    scores = querys @ keys.transpose(-2, -1) / querys.size(-1) ** 0.5
    if is_causal:
        hidden = torch.ones(scores.shape[-2:]).tril() == 0
        scores = scores.masked_fill(hidden, -torch.inf)
    return scores.softmax(dim=-1) @ values


def test_s1_2_four_words_not_four_sentences():
    one, four = random(4, 8), random(4, 4, 8)
    assert (one @ one.mT).shape == (4, 4) and (four @ four.mT).shape == (4, 4, 4)
    says("S1-2", "`(4, 4)`", "`(4, 4, 4)`")


def test_s1_4_hidden_weights_are_zero():
    x, past = random(4, 8), causal_mask(4)
    _, weights = scaled_dot_product_attention(x, x, x, past)
    assert (weights[~past] == 0).all()


def test_s1_6_the_word_itself_leaks():
    """The second row has to name the third word: without a mask it moves with it."""
    words, changed = random(4, 8), random(4, 8)
    changed[2] += 1
    for is_causal in (False, True):
        before, after = (s1_attention(x, x, x, is_causal) for x in (words, changed))
        assert torch.equal(before[1], after[1]) == is_causal


def test_s1_10_names_that_nobody_imports():
    program = "import torch\nscores = torch.zeros(2, 2) / sqrt(4)"
    does_not_run(program, NameError, "sqrt")
    does_not_run("import torch\nF.softmax(torch.zeros(2), dim=-1)", NameError, "F")


def test_s1_11_a_slip_in_a_name():
    does_not_compile("torch.tri()l", SyntaxError)


def test_s1_12_a_mask_on_another_device():
    scores, hidden = torch.zeros(4, 4, device="meta"), torch.ones(4, 4).tril() == 0
    with pytest.raises(RuntimeError, match="device"):
        scores.masked_fill(hidden, -torch.inf)
    scores.masked_fill(hidden.to(scores.device), -torch.inf)


def test_s1_15_training_names_every_word_at_once():
    """One pass gives the output of every place, and step by step they are the same."""
    decoder = Decoder(TransformerConfig(d_model=8, num_layers=2, num_heads=2, d_ff=16)).eval()
    x, memory = random(1, 4, 8), random(1, 5, 8)
    at_once = decoder(x, memory, causal_mask(4))
    for words in range(1, 5):
        so_far = decoder(x[:, :words], memory, causal_mask(words))
        assert_close(so_far[:, -1], at_once[:, words - 1])


def test_s1_16_each_layer_makes_its_own_keys():
    torch.manual_seed(0)
    decoder = Decoder(TransformerConfig(d_model=8, num_layers=2, num_heads=2, d_ff=16))
    memory = random(1, 5, 8)
    keys = [layer.cross_attention.key_projection(memory) for layer in decoder.layers]
    for one, other in [(keys[0], keys[1]), (keys[0], memory), (keys[1], memory)]:
        assert (one - other).abs().max() > 0.1


def test_s1_17_no_place_for_a_padding_mask():
    x = random(4, 8)
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        s1_attention(x, x, x, mask=torch.tensor([True, True, True, False]))
    padded = x.clone()
    padded[3] = 100
    alone, moved = s1_attention(x[:3], x, x), s1_attention(x[:3], padded, padded)
    assert not torch.equal(alone, moved)


# S2 · from recurrent networks to attention


def test_s2_1_two_sets_of_weights():
    neuron = nn.RNNCell(input_size=3, hidden_size=1, bias=False)
    assert [weight.numel() for weight in neuron.parameters()] == [3, 1]
    says("S2-1", "3 + 1 = 4")


def test_s2_5_the_usual_activation():
    assert nn.RNN(3, 4).nonlinearity == "tanh"


def test_s2_7_names_that_nobody_made():
    program = 'dataset = {"train": []}\nfor batch in datasets["train"]: pass'
    does_not_run(program, NameError, "datasets")
    does_not_run("K = keras.backend", NameError, "keras")


def test_s2_8_a_function_without_a_body():
    head, line = "def preprocess(X_batch, y_batch):\n", "X_batch = X_batch[:300]"
    does_not_compile(head + "\n" + line, IndentationError)
    compile(head + "    " + line, "repaired", "exec")


def test_s2_13_batches_leave_the_data_as_large_as_it_is():
    reviews = [[3, 4], [5], [6, 7, 8], [9], [3]]
    batches = bucket_batches(reviews, labels=[0, 1, 0, 1, 0], batch_size=2)
    sizes = [len(tokens) for tokens, _ in batches]
    assert sum(sizes) == 5 and max(sizes) == 2


def test_s2_15_padding_makes_lengths_equal_and_masks_do_not():
    with pytest.raises(ValueError, match="expected sequence of length 3"):
        torch.tensor([[3, 4, 5], [6]])
    tokens = pad_batch([[3, 4, 5], [6]])
    assert tokens.shape == (2, 3) and (tokens != PAD_ID).sum(dim=1).tolist() == [3, 1]
    says("S2-15", "`(2, 3)`")


def test_s2_16_an_input_that_nobody_made():
    program = "dict(sequence_length=sequence_lengths)"
    does_not_run(program, NameError, "sequence_lengths")


def test_s2_18_one_table_for_two_languages():
    """A step on the English word 7 moves the French word 7."""
    shared, french = nn.Embedding(100, 10), nn.Embedding(100, 10)
    shared(torch.tensor([7])).sum().backward()
    assert shared.weight.grad[7].abs().sum() > 0 and french.weight.grad is None


def test_s2_19_an_encoder_that_reads_padding():
    torch.manual_seed(0)
    encoder = RecurrentEncoder(100, d_model=10, hidden_size=16, layer=nn.LSTM)
    alone, padded = torch.tensor([[5, 6, 7]]), torch.tensor([[5, 6, 7, PAD_ID, PAD_ID]])
    _, (right, _) = encoder(alone)
    assert_close(encoder(padded)[1][0], right)
    _, (as_printed, _) = encoder.layer(encoder.embedding(padded))
    assert (as_printed - right).abs().max() > 0.05


FIRST = {"A": 0.40, "B": 0.35, "C": 0.25}
SECOND = {"A": {"a": 0.5, "b": 0.5}, "B": {"a": 0.5, "b": 0.5}, "C": {"a": 1.0}}


def best_of_beam(width):
    """Return what a beam of that width ends with: two words, and their probability."""
    beam = sorted(FIRST, key=FIRST.get, reverse=True)[:width]
    ends = {a + b: FIRST[a] * p for a in beam for b, p in SECOND[a].items()}
    best = max(ends, key=ends.get)
    return best, f"{ends[best]:.2f}"


def test_s2_21_a_beam_that_has_dropped_the_best():
    found = [best_of_beam(width) for width in (1, 2, 3)]
    assert found == [("Aa", "0.20"), ("Aa", "0.20"), ("Ca", "0.25")]
    says("S2-21", "0.20", "0.25")


def test_s2_29_the_columns_of_an_odd_width():
    """S2 widens 5 to 6 and cuts; its own formula with d = 5 gives other numbers."""
    program, formula = sin(1 / 10_000 ** (2 / 6)), sin(1 / 10_000 ** (2 / 5))
    says("S2-29", f"{program:.4f}", f"{formula:.4f}")


def test_s2_31_the_nearest_key_need_not_be_near_one():
    weights = torch.tensor([1.0, 0.9, 0.8]).softmax(dim=0)
    says("S2-31", f"{weights.max():.2f}")


# S3 · the encoder's matrices


def test_s3_3_two_biases_of_two_widths():
    inner, outer = nn.Linear(8, 12), nn.Linear(12, 8)
    assert (inner.bias.shape, outer.bias.shape) == ((12,), (8,))


def test_s3_7_a_product_of_matrices():
    weights, values = random(3, 3).softmax(dim=-1), random(3, 2)
    mixed = weights @ values
    by_rows = [weight * value for weight, value in zip(weights[1], values)]
    assert_close(mixed[1], sum(by_rows))
    with pytest.raises(RuntimeError, match="1D tensors expected"):
        torch.dot(weights, values)


def test_s3_8_which_way_to_standardise():
    """By columns, as tables are scaled, one token changes what another becomes."""
    x = random(3, 8)
    changed = x.clone()
    changed[0] += torch.arange(8.0)

    def by_columns(x):
        return (x - x.mean(dim=0)) / x.std(dim=0, unbiased=False)

    assert_close(LayerNorm(8)(x)[1], LayerNorm(8)(changed)[1])
    assert (by_columns(x)[1] - by_columns(changed)[1]).abs().max() > 0.1


# S4 · positional encoding and positional embedding


def s4_table(length, width):
    """Fill a table as the document does: in float32, all from the same factors."""
    factors = torch.exp(-log(10_000.0) / width * torch.arange(0.0, width, 2))
    angles = torch.arange(float(length)).outer(factors)
    table = torch.zeros(length, width)
    table[:, 0::2], table[:, 1::2] = angles.sin(), angles.cos()
    return table


def test_s4_2_an_argument_by_another_name():
    program = "def add(word_emb, table):\n    return sent_embs + table\nadd(0, 0)"
    does_not_run(program, NameError, "sent_embs")


def test_s4_3_an_import_that_binds_nn_alone():
    does_not_run("import torch.nn as nn\ntable = torch.zeros(2, 4)", NameError, "torch")
    does_not_run("import torch\nfactor = math.log(10000.0)", NameError, "math")


def test_s4_4_width_and_length_are_two_numbers():
    assert sinusoidal_table(50, 128).shape == (50, 128)
    assert sinusoidal_table(1000, 8).shape == (1000, 8)
    says("S4-4", "1000", "8")


def test_s4_6_counted_from_one_or_from_zero():
    assert s4_table(4, 4)[0].tolist() == [0, 1, 0, 1]
    assert_close(s4_table(4, 4)[1, :2].tolist(), [sin(1), cos(1)], rtol=0, atol=1e-6)
    says("S4-6", f"{sin(1):.2f}")


def test_s4_9_a_table_that_ends():
    with pytest.raises(RuntimeError, match="must match"):
        torch.zeros(11, 8) + s4_table(10, 8)[:11]
    says("S4-9", "10", "11")


def test_s4_11_an_odd_width():
    """The document explains its formula with a vector of 5 numbers."""
    with pytest.raises(RuntimeError, match="expanded size"):
        s4_table(10, 5)
    with pytest.raises(ValueError, match="even"):
        sinusoidal_table(10, 5)


def test_s4_13_angles_in_float32():
    error = (s4_table(5000, 512) - sinusoidal_table(5000, 512)).abs()[4999].max().item()
    assert 1e-4 < error < 1e-3
