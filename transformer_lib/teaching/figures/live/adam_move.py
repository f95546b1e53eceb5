"""Adam's moves of one weight: the first has the length of the rate, whatever the size of the gradient."""

from transformer_lib.teaching.figures.live.figure import LiveFigure


def adam_move() -> LiveFigure:
    """Return Adam's first moves of one weight; the size of its gradients, and whether they agree, can be chosen."""
    epsilon, steps = 1e-9, 8

    def first(power: int | float) -> float:
        return 10**power / (10**power + epsilon)

    points = " ".join(f"{40 + 19 * (power + 12):.1f},{130 - 100 * first(power):.1f}" for power in range(-12, 3))
    says = "A gradient of 1: the first move is 1 rate long. After eight gradients that agree, the move is 1 rate long."
    still = (
        f'<svg viewBox="0 0 320 170" role="img" aria-label="{says}">'
        '<path d="M40 20V130H310" fill="none" stroke="var(--tl-line)"/>'
        f'<polyline points="{points}" fill="none" stroke="var(--tl-key)" stroke-width="2.5"/>'
        '<circle cx="268" cy="30" r="5" fill="var(--tl-ink)"/><text x="34" y="34" text-anchor="end">1</text>'
        '<text x="34" y="134" text-anchor="end">0</text><text x="97" y="148" text-anchor="middle">ε</text>'
        '<text x="40" y="12">first move, in rates</text>'
        '<text x="268" y="148" text-anchor="middle">1</text>'
        '<text x="310" y="165" text-anchor="end">size of the gradient</text></svg>'
    )
    return LiveFigure(
        "adam_move",
        title="The first move is the full rate, however small the gradient",
        still=still,
        says=says,
        data={"beta1": 0.9, "beta2": 0.98, "epsilon": epsilon, "steps": steps},
    )
