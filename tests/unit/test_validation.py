"""The checks: what each refuses, and in which words; none waits for a device or breaks a compiled model in two."""

import subprocess
import sys

import pytest
import torch

from transformer_lib import validation as check

IDS = torch.tensor([[3, 4, 0], [5, 0, 0]])
REFUSED = {
    "d_ff must be at least 1, but it is 0": lambda: check.check_at_least(1, d_model=8, d_ff=0),
    "rate must be at least 0, but it is nan": lambda: check.check_at_least(0, rate=float("nan")),
    "share must be in 0 … 1, but it is 1.5": lambda: check.check_range(0, 1, share=1.5),
    "dropout must be at least 0 and below 1, but it is 1": lambda: check.check_fraction(dropout=1),
    "reduction must be 'mean' or 'sum', but it is 'none'": lambda: check.check_choice(["mean", "sum"], reduction="none"),
    "texts must hold at least one, but it is empty": lambda: check.check_not_empty("texts", []),
    "words must be a list, not a text: 'the cat'": lambda: check.check_words("words", "the cat"),
    "source and target must be equally many, but they are 1 and 2": lambda: check.check_equal_lengths(
        source=[1], target=[1, 2]
    ),
    "d_model must be divisible by num_heads, but they are 8 and 3": lambda: check.check_heads(8, 3),
    "source needs 6 positions, but there are 5": lambda: check.check_positions("source", 6, 5),
    "source must hold ids in 0 … 4, but its ids lie in 0 … 5": lambda: check.check_tokens("source", IDS, 5),
    "source must hold token ids .* torch.float32": lambda: check.check_tokens("source", IDS.float()),
    r"source must hold token ids .* of shape \(2, 0\)": lambda: check.check_tokens("source", IDS[:, :0]),
    r"source must hold token ids .* of shape \(3,\)": lambda: check.check_tokens("source", IDS[0]),
    "row 0 starts with padding": lambda: check.check_padding("source", IDS.flip(1), 0),
    "in row 1 of source a word follows": lambda: check.check_padding("source", torch.tensor([[3, 0, 0], [5, 0, 4]]), 0),
}


@pytest.mark.parametrize(("message", "call"), REFUSED.items(), ids=REFUSED)
def test_what_is_refused(message, call, as_a_user_calls_it):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_fits_goes_through():
    check.check_tokens("source", IDS, 6)
    check.check_padding("source", IDS, 0)
    check.check_padding("source", torch.tensor([[0, 0]]), 0, may_be_empty=True)
    check.check_tokens("source", IDS.to("meta"), 2)  # to read ids of another device would wait for it


COMPILE = """
import torch
from transformer_lib.transformer import Transformer, TransformerConfig

model = Transformer(TransformerConfig(d_model=8, num_heads=2, d_ff=12, num_layers=2, max_len=9)).eval()
ids = torch.randint(3, 50, (2, 5))
assert torch.compile(model, fullgraph=True, backend="eager")(ids, ids).equal(model(ids, ids))
"""


@pytest.mark.slow
def test_a_model_compiles_to_one_graph():
    """In a process of its own, because the tests' checks of shapes cannot be compiled."""
    subprocess.run([sys.executable, "-c", COMPILE], check=True, timeout=300)
