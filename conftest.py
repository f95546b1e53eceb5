"""What holds for every test: quiet English notebooks, one thread per process, Hypothesis's settings."""

import os

# Before anything imports torch; the kernels that nbval starts inherit them.
os.environ["TRANSFORMER_LIB_QUIET"] = "1"
os.environ["TRANSFORMER_LIB_LANGUAGE"] = "en"  # the stored outputs are English, whatever the shell asks for
os.environ.setdefault("OMP_NUM_THREADS", "1")

import hypothesis
import jaxtyping
import pytest
import torch

hypothesis.settings.register_profile(
    "course", deadline=None, derandomize=True, max_examples=int(os.environ.get("EXAMPLES", 10))
)
hypothesis.settings.load_profile("course")


@pytest.fixture
def as_a_user_calls_it():
    """Switch off the shape checks that only the tests have, so that a call meets the library's own errors, or torch's."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture
def float64_default():
    """Make float64 the type of new tensors and parameters."""
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture
def close_figures():
    """Close every figure that the test opened."""
    import matplotlib.pyplot as plt

    yield
    plt.close("all")
