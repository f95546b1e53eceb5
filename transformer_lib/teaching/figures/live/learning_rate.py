"""The paper's learning rate, step by step: what the width does to it, and the warm-up."""

from transformer_lib._language import _
from transformer_lib.schedule import noam_rate
from transformer_lib.teaching.figures.live.figure import LiveFigure


def learning_rate() -> LiveFigure:
    """Return the curve of the learning rate beside the paper's, with width and warm-up to turn."""
    d_model, warmup, steps = 512, 4000, 20_000
    peak = noam_rate(warmup, d_model, warmup)
    points = " ".join(
        f"{12 + 0.0144 * step:.1f},{150 - 120 * noam_rate(step, d_model, warmup) / peak:.1f}"
        for step in range(200, steps + 1, 200)
    )
    says = _(
        "Width {d_model}, warm-up {warmup}: the rate is highest at step {warmup}, {peak}.",
        **{"d_model": d_model, "warmup": f"{warmup:,}", "peak": f"{peak:.6f}"},
    )
    rate, step = _("rate {peak}", peak=f"{peak:.6f}"), _("step 20,000")
    still = (
        f'<svg viewBox="0 0 320 190" role="img" aria-label="{says}">'
        '<path d="M12 20V150H310" fill="none" stroke="var(--tl-line)"/>'
        f'<polyline points="12,150 {points}" fill="none" stroke="var(--tl-query)" stroke-width="2.5"/>'
        f'<circle cx="69.6" cy="30" r="5" fill="var(--tl-query)"/><text x="82" y="30">{rate}</text>'
        '<text x="12" y="168" text-anchor="middle">0</text><text x="69.6" y="168" text-anchor="middle">4,000</text>'
        f'<text x="310" y="168" text-anchor="end">{step}</text></svg>'
    )
    return LiveFigure(
        "learning_rate",
        title=_("The paper's schedule, for a width and a warm-up of your choice"),
        still=still,
        says=says,
        data={"d_model": d_model, "warmup": warmup},
    )
