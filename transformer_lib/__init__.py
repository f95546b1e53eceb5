"""The original Transformer, one module per chapter of the course."""

from importlib.metadata import version


def __getattr__(name):
    if name == "__version__":  # looked up when asked for: a folder that nobody has installed has none
        return version("transformer-lib")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
