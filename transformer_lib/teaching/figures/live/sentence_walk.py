"""One sentence through the whole Transformer, part by part: shapes, parameters, and where we are."""

from typing import Any

import torch
from torch import nn

from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID
from transformer_lib.teaching.figures.live.figure import LiveFigure
from transformer_lib.transformer import Transformer, TransformerConfig

_SOURCE, _TARGET = "the white cow is tired", "la vache blanche"
_NAMES = {
    "source_embedding": "source embedding, times √d",
    "target_embedding": "target embedding, times √d",
    "positional_encoding": "plus positions",
    "encoder": "encoder: the memory",
    "decoder": "decoder",
    "output": "linear layer: the logits",
}


def sentence_walk() -> LiveFigure:
    """Return a walk through the model for two sentences and sizes to choose; where no script runs, what a real pass gave."""
    words = 13
    config = TransformerConfig.tiny(words, words)
    with torch.random.fork_rng(devices=[]):
        model = Transformer(config).eval()
    ran: list[tuple[str, str, int]] = []

    def note(name: str) -> Any:
        def hook(part: nn.Module, given: tuple, result: torch.Tensor) -> None:
            ran.append((_NAMES[name], str(tuple(result.shape)), sum(parameter.numel() for parameter in part.parameters())))

        return hook

    for name, part in model.named_children():
        part.register_forward_hook(note(name))
    source = torch.arange(len(_SOURCE.split())) + EOS_ID + 1
    target = torch.arange(len(_TARGET.split())) + EOS_ID + 1
    model(source[None], torch.cat([torch.tensor([SOS_ID]), target])[None])
    rows = "".join(f'<tr><th scope="row">{name}</th><td>{shape}</td><td>{count:,}</td></tr>' for name, shape, count in ran)
    head = "".join(f'<th scope="col">{name}</th>' for name in ("part", "result", "parameters"))
    total = sum(count for *_, count in ran)
    return LiveFigure(
        "sentence_walk",
        title="Between the parts, every word is one row of d_model numbers",
        still=f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>",
        says=f"“{_SOURCE}” and “<SOS> {_TARGET}” through a small model of {total:,} parameters, d_model {config.d_model}.",
        data={
            "source": _SOURCE,
            "target": _TARGET,
            "specials": {"<PAD>": PAD_ID, "<SOS>": SOS_ID, "<EOS>": EOS_ID},
            "max_len": config.max_len,
            "sizes": {
                "d_model": config.d_model,
                "heads": config.num_heads,
                "layers": config.num_layers,
                "d_ff": config.d_ff,
                "vocabulary": words,
            },
        },
    )
