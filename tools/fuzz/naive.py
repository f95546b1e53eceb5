"""The formulas once more, in float64 and without any of the library's functions."""

import math

import torch
from torch import Tensor, nn


def exact(module: nn.Module) -> dict[str, Tensor]:
    """Return the parameters and buffers of a module in float64, by their names."""
    return {
        name: x.detach().double() for name, x in [*module.named_parameters(remove_duplicate=False), *module.named_buffers()]
    }


def part(weights: dict[str, Tensor], name: str) -> dict[str, Tensor]:
    """Return the weights of one part."""
    return {key.removeprefix(f"{name}."): x for key, x in weights.items() if key.startswith(f"{name}.")}


def linear(weights: dict[str, Tensor], name: str, x: Tensor) -> Tensor:
    return x @ weights[f"{name}.weight"].T + weights.get(f"{name}.bias", 0.0)


def softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Return each row's exponentials, where `mask` is True, as shares of their sum; 0 where there are none."""
    seen = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
    highest = scores.where(seen, scores.new_tensor(-math.inf)).amax(dim=-1, keepdim=True)
    heights = (scores - highest).exp().where(seen, scores.new_tensor(0.0))
    total = heights.sum(dim=-1, keepdim=True)
    return (heights / total).where(seen, scores.new_tensor(0.0))


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    q, k, v = q.double(), k.double(), v.double()
    scores = torch.einsum("...qd,...kd->...qk", q, k) / q.size(-1) ** 0.5
    weights = softmax(scores, mask)
    return torch.einsum("...qk,...kd->...qd", weights, v), weights


def heads_of(x: Tensor, count: int) -> Tensor:
    width = x.size(-1) // count
    return torch.stack([x[..., head * width : (head + 1) * width] for head in range(count)], dim=1)


def multi_head(w: dict[str, Tensor], count: int, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None):
    """Return what the layer returns, and the weights of its heads."""
    sides = {"query": query.double(), "key": key.double(), "value": value.double()}
    q, k, v = (heads_of(linear(w, f"{name}_projection", x), count) for name, x in sides.items())
    mixed, weights = attention(q, k, v, mask)
    return linear(w, "output_projection", torch.cat(mixed.unbind(dim=1), dim=-1)), weights


def normed(w: dict[str, Tensor], x: Tensor, eps: float = 1e-5) -> Tensor:
    mean = x.mean(dim=-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(dim=-1, keepdim=True)
    return (x - mean) / (variance + eps).sqrt() * w["weight"] + w["bias"]


def feed_forward(w: dict[str, Tensor], x: Tensor) -> Tensor:
    return linear(w, "outer", linear(w, "inner", x).clamp(min=0))


def residual(w: dict[str, Tensor], name: str, pre_norm: bool, x: Tensor, sublayer) -> Tensor:
    norm = part(w, f"{name}_residual.norm")
    return x + sublayer(normed(norm, x)) if pre_norm else normed(norm, x + sublayer(x))


def layer(w: dict[str, Tensor], config, x: Tensor, mask: Tensor | None, memory: Tensor | None, memory_mask: Tensor | None):
    """Return what an encoder layer returns, or with a `memory` a decoder layer."""
    own = "attention" if memory is None else "self_attention"
    attend = lambda name, x, other, mask: multi_head(part(w, name), config.num_heads, x, other, other, mask)[0]
    x = residual(w, own, config.pre_norm, x, lambda x: attend(own, x, x, mask))
    if memory is not None:
        x = residual(w, "cross_attention", config.pre_norm, x, lambda x: attend("cross_attention", x, memory, memory_mask))
    return residual(w, "feed_forward", config.pre_norm, x, lambda x: feed_forward(part(w, "feed_forward"), x))


def stack(w: dict[str, Tensor], config, x: Tensor, mask: Tensor | None, memory=None, memory_mask=None) -> Tensor:
    """Return what an encoder returns, or with a `memory` a decoder."""
    x, memory = x.double(), None if memory is None else memory.double()
    for number in range(config.num_layers):
        x = layer(part(w, f"layers.{number}"), config, x, mask, memory, memory_mask)
    return normed(part(w, "norm"), x) if config.pre_norm else x


def sinusoid(pos: int, dim: int, d_model: int) -> float:
    angle = pos / 10_000 ** (2 * (dim // 2) / d_model)
    return math.cos(angle) if dim % 2 else math.sin(angle)


def sinusoids(length: int, d_model: int) -> Tensor:
    rows = [[sinusoid(pos, dim, d_model) for dim in range(d_model)] for pos in range(length)]
    return torch.tensor(rows, dtype=torch.float64)


def transformer(model: nn.Module, source: Tensor, target: Tensor) -> Tensor:
    """Return the logits of a Transformer in evaluation mode."""
    w, config = exact(model), model.config
    source, target = source.long(), target.long()

    def vectors(ids: Tensor, name: str) -> Tensor:
        matrix = w[f"{name}_embedding.weight"]
        rows = torch.stack([torch.stack([matrix[i] for i in row]) for row in ids.tolist()])
        learned = w.get("positional_encoding.table.weight")
        table = sinusoids(ids.size(1), config.d_model) if learned is None else learned[: ids.size(1)]
        return rows * config.d_model**0.5 + table

    known = (source != 0)[:, None, None, :]
    earlier = torch.tensor([[k <= q for k in range(target.size(1))] for q in range(target.size(1))])
    memory = stack(part(w, "encoder"), config, vectors(source, "source"), known)
    x = stack(part(w, "decoder"), config, vectors(target, "target"), (target != 0)[:, None, None, :] & earlier, memory, known)
    return x @ w["output.weight"].T


def log_likelihoods(logits: Tensor) -> Tensor:
    logits = logits.double()
    return logits - logits.exp().sum(dim=-1, keepdim=True).log()


def smoothed_loss(logits: Tensor, target: Tensor, smoothing: float, pad_id: int, reduction: str) -> Tensor:
    """Return the cross-entropy against the smoothed target, place by place."""
    vocab = logits.size(-1)
    rows = zip(log_likelihoods(logits).reshape(-1, vocab).tolist(), target.reshape(-1).tolist(), strict=True)
    losses = [
        -sum((smoothing / vocab + (1 - smoothing) * (word == right)) * value for word, value in enumerate(row))
        for row, right in rows
        if right != pad_id
    ]
    if reduction == "mean":
        return torch.tensor(sum(losses) / len(losses), dtype=torch.float64)
    if reduction == "sum":
        return torch.tensor(float(sum(losses)), dtype=torch.float64)
    raise ValueError(reduction)
