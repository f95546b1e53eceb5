"""Shapes and types are checked in each test's first calls into the library.

Training and decoding call the same few functions ten thousands of times, and to check each call took most of the tests' time.
A function inside a function is not checked: it is made anew at each call of the outer one, and its check with it.
"""

from functools import wraps

from beartype import beartype
from jaxtyping import config

CALLS = 300  # a call is counted twice: once for what it is given, once for what it returns
_counted = 0


def a_test_begins():
    global _counted
    _counted = 0
    config.update("jaxtyping_disable", False)


def of_first_calls(function):
    """Return `function`, checked by beartype; after `CALLS` calls of any of them nothing is checked in this test."""
    if "<locals>" in function.__qualname__:
        return function
    checked = beartype(function)

    @wraps(function)
    def call(*arguments, **named):
        global _counted
        _counted += 1
        if _counted == CALLS:
            config.update("jaxtyping_disable", True)
        return checked(*arguments, **named)

    return call
