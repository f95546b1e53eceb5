"""Chapter 10's models of one layer: a whole one, one with a piece taken out, and one that starts as its parts do."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lib.decoder import Decoder
from transformer_lib.encoder import AddAndNorm, Encoder, TransformerConfig
from transformer_lib.teaching.experiments.sequence_tasks import VOCABULARY
from transformer_lib.transformer import Transformer

__all__ = ["PIECES", "TRAINING", "glued", "small", "without"]

TRAINING = {"steps": 600, "longest": 5, "learning_rate": 5e-3, "warmup": 100}

# What can be taken out, by the name that the chapter gives it.
PIECES = [
    "positions",
    "encoder's attention",
    "decoder's own attention",
    "causal mask",
    "cross-attention",
    "feed-forward",
    "plus",
    "norm",
]


def small(seed: int) -> Transformer:
    """Return a Transformer of one encoder layer and one decoder layer, 32 wide, with one shared matrix."""
    config = TransformerConfig(
        d_model=32,
        num_layers=1,
        num_heads=2,
        d_ff=64,
        dropout=0.0,
        source_vocab_size=VOCABULARY,
        target_vocab_size=VOCABULARY,
        shared_vocabulary=True,
    )
    torch.manual_seed(seed)
    return Transformer(config)


class _Nothing(nn.Module):
    """Stands in the place of a sublayer and gives zeros, so that the sum around it is what came in."""

    def forward(self, x: Tensor, *rest: Tensor | None) -> Tensor:
        return torch.zeros_like(x)


class _NoPlus(nn.Module):
    def __init__(self, whole: AddAndNorm) -> None:
        super().__init__()
        self.norm = whole.norm

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return self.norm(sublayer(x))


class _NoNorm(nn.Module):
    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return x + sublayer(x)


class _NoCausalMask(nn.Module):
    """A decoder that may see all words of the target; the sentences here have no padding."""

    def __init__(self, decoder: Decoder) -> None:
        super().__init__()
        self.decoder = decoder

    def forward(self, x: Tensor, memory: Tensor, self_mask: Tensor | None, memory_mask: Tensor | None) -> Tensor:
        return self.decoder(x, memory, None, memory_mask)


def without(piece: str | None, seed: int) -> Transformer:
    """Return the small model with one of the `PIECES` taken out, in all its layers; with None the whole one.

    What is left starts with the whole model's weights. Raises `ValueError` for an unknown piece.
    """
    if piece not in (None, *PIECES):
        raise ValueError(f"piece is {piece!r}, expected None or one of {', '.join(PIECES)}")
    model = small(seed)
    encoder_layers, decoder_layers = list(model.encoder.layers), list(model.decoder.layers)
    if piece == "positions":
        model.positional_encoding = nn.Identity()
    if piece == "causal mask":
        model.decoder = _NoCausalMask(model.decoder)
    taken = {
        "encoder's attention": [(layer, "attention") for layer in encoder_layers],
        "decoder's own attention": [(layer, "self_attention") for layer in decoder_layers],
        "cross-attention": [(layer, "cross_attention") for layer in decoder_layers],
        "feed-forward": [(layer, "feed_forward") for layer in encoder_layers + decoder_layers],
    }
    for layer, name in taken.get(piece or "", []):
        setattr(layer, name, _Nothing())
    for layer in encoder_layers + decoder_layers:
        for name, part in list(layer.named_children()):
            if isinstance(part, AddAndNorm) and piece in ("plus", "norm"):
                setattr(layer, name, _NoPlus(part) if piece == "plus" else _NoNorm())
    return model


class _PlainEmbedding(nn.Module):
    """The rows as they stand, without √d_model."""

    def __init__(self, weight: nn.Parameter) -> None:
        super().__init__()
        self.weight = weight

    def forward(self, tokens: Tensor) -> Tensor:
        return F.embedding(tokens, self.weight)


def glued(seed: int) -> Transformer:
    """Return the small model with its parts' own starts: `nn.Linear`'s in the layers, torch's embedding at both ends."""
    model = small(seed)
    model.encoder, model.decoder = Encoder(model.config), Decoder(model.config)
    embedding = _PlainEmbedding(nn.Parameter(torch.randn(VOCABULARY, model.config.d_model)))
    model.source_embedding = model.target_embedding = embedding
    model.output.weight = embedding.weight
    return model
