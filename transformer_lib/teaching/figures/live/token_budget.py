"""Sentences in batches of a budget: rectangles of words and padding, with the budget and the sorting to turn."""

from transformer_lib.teaching.figures.live.figure import LiveFigure

# How many tokens the 48 sentences of chapter 12's picture have.
LENGTHS = [16, 8, 16, 10, 12, 5, 9, 11, 15, 3, 2, 13, 2, 15, 16, 3, 13, 12, 5, 10, 4, 6, 10, 10]
LENGTHS += [7, 9, 12, 15, 12, 5, 11, 8, 2, 5, 14, 8, 13, 6, 16, 10, 14, 2, 3, 6, 4, 15, 16, 16]
_BUDGET = 128
_PIXELS = 6


def _groups(lengths: list[int], budget: int) -> list[list[int]]:
    """Cut `lengths` into groups whose rectangles, padding included, fit `budget`, as `token_batches` does."""
    groups: list[list[int]] = []
    for length in lengths:
        if not groups or (len(groups[-1]) + 1) * max(*groups[-1], length) > budget:
            groups.append([])
        groups[-1].append(length)
    return groups


def token_budget() -> LiveFigure:
    """Return 48 sentences in batches, as rectangles of words and padding, with the budget and the sorting to choose."""
    groups = _groups(sorted(LENGTHS), _BUDGET)
    places = sum(len(group) * max(group) for group in groups)
    says = (
        f"Sorted, at most {_BUDGET} places in a batch: {len(groups)} batches of {min(map(len, groups))}–"
        f"{max(map(len, groups))} sentences. {sum(LENGTHS)} words in {places} places, "
        f"{round(100 - 100 * sum(LENGTHS) / places)} % padding."
    )
    blocks, left = [], 0
    for group in groups:
        size = f'width="{_PIXELS * max(group)}" height="{_PIXELS * len(group)}"'
        blocks.append(f'<rect x="{left}" y="0" {size} fill="var(--tl-line)"/>')
        blocks += [
            f'<rect x="{left}" y="{_PIXELS * row}" width="{_PIXELS * length}" height="{_PIXELS - 1}" fill="var(--tl-query)"/>'
            for row, length in enumerate(group)
        ]
        left += _PIXELS * (max(group) + 1)
    height = _PIXELS * max(map(len, groups))
    return LiveFigure(
        "token_budget",
        title="The words stay the same. The grey depends on the budget, and on the sorting",
        still=f'<svg viewBox="0 0 {left} {height}" role="img" aria-label="{says}">{"".join(blocks)}</svg>',
        says=says,
        data={"lengths": LENGTHS, "budget": _BUDGET},
    )
