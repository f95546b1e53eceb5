"""What came after: each later part equals what it should, and where nothing is new, it equals ours."""

import math
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from benchmarks.after_positions import broken_off as count_broken_off
from transformer_lib.attention import MultiHeadAttention, join_heads, scaled_dot_product_attention, split_heads
from transformer_lib.decoding import attend, keys_and_values
from transformer_lib.masks import causal_mask
from transformer_lib.seq2seq import EOS_ID, PAD_ID
from transformer_lib.teaching import record
from transformer_lib.teaching.later_models import (
    POSITIONS,
    AlibiBias,
    BiasedAttention,
    QueryKeyNormAttention,
    T5Bias,
    WindowedAttention,
    hide_words,
    online_attention,
    with_positions,
)
from transformer_lib.transformer import Transformer, TransformerConfig
from transformer_lib.translation import pretrained_translator

VOCAB = 13
SIZES = {"d_model": 16, "num_layers": 2, "num_heads": 4, "d_ff": 32, "dropout": 0.1, "max_len": 20}
CONFIG = TransformerConfig(source_vocab_size=VOCAB, target_vocab_size=VOCAB, **SIZES)

pytestmark = pytest.mark.usefixtures("float64_default")


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


# A number for each distance


def test_the_bias_is_added_to_the_scores():
    attention, x = BiasedAttention(8, 2, bias=AlibiBias(2)), torch.randn(1, 4, 8)
    q = split_heads(attention.W_q(x), 2)
    k, v = keys_and_values(attention, x)
    scores = q @ k.transpose(-2, -1) / 2  # √d_k is 2
    for head, slope in ((0, 1 / 16), (1, 1 / 256)):
        for i in range(4):
            for j in range(4):
                scores[0, head, i, j] += -math.inf if j > i else -slope * (i - j)
    expected = attention.W_o(join_heads(scores.softmax(dim=-1) @ v))
    assert_close(attention(x, x, x, causal_mask(4)), expected)


@pytest.mark.parametrize("bias", [AlibiBias(2), T5Bias(2, True)], ids=["ALiBi", "T5"])
def test_a_row_that_may_see_nothing_gives_zeros(bias):
    attention, x = BiasedAttention(8, 2, bias=bias), torch.randn(1, 3, 8, requires_grad=True)
    mask = causal_mask(3).clone()
    mask[1] = False
    attention(x, x, x, mask).sum().backward()
    assert_close(attention(x, x, x, mask)[0, 1], attention.W_o.bias)
    assert x.grad.isfinite().all()


def test_t5s_buckets():
    """Looking to both sides: eight exact ones a side, then wider; looking back only: sixteen exact, then wider."""
    both, back = T5Bias(1, True), T5Bias(1, False)
    distance = torch.tensor([0, -1, -7, -8, -11, -12, -22, -23, -127, -500, 1, 7, 8, 500])
    assert both.bucket(distance).tolist() == [0, 1, 7, 8, 8, 9, 10, 11, 15, 15, 17, 23, 24, 31]
    distance = torch.tensor([0, -1, -15, -16, -18, -19, -127, -500, 1, 7])
    assert back.bucket(distance).tolist() == [0, 1, 15, 16, 16, 17, 31, 31, 0, 0]


def test_without_positions_an_encoder_is_blind_to_the_order():
    source, order = torch.tensor([[3, 4, 5, 6, 7]]), [4, 2, 0, 1, 3]
    for kind in POSITIONS:
        model = with_positions(Transformer(CONFIG), kind).eval()
        for part in model.modules():
            if isinstance(part, T5Bias):
                nn.init.normal_(part.table)
        same = torch.allclose(model.start(source[:, order]).memory, model.start(source).memory[:, order])
        assert same == (kind == "none"), kind


# The shapes of a model


