"""The shapes and parameters of a model, listed by a real forward pass."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn

from transformer_lib.teaching.figures.theme import stylesheet

__all__ = ["Entry", "ShapeSummary", "shape_summary"]

_HEADINGS = ("part", "input", "output", "parameters", "count")


@dataclass(frozen=True)
class Entry:
    """One call of a part that holds parameters of its own; `count` is 0 when it was counted at an earlier call."""

    part: str
    input: tuple[int, ...]
    output: tuple[int, ...]
    parameters: tuple[tuple[str, tuple[int, ...]], ...]
    count: int


class ShapeSummary:
    """The calls of a forward pass, in their order; shown as a table. See `shape_summary`."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = tuple(entries)

    @property
    def total(self) -> int:
        """How many parameters took part in the forward pass."""
        return sum(entry.count for entry in self.entries)

    def _rows(self) -> list[tuple[str, ...]]:
        rows = [
            (
                entry.part,
                str(entry.input),
                str(entry.output),
                ", ".join(f"{name} {shape}" for name, shape in entry.parameters),
                f"{entry.count:,}",
            )
            for entry in self.entries
        ]
        return [*rows, ("all together", "", "", "", f"{self.total:,}")]

    def __repr__(self) -> str:
        rows = [_HEADINGS, *self._rows()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{heading}</th>' for heading in _HEADINGS)
        body = ""
        for part, *cells in self._rows():
            data = "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
            body += f'<tr><th scope="row">{html.escape(part)}</th>{data}</tr>'
        style = stylesheet("tl-shapes", _RULES)
        return (
            '<div class="tl-shapes" role="group" aria-label="Shapes and parameters" tabindex="0">'
            f"{style}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )


_RULES = """
.tl-shapes{display:block;width:fit-content;max-width:100%;overflow-x:auto;background:var(--tl-surface);
  color:var(--tl-ink);margin:.5rem 0;padding:.4rem .6rem;box-sizing:border-box}
.tl-shapes table{width:auto;margin:0;border-collapse:collapse;border:0;font-size:.8125rem;color:inherit;
  font-variant-numeric:tabular-nums;background:none}
.tl-shapes:focus-visible{outline:3px solid var(--tl-accent)}
.tl-shapes th,.tl-shapes td{padding:.2rem .5rem;border:0;border-bottom:1px solid var(--tl-line);text-align:left;
  white-space:nowrap;background:none;color:inherit}
.tl-shapes thead th{color:var(--tl-muted)}
.tl-shapes th:last-child,.tl-shapes td:last-child{text-align:right}
.tl-shapes tbody tr:last-child{font-weight:700}
"""


def shape_summary(module: nn.Module, *inputs: Any) -> ShapeSummary:
    """Call `module(*inputs)` and return what each part with parameters was given, gave back, and holds.

    A part that is called twice has two entries, and its parameters are counted once; so are shared parameters.
    Nothing is left behind: the hooks are taken off, also when the call fails.
    """
    entries: list[Entry] = []
    counted: set[int] = set()

    def note(name: str) -> Any:
        def hook(part: nn.Module, given: tuple, result: Any) -> None:
            own = list(part.named_parameters(recurse=False))
            count = sum(parameter.numel() for _, parameter in own if id(parameter) not in counted)
            counted.update(id(parameter) for _, parameter in own)
            shapes = tuple((key, tuple(parameter.shape)) for key, parameter in own)
            entries.append(Entry(name or type(part).__name__, _shape(given), _shape(result), shapes, count))

        return hook

    handles = [
        part.register_forward_hook(note(name))
        for name, part in module.named_modules()
        if any(True for _ in part.parameters(recurse=False))
    ]
    try:
        module(*inputs)
    finally:
        for handle in handles:
            handle.remove()
    return ShapeSummary(entries)


def _shape(value: Any) -> tuple[int, ...]:
    """Return the shape of a tensor, or of the first of several."""
    while isinstance(value, tuple | list):
        value = value[0]
    return tuple(value.shape)
