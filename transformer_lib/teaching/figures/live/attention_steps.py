"""Attention to watch, one number at a time: from words to queries, keys and values, to weights, to what the word becomes."""

import html
import math
from typing import Any

import torch
from torch import Tensor

from transformer_lib._language import _, marked
from transformer_lib.attention import scaled_dot_product_attention, split_heads
from transformer_lib.teaching.figures.live.figure import LiveFigure


def attention_steps(example: str = "self") -> LiveFigure:
    """Return attention by hand, with a word to choose and steps to go: `self` (chapter 6) or `cross` (chapter 9)."""
    return drawn(*_EXAMPLES[example]())


def drawn(title: str, data: dict[str, Any]) -> LiveFigure:
    """Return the figure of `data`: who `asks`, who `answers`, and for each of the `looks` what `looked` computes, at least.

    With `begin`, the name of a step, it does not open on the whole look-up, but there: before what a reader is to guess.
    """
    usual = {"word": 0, "which": "", "who": "who asks?", "map": marked("weights of all who ask"), "notes": {}}
    data = usual | data
    word, weights = data["asks"][data["word"]], data["looks"][0]["weights"][data["word"]]
    finds = ", ".join(f"{answer} {weight:.3f}" for answer, weight in zip(data["answers"], weights))
    return LiveFigure(
        "attention_steps",
        title=title,
        still=_table(data),
        says=_("{word} asks, and these are its weights: {finds}.", word=word, finds=finds),
        data=data,
        uses=("player",),
    )


def _self() -> tuple[str, dict]:
    w = {
        "query": [[0, 3, 0, 0], [2, 0, 2, 0], [0, 3, 0, 1], [0, 0, 0, 0]],
        "key": [[2, 0, 0, 0], [0, 2, 0, 0], [0, 1, 2, 0], [0, 0, 0, 1]],
        "value": [[1, 0], [0, 1], [1, 1], [0, 0]],
    }
    x = [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
    return _("Each word asks, and all words answer"), _projected(["They", "played", "chess"], x, w) | {"begin": "divide"}


def _cross() -> tuple[str, dict]:
    q = [[2, 0, 0, 1], [4, 0, 0, 1], [0, 4, 0, 1]]
    k = [[0, 0, 0, 2], [0, 2, 0, 0], [2, 0, 0, 0], [0, 0, 0, 2], [0, 0, 2, 0]]
    v = [[0, 0], [0, 1], [1, 0], [0, 0], [0, 0]]
    data = looked(["<SOS>", "la", "vache"], ["the", "white", "cow", "is", "tired"], q, k, v)
    notes = {
        "compare": marked("The query comes from the target, the key from the memory."),
        "softmax": marked("The map has a row for each target word, and a column for each source word."),
        "mix": marked("The values come from the memory."),
    }
    return _("The target asks, the source answers"), data | {"word": 2, "notes": notes, "begin": "divide"}


_EXAMPLES = {"self": _self, "cross": _cross}


def _projected(words: list[str], x: list, w: dict[str, list]) -> dict[str, Any]:
    q, k, v = ((torch.tensor(x) @ torch.tensor(w[name])).tolist() for name in ("query", "key", "value"))
    return {"x": x, "w": w, **looked(words, words, q, k, v)}


def looked(
    asks: list[str], answers: list[str], q: list, k: list, v: list, heads: int = 1, mask: Tensor | None = None
) -> dict[str, Any]:
    """Return what the script needs where `asks` look at `answers`, each look (a head) by the library's functions."""
    parts = [split_heads(torch.tensor([matrix]).double(), heads)[0] for matrix in (q, k, v)]  # each (heads, seq, d_k)
    root = math.sqrt(parts[0].size(-1))
    looks = []
    for head, (query, key, value) in enumerate(zip(*parts, strict=True)):
        mixed, weights = scaled_dot_product_attention(query, key, value, mask)
        dots = query @ key.T
        more = {"q": query, "k": key, "v": value, "dots": dots, "mixed": mixed}
        look = _weighed(str(head), dots / root, weights, mask)
        looks.append(look | {name: numbers(part) for name, part in more.items()})
    more = {"q": q, "k": k, "v": v, "d_k": parts[0].size(-1), "root": round(root, 6)}
    return {"asks": asks, "answers": answers, "looks": looks} | more


def _weighed(name: str, scores: Tensor, weights: Tensor, mask: Tensor | None = None) -> dict[str, Any]:
    """Return one look from `scores` to `weights`, each `(asks, answers)`."""
    masked = scores if mask is None else scores.masked_fill(~mask, -math.inf)
    look = {"name": name, "scores": numbers(scores), "exps": numbers(masked.exp()), "sums": numbers(masked.exp().sum(-1))}
    look["weights"] = numbers(weights)
    return look if mask is None else look | {"masked": numbers(masked)}


def numbers(values: Tensor) -> list:
    """Return rounded numbers, the same on every machine; -∞ is None."""
    if values.dim() > 1:
        return [numbers(row) for row in values]
    return [None if value == -math.inf else round(value, 6) + 0.0 for value in values.tolist()]


def _table(data: dict[str, Any]) -> str:
    """Return the look of the first word as a table, for where no script runs."""
    word, look, d_k = data["word"], data["looks"][0], data.get("d_k")
    first = ", " + _("first {many}", many=len(look["k"][0])) if d_k and len(look["k"][0]) < d_k else ""
    score = _("score")
    columns = {
        _("key") + first: look.get("k"),
        "q · k": "dots" in look and look["dots"][word],
        f"÷ √{d_k}" if d_k else score: look["scores"][word],
        _("mask"): "masked" in look and look["masked"][word],
        f"e<sup>{score}</sup>": look["exps"][word],
        _("weight"): look["weights"][word],
        _("value") + first: look.get("v"),
    }
    columns = {name: values for name, values in columns.items() if values}
    rows = [[html.escape(name), *parts] for name, *parts in zip(data["answers"], *columns.values())]
    if "v" in look:
        rows.append([_("mixture"), *[""] * (len(columns) - 1), look["mixed"][word]])
    head = "".join(f'<th scope="col">{name}</th>' for name in ("", *columns))
    lines = [(name, "".join(f"<td>{_written(part)}</td>" for part in parts)) for name, *parts in rows]
    body = "".join(f'<tr><th scope="row">{name}</th>{cells}</tr>' for name, cells in lines)
    return f'<table style="overflow-wrap:normal"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _written(value: float | list | str | None) -> str:
    if isinstance(value, list):
        return f"({', '.join(map(_written, value))})"
    if isinstance(value, str):
        return value
    return "−∞" if value is None else f"{value:.3f}".rstrip("0").rstrip(".").replace("-", "−")
