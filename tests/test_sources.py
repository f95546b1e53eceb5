"""book/sources.md is true: every part of the five documents has a row, each link its cell, each correction its cell and rank.

The tests named `test_s2_8_…` are checks of the corrections: our code, run against what the document says. A number that they
work out must stand in the row of that name.
"""

import ast
import math
import re
from dataclasses import replace
from math import log, sin
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from tools import notebooks
from transformer_lib.attention import scaled_dot_product_attention
from transformer_lib.decoder import Decoder
from transformer_lib.decoding import beam_hypotheses
from transformer_lib.encoder import LayerNorm, TransformerConfig
from transformer_lib.masks import causal_mask
from transformer_lib.positional_encoding import LearnedPositionalEmbedding, PositionalEncoding, sinusoidal_table
from transformer_lib.recurrent import RNNCell
from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID, RecurrentEncoder, greedy_decode
from transformer_lib.text import pad_batch
from transformer_lib.transformer import Transformer

PAGE = (notebooks.ROOT / "book" / "sources.md").read_text(encoding="utf-8")
LINK = re.compile(r"\]\(\.\./notebooks/(?P<stem>\w+)\.ipynb(?:#cell-(?P<cell>[\w-]+))?\)")
ANY_LINK_TO_A_CHAPTER = re.compile(r"\]\([^)]*\.ipynb[^)]*\)")
PART = re.compile(r"^\| (?P<number>\d+)(?P<example>[a-z]?) \|(?P<text>.*)\|$", re.MULTILINE)
CORRECTION = re.compile(r"^\| \*\*(?P<name>S\d-\d+)\*\* \|(?P<text>.*)\|$", re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.^-])\d[\d,]*\.\d+|(?<![\w.,^-])\d{2,}(?:,\d{3})*")

# How many headings each document has, those that only hold other headings left out.
PARTS = {"S0": 8, "S1": 6, "S2": 19, "S3": 8, "S4": 7}

# The headings under which the corrections stand, the strongest first.
RANKS = ("Wrong", "Made precise", "Slips")
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
    """Through all ranks."""
    for document in PARTS:
        numbers = [int(name.split("-")[1]) for name in CORRECTIONS if name.startswith(document)]
        assert numbers == list(range(1, len(numbers) + 1))


def test_each_rank_is_counted():
    of_rank = {rank: PAGE.partition(f"\n### {rank}\n")[2].partition("\n### ")[0] for rank in RANKS}
    counts = [len(CORRECTION.findall(of_rank[rank])) for rank in RANKS]
    assert all(counts) and sum(counts) == len(CORRECTIONS) == len(CORRECTION.findall(PAGE))
    wrong, precise, slips = counts
    counted = f"{sum(counts)} corrections, {wrong} *wrong*, {precise} *made precise* and {slips} *slips*"
    assert counted in " ".join(PAGE.split())


def test_every_correction_is_shown():
    """By a cell of a chapter; the last column says whether a test here holds it as well."""
    tested = checked_here()
    assert tested <= set(CORRECTIONS)
    for name, text in CORRECTIONS.items():
        shown = text.split("|")[-1]
        assert LINK.search(shown)["cell"], name
        assert ("test" in shown) == (name in tested), name


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


