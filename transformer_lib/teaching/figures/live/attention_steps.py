"""Attention to watch, one number at a time: from words to queries, keys and values, to weights, to what the word becomes."""

import html
import math
from typing import Any

import torch
from torch import Tensor

from transformer_lib.alignment import masked_softmax
from transformer_lib.attention import MultiHeadAttention, join_heads, scaled_dot_product_attention, split_heads
from transformer_lib.masks import causal_mask
from transformer_lib.teaching.figures.live.figure import LiveFigure

_CHESS = ["They", "played", "chess"]
_CHESS_X = [[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0]]


def attention_steps(example: str = "self") -> LiveFigure:
    """Return attention with a word to choose, steps to go and each number to follow, in one of five examples by hand.

    `example` is `self` or `heads` (chapter 6), `mask` (chapter 8), `cross` (chapter 9) or `cache` (chapter 13).
    """
    return drawn(*_EXAMPLES[example]())


def drawn(title: str, data: dict[str, Any]) -> LiveFigure:
    """Return the figure of `data`: who `asks`, who `answers`, and for each of the `looks` what `looked` computes, at least.

    With `begin`, the name of a step, it does not open on the whole look-up, but there: before what a reader is to guess.
    """
    data = {
        "heads": 1,
        "cache": False,
        "word": 0,
        "which": "",
        "who": "who asks?",
        "map": "weights of all who ask",
        "notes": {},
    } | data
    word, weights = data["asks"][data["word"]], data["looks"][0]["weights"][data["word"]]
    there = len(data["answers"]) if not data["cache"] else data["word"] + 1  # A cache holds no later words.
    finds = ", ".join(f"{answer} {weight:.3f}" for answer, weight in list(zip(data["answers"], weights, strict=True))[:there])
    return LiveFigure(
        "attention_steps",
        title=title,
        still=_table(data),
        says=f"{word} asks, and these are its weights: {finds}.",
        data=data,
        uses=("player",),
    )


def _self() -> tuple[str, dict]:
    w = {
        "query": [[0, 3, 0, 0], [2, 0, 2, 0], [0, 3, 0, 1], [0, 0, 0, 0]],
        "key": [[2, 0, 0, 0], [0, 2, 0, 0], [0, 1, 2, 0], [0, 0, 0, 1]],
        "value": [[1, 0], [0, 1], [1, 1], [0, 0]],
    }
    return "Each word asks, and all words answer", _projected(_CHESS, _CHESS_X, w) | {"begin": "divide"}


def _heads() -> tuple[str, dict]:
    # Head 0 asks who does it, head 1 what is done, or when.
    w = {
        "query": [[0, 2, 2, 0], [2, 0, 2, 0], [2, 0, 0, 2], [0, 0, 0, 0]],
        "key": [[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0], [0, 0, 0, 2]],
        "value": [[1, 0, 0, 2], [0, 1, 1, 1], [1, 1, 2, 0], [0, 0, 0, 0]],
        "output": [[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, -1, 0], [0, 1, 0, -1]],
    }
    data = _projected(_CHESS, _CHESS_X, w, heads=2)
    x, layer = torch.tensor([_CHESS_X]).double(), MultiHeadAttention(4, 2).double()
    with torch.no_grad():
        for name, matrix in w.items():
            projection = layer.get_submodule(f"W_{name[0]}")
            projection.weight.copy_(torch.tensor(matrix).T)
            projection.bias.zero_()
        result = layer(x, x, x)
    mixed = torch.tensor([look["mixed"] for look in data["looks"]])
    joined = join_heads(mixed.unsqueeze(0))
    more = {"w": w, "joined": numbers(joined[0]), "result": numbers(result[0]), "which": "head", "word": 1}
    return "Two heads, two questions: multiply once, cut the result", data | more


def _mask() -> tuple[str, dict]:
    words = ["<SOS>", "je", "suis", "étudiant"]
    chosen = [[1.2, 0.6, 0.3, 0.9], [1.08, 1, 2.1, 0.5], [0.2, 1.3, 0.9, 1.6], [0.1, 0.4, 1.5, 1.9]]
    scores = torch.tensor(chosen).double()
    looks = [_weighed("none", scores, masked_softmax(scores))]
    mask = causal_mask(len(words))
    looks.append(_weighed("causal", scores, masked_softmax(scores, mask), mask))
    more = {"which": "mask", "word": 1, "begin": "mask"}
    return "A score of −∞ becomes a weight of 0", {"asks": words, "answers": words, "looks": looks[::-1]} | more


