"""What holds for every test: quiet notebooks, one thread per process, hypothesis's settings."""

import os

# Before anything imports torch; the kernels that nbval starts inherit both.
os.environ["TRANSFORMER_LIB_QUIET"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")

import hypothesis
import jaxtyping
import pytest
import torch

hypothesis.settings.register_profile("course", deadline=None, print_blob=True)
hypothesis.settings.register_profile("ci", parent=hypothesis.settings.get_profile("course"), derandomize=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "course")


@pytest.fixture
def as_a_user_calls_it():
    """Switch off jaxtyping's checks, which only the tests have, so that a call meets the library's own errors."""
    before = jaxtyping.config.jaxtyping_disable
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", before)


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
