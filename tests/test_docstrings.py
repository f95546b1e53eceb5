"""Every public function, class and method of the library says what it does."""

import inspect
import sys
from importlib import import_module
from types import ModuleType

import pytest

from tools import notebooks

MODULES = [path.stem for path in sorted((notebooks.ROOT / "transformer_lib").glob("*.py")) if not path.stem.startswith("_")]


def public(module):
    """Return what a module defines, by its name: functions, classes, and what these define themselves."""
    made_here = lambda value: getattr(value, "__module__", None) == module.__name__
    found = {}
    for name, value in vars(module).items():
        if name.startswith("_") or not made_here(value) or not (inspect.isclass(value) or inspect.isroutine(value)):
            continue
        found[name] = value
        if inspect.isclass(value):
            kinds = (property, classmethod, staticmethod)
            methods = {key: one for key, one in vars(value).items() if inspect.isfunction(one) or isinstance(one, kinds)}
            found |= {f"{name}.{key}": getattr(value, key) for key in methods if not key.startswith("_")}
    return found


@pytest.mark.parametrize("name", MODULES)
def test_everything_public_has_a_docstring(name):
    """Its own, or that of the method it takes the place of: `forward` is explained in its class."""
    found = public(import_module(f"transformer_lib.{name}"))
    assert found
    assert [name for name, value in found.items() if not inspect.getdoc(value)] == []


def test_a_missing_docstring_is_noticed(monkeypatch):
    """In a function, a class, a method, a class method and a property; what torch explains is explained."""
    source = """
from torch import nn

def function(): ...
class Plain:
    def method(self): ...
    @classmethod
    def made(cls): ...
    @property
    def size(self): ...
    def _private(self): ...
class Layer(nn.Module):
    "A layer."
    def forward(self, x): ...
    def attend(self, x): ...
"""
    module = ModuleType("made_up")
    monkeypatch.setitem(sys.modules, "made_up", module)
    exec(source, vars(module))
    found = public(module)
    silent = {name for name, value in found.items() if not inspect.getdoc(value)}
    assert silent == {"function", "Plain", "Plain.method", "Plain.made", "Plain.size", "Layer.attend"}
    assert found.keys() - silent == {"Layer", "Layer.forward"}