def _cross() -> tuple[str, dict]:
    q = [[2, 0, 0, 1], [4, 0, 0, 1], [0, 4, 0, 1]]
    k = [[0, 0, 0, 2], [0, 2, 0, 0], [2, 0, 0, 0], [0, 0, 0, 2], [0, 0, 2, 0]]
    v = [[0, 0], [0, 1], [1, 0], [0, 0], [0, 0]]
    data = looked(["<SOS>", "la", "vache"], ["the", "white", "cow", "is", "tired"], q, k, v)
    notes = {
        "compare": "The query comes from the target, the key from the memory.",
        "softmax": "The map has a row for each target word, and a column for each source word.",
        "mix": "The values come from the memory.",
    }
    return "The target asks, the source answers", data | {"word": 2, "notes": notes, "begin": "divide"}


def _cache() -> tuple[str, dict]:
    words = ["<SOS>", "je", "suis", "étudiant"]
    x = [[0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
    w = {
        "query": [[1, 0, 0, 1], [3, 0, 0, 0], [0, 3, 0, 1], [0, 0, 0, 1]],
        "key": [[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0], [0, 0, 0, 2]],
        "value": [[1, 0], [0, 1], [1, 1], [0, 2]],
    }
    data = _projected(words, x, w, mask=causal_mask(len(words)))
    del data["looks"][0]["masked"]  # What comes later does not stand there yet.
    notes = {
        "query": "Only the newest word asks.",
        "keys": "One row is new, the grey ones are kept.",
        "values": "One row is new, the grey ones are kept.",
        "compare": "What is grey was computed when its word was the newest.",
    }
    more = {"cache": True, "word": 2, "begin": "query", "who": "newest word", "map": "", "notes": notes}
    return "Only the newest word is computed", data | more


_EXAMPLES = {"self": _self, "heads": _heads, "mask": _mask, "cross": _cross, "cache": _cache}


def _projected(words: list[str], x: list, w: dict[str, list], heads: int = 1, mask: Tensor | None = None) -> dict[str, Any]:
    q, k, v = ((torch.tensor(x) @ torch.tensor(w[name])).tolist() for name in ("query", "key", "value"))
    return {"x": x, "w": w, **looked(words, words, q, k, v, heads, mask)}


def looked(
    asks: list[str], answers: list[str], q: list, k: list, v: list, heads: int = 1, mask: Tensor | None = None
) -> dict[str, Any]:
    """Return what the script needs where `asks` look at `answers`, each look (a head) by the library's functions."""
    parts = [split_heads(torch.tensor([matrix]).double(), heads)[0] for matrix in (q, k, v)]  # each (heads, seq, d_k)
    d_k = parts[0].size(-1)
    looks = []
    for head, (query, key, value) in enumerate(zip(*parts, strict=True)):
        mixed, weights = scaled_dot_product_attention(query, key, value, mask)
        dots = query @ key.T
        more = {"q": query, "k": key, "v": value, "dots": dots, "mixed": mixed}
        looks.append(
            _weighed(str(head), dots / math.sqrt(d_k), weights, mask) | {name: numbers(part) for name, part in more.items()}
        )
    root = round(math.sqrt(d_k), 6)
    return {"asks": asks, "answers": answers, "q": q, "k": k, "v": v, "looks": looks, "heads": heads, "d_k": d_k, "root": root}


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
    word, look = data["word"], data["looks"][0]
    shown = len(look["k"][0]) if "k" in look else 0
    first = f", first {shown}" if shown and shown < data["d_k"] else ""
    columns: dict[str, list] = {}
    if "k" in look:
        columns |= {f"key{first}": look["k"], "q · k": look["dots"][word]}
    columns[f"÷ √{data['d_k']}" if "k" in look else "score"] = look["scores"][word]
    if "masked" in look:
        columns["mask"] = look["masked"][word]
    columns["e<sup>score</sup>"] = look["exps"][word]
    columns["weight"] = look["weights"][word]
    if "v" in look:
        columns[f"value{first}"] = look["v"]
    head = "".join(f'<th scope="col">{name}</th>' for name in ("", *columns))
    answers = data["answers"][: word + 1] if data["cache"] else data["answers"]
    body = "".join(
        f'<tr><th scope="row">{html.escape(answer)}</th>'
        + "".join(f"<td>{_written(values[place])}</td>" for values in columns.values())
        + "</tr>"
        for place, answer in enumerate(answers)
    )
    if "v" in look:
        cells = f'<td colspan="{len(columns) - 1}"></td><td>{_written(look["mixed"][word])}</td>'
        body += f'<tr><th scope="row">mixture</th>{cells}</tr>'
    return f'<table style="overflow-wrap:normal"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _written(value: float | int | list | None) -> str:
    if isinstance(value, list):
        return f"({', '.join(_written(part) for part in value)})"
    return "−∞" if value is None else f"{value:.3f}".rstrip("0").rstrip(".").replace("-", "−")
