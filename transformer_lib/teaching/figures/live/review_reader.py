"""Chapter 3's pipeline on the reader's own review: words, ids, and the logit after each word."""

import html

import torch

from transformer_lib._language import _
from transformer_lib.teaching.experiments.text import ReviewReader, pretrained_review_reader
from transformer_lib.teaching.figures.live.figure import LiveFigure
from transformer_lib.teaching.figures.live.tensors import in_half_precision
from transformer_lib.text import pad_batch, tokenize

_EXAMPLES = [
    "The story was not good at all.",
    "Great script!",
    "The acting was bad, but the music was good.",
    "The music was good, but the acting was bad.",
    "Nobody can call the camera dull.",
    "The film was splendid.",
]


def review_reader() -> LiveFigure:
    """Return a box to write a review in, read word by word by a small trained GRU and a bag of words."""
    reader = pretrained_review_reader()
    parameters = {"weights": reader.bag.weights.weight, "bias": reader.bag.bias, **reader.classifier.state_dict()}
    table, logit = _after_each_word(reader, tokenize(_EXAMPLES[0]))
    return LiveFigure(
        "review_reader",
        title=_("The GRU's verdict can turn at a word; the bag of words only adds up"),
        still=table,
        says=_(
            "Two trained readers on “{review}” After the last word the GRU's logit is {logit}: negative.",
            **{"review": _EXAMPLES[0], "logit": f"{logit:+.1f}"},
        ),
        data={
            "words": reader.vocabulary.words,
            "oov_buckets": reader.vocabulary.oov_buckets,
            "examples": _EXAMPLES,
            "parameters": in_half_precision({name: value.detach() for name, value in parameters.items()}),
        },
        uses=("tensors",),
    )


@torch.no_grad()
def _after_each_word(reader: ReviewReader, words: list[str]) -> tuple[str, float]:
    """Return a table with the logits of both readers after each of `words`, and the GRU's last one."""
    ids = reader.vocabulary.encode(words)
    beginnings = pad_batch([ids[: count + 1] for count in range(len(ids))])  # (words, words)
    bag, gru = (model.double()(beginnings).tolist() for model in (reader.bag, reader.classifier))
    heads = "".join(f'<th scope="col">{name}</th>' for name in (_("word"), _("id"), _("bag so far"), _("GRU so far")))
    rows = "".join(
        f'<tr><th scope="row">{html.escape(word)}</th><td>{index}</td><td>{one:+.1f}</td><td>{other:+.1f}</td></tr>'
        for word, index, one, other in zip(words, ids, bag, gru, strict=True)
    )
    return f"<table><tr>{heads}</tr>{rows}</table>", gru[-1]