def test_one_word_in_seven_is_hidden():
    """15 % are chosen: of these 8 of 10 become the hidden sign, 1 of 10 any word, and 1 of 10 stays."""
    hidden_id = VOCAB
    tokens = torch.randint(PAD_ID, VOCAB, (400, 100))
    seen, answer = hide_words(tokens, hidden_id, VOCAB)
    word, chosen = tokens > EOS_ID, answer != PAD_ID
    assert not (chosen & ~word).any()
    assert torch.equal(answer[chosen], tokens[chosen]) and torch.equal(seen[~chosen], tokens[~chosen])
    assert (chosen.sum() / word.sum()).item() == pytest.approx(0.15, abs=0.01)
    assert (seen[chosen] == hidden_id).double().mean().item() == pytest.approx(0.8, abs=0.02)
    # Any word may be the word itself: one in ten times the ten words there are.
    assert (seen[chosen] == tokens[chosen]).double().mean().item() == pytest.approx(0.11, abs=0.02)
    assert set(seen[chosen].tolist()) == set(range(EOS_ID + 1, VOCAB + 1))


# Attention itself


def test_a_window_by_loops():
    """Each word is mixed from the words at most two places away, those behind it hidden."""
    attention, x = WindowedAttention(8, 2, reach=2), torch.randn(1, 6, 8)
    q = split_heads(attention.W_q(x), 2)
    k, v = keys_and_values(attention, x)
    heads = torch.zeros_like(q)
    for i in range(6):
        seen = [j for j in range(6) if i - 2 <= j <= i]
        weights = (q[:, :, i : i + 1] @ k[:, :, seen].transpose(-2, -1) / 2).softmax(dim=-1)  # √d_k is 2
        heads[:, :, i] = (weights @ v[:, :, seen])[:, :, 0]
    expected = attention.W_o(join_heads(heads))
    assert_close(attention(x, x, x, causal_mask(6)), expected)
    # The last word alone, as a cache would ask for it.
    assert_close(attend(attention, x[:, 5:], (k, v), None), expected[:, 5:])
    wide, ours = WindowedAttention(8, 2, reach=5), MultiHeadAttention(8, 2)
    wide.load_state_dict(ours.state_dict())
    assert_close(wide(x, x, x), ours(x, x, x))


@pytest.mark.parametrize("block", [1, 2, 3, 7])
def test_online_attention_is_equation_1(block):
    """Output and gradients, for blocks that divide the keys and that do not, and for scores that no exponential could hold."""
    given = [torch.randn(2, seq, 4, requires_grad=True) for seq in (5, 7, 7)]
    ours, equation = online_attention(*given, block), scaled_dot_product_attention(*given)[0]
    assert_close(ours, equation)
    weight = torch.randn_like(ours)
    pairs = (torch.autograd.grad((output * weight).sum(), given) for output in (ours, equation))
    for own, expected in zip(*pairs, strict=True):
        assert_close(own, expected)
    large = [1000 * x.detach() for x in given]
    assert_close(online_attention(*large, block), scaled_dot_product_attention(*large)[0])


def test_normalised_queries_and_keys_bound_the_scores():
    """With γ = 1 a score is at most √d_k, however large the weights; ours grows with them."""
    attention, x = QueryKeyNormAttention(8, 2), torch.randn(1, 6, 8)
    for projection in (attention.W_q, attention.W_k):
        projection.weight.data *= 1000
    q = attention.query_norm(split_heads(attention.W_q(x), 2))
    plain_k, v = keys_and_values(attention, x)
    k = attention.key_norm(plain_k)
    scores = q @ k.transpose(-2, -1) / 2  # √d_k is 2
    assert 1 < scores.abs().max() <= 2
    assert (split_heads(attention.W_q(x), 2) @ plain_k.transpose(-2, -1) / 2).abs().max() > 1000
    expected = attention.W_o(join_heads(scores.softmax(dim=-1) @ v))
    assert_close(attention(x, x, x), expected)


# The numbers of the page


def test_the_pages_table_is_the_record():
    page = (Path(__file__).resolve().parents[2] / "book" / "after.md").read_text(encoding="utf-8")
    table = page.partition("| positions | held out | longer | unseen pairs | cut off |")[2].partition("\n\n")[0]
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    expected = []
    for kind, runs in record("after_positions")["numbers"].items():
        shares = [" ".join(f"{run[which]['exact_match']:.3f}" for run in runs) for which in ("held_out", "longer", "unseen")]
        # Chapter 14's translator is the first of the sinusoids' seeds.
        own = [count_broken_off(pretrained_translator())] if kind == "sinusoids" else [run["broken_off"] for run in runs]
        expected.append([kind, *shares, " ".join(map(str, own))])
    assert found == expected
