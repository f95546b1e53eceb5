"""While tests run, a wrong shape or type is an error in each test's first calls."""

import pytest
import torch
from jaxtyping import TypeCheckError
from shape_checks import CALLS

from transformer_lib.encoder import LayerNorm
from transformer_lib.masks import causal_mask

WHOLE = torch.zeros(2, 4, dtype=torch.int64)


@pytest.mark.parametrize("test", ["first", "second"])
def test_each_test_is_checked_anew(test):
    with pytest.raises(TypeCheckError):
        LayerNorm(4)(WHOLE)
    for _ in range(CALLS):
        causal_mask(3)
    with pytest.raises(RuntimeError):  # torch's own
        LayerNorm(4)(WHOLE)
