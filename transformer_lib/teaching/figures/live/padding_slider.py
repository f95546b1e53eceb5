"""Eight readers that were trained without a mask, and one review in a rectangle that gets wider: the verdicts turn."""

from transformer_lib.teaching.figures.live.figure import LiveFigure
from transformer_lib.teaching.record import record
from transformer_lib.text import tokenize

_SHOWN = (0, 10, 20, 40)


def padding_slider() -> LiveFigure:
    """Return the logits of eight readers, with a review, the columns of padding and the mask to choose."""
    made = record("text_masking")
    runs = made["numbers"]
    reviews = [
        {
            "text": text,
            "label": label,
            "words": len(tokenize(text)),
            "bare": [run["logits without mask"][number] for run in runs],
            "masked": [run["logits with mask"][number][0] for run in runs],
        }
        for number, (text, label) in enumerate(made["settings"]["examples"])
    ]
    first = reviews[0]
    heads = "".join(f'<th scope="col">+ {columns}</th>' for columns in _SHOWN)
    rows = "".join(
        f'<tr><th scope="row">reader {seed}</th>{"".join(f"<td>{logits[columns]:+.1f}</td>" for columns in _SHOWN)}</tr>'
        for seed, logits in zip(made["seeds"], first["bare"], strict=True)
    )
    right = [sum((logits[columns] > 0) == first["label"] for logits in first["bare"]) for columns in (0, _SHOWN[-1])]
    return LiveFigure(
        "padding_slider",
        title="The review stays the same. Only its rectangle gets wider",
        still=f'<table><tr><th scope="col">columns of padding</th>{heads}</tr>{rows}</table>',
        says=f"“{first['text']}” Logits without the mask: {right[0]} of {len(runs)} readers are right "
        f"without padding, {right[1]} with {_SHOWN[-1]} columns of it.",
        data={"reviews": reviews, "seeds": made["seeds"]},
    )
