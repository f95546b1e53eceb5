"""Colours as the eye sees them, and the one line that the check of an exercise prints."""

import contextlib
import io
from types import SimpleNamespace

import numpy as np
import pytest

# Linear RGB to XYZ, for the white of a screen (IEC 61966-2-1).
_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
# What dichromats see, as linear RGB (Machado, Oliveira and Fernandes 2009, severity 1).
_SIGHT = {
    "full": np.eye(3),
    "protanopia": np.array([[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]]),
    "deuteranopia": np.array([[0.3673, 0.8607, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]]),
}


def _linear(colour):
    """`colour` is #rrggbb, or red, green and blue between 0 and 1."""
    if isinstance(colour, str):
        colour = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    colour = np.asarray(colour)
    return np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)


def _contrast(one, other):
    """The contrast of the Web Content Accessibility Guidelines, 1 to 21."""
    darker, brighter = sorted(float(_XYZ[1] @ _linear(colour)) for colour in (one, other))
    return (brighter + 0.05) / (darker + 0.05)


def _lab(colour, sight="full"):
    """The colour in CIELAB as a person with this sight sees it; the first number is its lightness, 0 to 100."""
    seen = np.clip(_SIGHT[sight] @ _linear(colour), 0, 1)
    share = _XYZ @ seen / _XYZ.sum(axis=1)
    x, y, z = np.where(share > 0.008856, np.cbrt(share), 7.787 * share + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.fixture
def colour():
    return SimpleNamespace(contrast=_contrast, lab=_lab, sights=tuple(_SIGHT))


def _line(check, attempt):
    """Return the line that `check` prints about `attempt`; it prints one and returns nothing."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert check(attempt) is None
    line, rest = printed.getvalue().split("\n", 1)
    assert rest == ""
    return line


@pytest.fixture(scope="session")
def says():
    return _line