def random(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


# S0 · hyperparameters, positional encoding


def test_s0_1_index_of_a_pair_or_of_a_dimension():
    by_words, by_program = 10_000 ** (2 * 6 / 8), 10_000 ** (2 * (6 // 2) / 8)
    says("S0-1", f"{by_words:,.0f}", f"{by_program:,.0f}")
    ours = sinusoidal_table(2, 8)[1, 6].item()
    assert_close(ours, sin(1 / by_program), rtol=0, atol=1e-7)


def test_s0_3_angles_in_float32():
    position, pair = torch.arange(5000.0).unsqueeze(1), torch.arange(256.0)
    angles = position * (1 / torch.pow(10_000.0, 2 * pair / 512))
    ours = sinusoidal_table(5000, 512)[:, 0::2]
    error = (angles.sin() - ours).abs()[4999].max().item()
    assert 1e-4 < error < 1e-3


# S1 · the decoder


def attend(x, mask=None):
    output, _ = scaled_dot_product_attention(x, x, x, mask)
    return output


def test_s1_1_four_words_not_four_sentences():
    shapes = []
    for x in (random(4, 8), random(4, 4, 8)):  # a sentence of four words, and four such
        _, weights = scaled_dot_product_attention(x, x, x)
        shapes.append(tuple(weights.shape))
    says("S1-1", *map(str, shapes))


def test_s1_3_a_mask_on_another_device():
    x = torch.zeros(4, 8, device="meta")
    with pytest.raises(ValueError, match="mask must be on meta, but it is on cpu"):
        attend(x, causal_mask(4))
    assert attend(x, causal_mask(4, x.device)).device.type == "meta"


def test_s1_7_the_word_itself_leaks():
    """The second row has to name the third word: without a mask it moves with it."""
    words, changed = random(4, 8), random(4, 8)
    changed[2] += 1
    for mask, stays in ((None, False), (causal_mask(4), True)):
        assert torch.equal(attend(words, mask)[1], attend(changed, mask)[1]) == stays


def test_s1_10_training_names_every_word_at_once():
    """One pass gives the output of every place, and step by step they are the same."""
    config = TransformerConfig(d_model=8, num_layers=2, num_heads=2, d_ff=16)
    decoder = Decoder(config).eval()
    x, memory = random(1, 4, 8), random(1, 5, 8)
    at_once = decoder(x, memory, causal_mask(4))
    for words in range(1, 5):
        so_far = decoder(x[:, :words], memory, causal_mask(words))
        assert_close(so_far[:, -1], at_once[:, words - 1])


def test_s1_11_each_layer_makes_its_own_keys():
    torch.manual_seed(0)
    decoder = Decoder(TransformerConfig(d_model=8, num_layers=2, num_heads=2, d_ff=16))
    memory = random(1, 5, 8)
    keys = [layer.cross_attention.key_projection(memory) for layer in decoder.layers]
    for one, other in [(keys[0], keys[1]), (keys[0], memory), (keys[1], memory)]:
        assert (one - other).abs().max() > 0.1


def test_s1_12_a_place_for_a_padding_mask():
    x = random(4, 8)
    x[3] = 100  # padding, which is nothing to be read
    real = torch.tensor([[True, True, True, False]])
    alone = attend(x[:3])
    assert_close(attend(x, real)[:3], alone)
    assert not torch.allclose(attend(x)[:3], alone)


# Two words and EOS: the probabilities of what may follow each.
FIRST = {"A": 0.40, "B": 0.35, "C": 0.25}
SECOND = {"A": {"a": 0.5, "b": 0.5}, "B": {"a": 0.5, "b": 0.5}, "C": {"a": 1.0}}
IDS = {letter: EOS_ID + number for number, letter in enumerate("ABCab", start=1)}


class TwoWords(nn.Module):
    """A model that knows FIRST and SECOND by heart; any search can ask it."""

    max_len = math.inf

    def __init__(self):
        super().__init__()
        self.p = torch.zeros(EOS_ID + 6, EOS_ID + 6)  # (word, next word)
        self.p[[IDS["a"], IDS["b"]], EOS_ID] = 1
        seconds = {IDS[first]: second for first, second in SECOND.items()}
        for word, following in {SOS_ID: FIRST, **seconds}.items():
            for letter, probability in following.items():
                self.p[word, IDS[letter]] = probability

    def start(self, source):
        return self

    def reorder(self, rows):
        """What may follow depends on the last word alone."""

    def decode(self, tokens, state):
        return self.p.log()[tokens]


def best_of_beam(beam_size):
    """Return what a beam of that width ends with, and its probability."""
    source = torch.tensor([[1]])
    (best, *_), *_ = beam_hypotheses(TwoWords(), source, 3, beam_size, alpha=0.0)
    return best.tokens, f"{math.exp(best.log_probability):.2f}"


def test_s1_13_the_best_first_word_is_not_the_best_sentence():
    (greedy,) = greedy_decode(TwoWords(), torch.tensor([[1]]), max_len=3).tolist()
    best, probability = best_of_beam(4)
    assert (greedy[0], best) == (IDS["A"], (IDS["C"], IDS["a"], EOS_ID))
    assert float(probability) > 0.40 * 0.5, "more than any sentence that begins with A"


# S2 · from recurrent networks to attention


def test_s2_6_the_columns_of_an_odd_width():
    """S2 widens 5 to 6 and cuts; its own formula with d = 5 gives other numbers."""
    widened, formula = sinusoidal_table(2, 6)[1, 2].item(), sin(1 / 10_000 ** (2 / 5))
    says("S2-6", f"{widened:.4f}", f"{formula:.4f}")
    with pytest.raises(ValueError, match="even"):
        sinusoidal_table(2, 5)


def test_s2_8_two_sets_of_weights():
    neuron = RNNCell(input_size=3, hidden_size=1)
    says("S2-8", f"{neuron.weight_ih.numel()} + {neuron.weight_hh.numel()} = 4")


def test_s2_15_padding_makes_lengths_equal_and_masks_do_not():
    tokens = pad_batch([[3, 4, 5], [6]])
    says("S2-15", f"`{tuple(tokens.shape)}`")
    assert (tokens != PAD_ID).sum(dim=1).tolist() == [3, 1]


@pytest.mark.parametrize("shared", [True, False])
def test_s2_17_one_table_for_two_languages(shared):
    """A step on the English word 7 moves the French word 7."""
    sizes = TransformerConfig.tiny(source_vocab_size=10, target_vocab_size=10)
    model = Transformer(replace(sizes, shared_vocabulary=shared))
    model.source_embedding(torch.tensor([[7]])).sum().backward()
    moved = model.target_embedding.weight.grad
    assert (moved is not None and bool(moved[7].abs().sum() > 0)) == shared


def test_s2_18_an_encoder_that_reads_padding():
    torch.manual_seed(0)
    encoder = RecurrentEncoder(100, d_model=10, hidden_size=16, layer=nn.LSTM)
    alone, padded = torch.tensor([[5, 6, 7]]), torch.tensor([[5, 6, 7, PAD_ID, PAD_ID]])
    _, (right, _) = encoder(alone)
    assert_close(encoder(padded)[1][0], right)
    _, (as_printed, _) = encoder.layer(encoder.embedding(padded))
    assert (as_printed - right).abs().max() > 0.05


def test_s2_20_a_beam_that_has_dropped_the_best():
    found = [best_of_beam(beam_size) for beam_size in (1, 2, 3)]
    assert [(tokens[0], probability) for tokens, probability in found] == [
        (IDS["A"], "0.20"),
        (IDS["A"], "0.20"),
        (IDS["C"], "0.25"),
    ]
    says("S2-20", "0.20", "0.25")


def test_s2_25_the_nearest_key_need_not_be_near_one():
    query, keys = torch.tensor([[1.0]]), torch.tensor([[1.0], [0.9], [0.8]])
    _, weights = scaled_dot_product_attention(query, keys, keys)
    says("S2-25", f"{weights.max():.2f}")


# S3 · the encoder's matrices


def test_s3_6_which_way_to_standardise():
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


def test_s4_1_width_and_length_are_two_numbers():
    length, width = sinusoidal_table(1000, 8).shape
    says("S4-1", f"{length} positions", f"{width} wide")


def test_s4_4_an_odd_width():
    """The document explains its formula with a vector of 5 numbers."""
    with pytest.raises(RuntimeError, match="expanded size"):
        s4_table(10, 5)
    with pytest.raises(ValueError, match="even"):
        sinusoidal_table(10, 5)


def test_s4_6_a_learned_table_is_deterministic():
    layer = LearnedPositionalEmbedding(d_model=8, max_len=50)
    words = torch.zeros(1, 50, 8)
    (rows,) = layer(words)
    assert torch.equal(layer(words)[0], rows)
    assert torch.cdist(rows, rows).fill_diagonal_(math.inf).min() > 0
    assert layer.table.weight.requires_grad
    assert not list(PositionalEncoding(d_model=8).parameters())


def test_s4_8_counted_from_one_or_from_zero():
    first, second = sinusoidal_table(2, 4)[:, 0].tolist()
    says("S4-8", f"adds {first:.0f} in", f"{second:.2f}")


def test_s4_10_a_table_that_ends():
    assert torch.equal(sinusoidal_table(11, 8)[:10], sinusoidal_table(10, 8))
    with pytest.raises(ValueError, match="make max_len larger"):
        PositionalEncoding(d_model=8, max_len=10)(torch.zeros(1, 11, 8))
    says("S4-10", "11 words", "10 rows")


def test_s4_13_angles_in_float32():
    error = (s4_table(5000, 512) - sinusoidal_table(5000, 512)).abs()[4999].max().item()
    assert 1e-4 < error < 1e-3
