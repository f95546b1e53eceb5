"""While tests run, a wrong shape or type is an error in each test's first calls."""

import pytest
from jaxtyping import TypeCheckError
from shape_checks import CALLS

from transformer_lib.masks import causal_mask
from transformer_lib.recurrent import _whole  # what is public checks its input itself

NO_TENSOR = 3


@pytest.mark.parametrize("test", ["first", "second"])
def test_each_test_is_checked_anew(test):
    with pytest.raises(TypeCheckError):
        _whole([NO_TENSOR])
    for _ in range(CALLS):
        causal_mask(3)
    assert _whole([NO_TENSOR]) == NO_TENSOR, "nothing is checked any more"
