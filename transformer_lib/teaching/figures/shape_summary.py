"""The shapes and parameters of a model, listed by a real forward pass."""

from typing import Any

from torch import nn

from transformer_lib.teaching.figures.theme import stylesheet

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


class ShapeSummary:
    """A table of what each part was given, gave back, and holds; `total` is the number of all parameters."""

    def __init__(self, rows: list[tuple[str, ...]], total: int) -> None:
        self.total = total
        head = ("part", "input", "output", "parameters", "count")
        self.rows = [head, *rows, ("all together", "", "", "", f"{total:,}")]

    def __repr__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self.rows)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in self.rows)

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{heading}</th>' for heading in self.rows[0])
        body = "".join(
            f'<tr><th scope="row">{part}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
            for part, *cells in self.rows[1:]
        )
        return (
            '<div class="tl-shapes" role="group" aria-label="Shapes and parameters" tabindex="0">'
            f"{stylesheet('tl-shapes', _RULES)}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )


def shape_summary(module: nn.Module, *inputs: Any) -> ShapeSummary:
    """Call `module(*inputs)`, and list each call of a part that holds parameters; shared ones are counted once."""
    rows, counted = [], set()

    def note(part: nn.Module, given: tuple, result: Any) -> None:
        own = dict(part.named_parameters(recurse=False))
        count = sum(parameter.numel() for parameter in set(own.values()) - counted)
        counted.update(own.values())
        held = ", ".join(f"{key} {tuple(parameter.shape)}" for key, parameter in own.items())
        rows.append((names[part], str(tuple(given[0].shape)), str(tuple(result.shape)), held, f"{count:,}"))

    names = {part: name or type(part).__name__ for name, part in module.named_modules() if part._parameters}
    hooks = [part.register_forward_hook(note) for part in names]
    try:
        module(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return ShapeSummary(rows, sum(parameter.numel() for parameter in counted))
