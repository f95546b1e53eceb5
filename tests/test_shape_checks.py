"""While tests run, a wrong shape or type is an error in each test's first calls."""

import pytest
import torch
from jaxtyping import TypeCheckError
from shape_checks import CALLS

from transformer_lib.attention import split_heads
from transformer_lib.masks import causal_mask

WITHOUT_BATCH = torch.zeros(2, 4)


@pytest.mark.parametrize("test", ["first", "second"])
def test_each_test_is_checked_anew(test):
    with pytest.raises(TypeCheckError):
        split_heads(WITHOUT_BATCH, 2)
    for _ in range(CALLS):
        causal_mask(3)
    assert split_heads(WITHOUT_BATCH, 2).shape == (2, 2, 2), "nothing is checked any more"
