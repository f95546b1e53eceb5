"""What holds for every test: quiet notebooks in a clean room, one thread per process, hypothesis's settings."""

import json
import os
import tempfile
from collections import Counter
from pathlib import Path

# Before anything imports torch; the kernels that nbval starts inherit both.
os.environ["TRANSFORMER_LIB_QUIET"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")
if not os.access(Path.home(), os.W_OK):  # matplotlib would say so in each notebook, where nothing else is said
    os.environ.setdefault("MPLCONFIGDIR", tempfile.mkdtemp(prefix="matplotlib-"))

import hypothesis
import jaxtyping
import nbval.kernel
import pytest
import torch

from tools import clean_room

hypothesis.settings.register_profile("course", deadline=None, print_blob=True)
hypothesis.settings.register_profile("ci", parent=hypothesis.settings.get_profile("course"), derandomize=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "course")


CLEAN_ROOM = "TRANSFORMER_LIB_CLEAN_ROOM"

# How long the tests of each file take: `make test WRITE=--write-seconds`.
SECONDS = Path(__file__).parent / "tests" / "seconds.json"


def pytest_addoption(parser):
    parser.addoption("--write-seconds", action="store_true", help="write how long each file takes into tests/seconds.json")


def pytest_configure(config):
    """Let nbval run each notebook as Colab would: with the library installed, and no checkout beside it.

    The first process builds the clean room; the workers that it starts inherit the variable that names it.
    """
    if config.option.collectonly or not (config.option.nbval or config.option.nbval_lax):
        return
    if CLEAN_ROOM not in os.environ:
        config.clean_room = tempfile.TemporaryDirectory(prefix="clean-room-")
        clean_room.build(Path(config.clean_room.name) / "room")
        os.environ[CLEAN_ROOM] = str(Path(config.clean_room.name) / "room")
    start = nbval.kernel.start_new_kernel
    options = clean_room.kernel_options(os.environ[CLEAN_ROOM])
    nbval.kernel.start_new_kernel = lambda **settings: start(**{**settings, **options})


def pytest_collection_modifyitems(items):
    """Put the notebooks first, because the site is built meanwhile, and of two files the one that takes longer.

    So no core waits for a long file at the end.
    """
    seconds = json.loads(SECONDS.read_text(encoding="utf-8"))
    items.sort(key=lambda item: (item.path.suffix != ".ipynb", -seconds.get(item.nodeid.partition("::")[0], 0)))


def pytest_terminal_summary(terminalreporter, config):
    if not config.option.write_seconds:
        return
    seconds = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if hasattr(report, "duration"):
                seconds[report.nodeid.partition("::")[0]] += report.duration
    text = json.dumps({file: round(total) for file, total in seconds.most_common() if total >= 1}, indent=1)
    SECONDS.write_text(text + "\n", encoding="utf-8")


def pytest_unconfigure(config):
    if hasattr(config, "clean_room"):
        del os.environ[CLEAN_ROOM]
        config.clean_room.cleanup()


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
