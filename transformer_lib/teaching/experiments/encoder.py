"""Chapter 7: the encoder against torch's, layers that lack a part, and what to ask of a stack of them."""

# What a layer computes, by its switches: attention(x), norm(attention(x)), x + attention(x) or norm(x + attention(x)), and with
# feed_forward the same once more around a feed-forward network. With everything switched on it is an EncoderLayer.

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.testing import assert_close

from transformer_lib.attention import MultiHeadAttention
from transformer_lib.encoder import Encoder, FeedForward, LayerNorm, TransformerConfig
from transformer_lib.teaching.record import record
from transformer_lib.teaching.torch_parity import compare_gradients, copy_to_torch

D_MODEL, NUM_HEADS, D_FF = 32, 4, 64
TOKENS, PLACES = 10, 8
LEARNING_RATE, BATCH = 1e-3, 32

# Attention alone, the same with a larger start than torch gives it, and what is given back part by part.
VARIANTS: dict[str, dict] = {
    "attention alone": {},
    "attention, larger start": {"start": 2.0},
    "norm": {"norm": True},
    "sum": {"add": True},
    "sum & norm": {"add": True, "norm": True},
    "full layer": {"add": True, "norm": True, "feed_forward": True},
}


class AblatedLayer(nn.Module):
    """An encoder layer whose parts can be switched on one by one.

    `start` is the standard deviation of attention's weights at the start, times √d_model; None leaves them as torch draws
    them, uniformly with a standard deviation of 0.58 / √d_model.
    """

    def __init__(
        self, *, add: bool = False, norm: bool = False, feed_forward: bool = False, start: float | None = None
    ) -> None:
        super().__init__()
        self.add = add
        self.attention = MultiHeadAttention(D_MODEL, NUM_HEADS)
        self.feed_forward = FeedForward(D_MODEL, D_FF) if feed_forward else None
        self.norms = nn.ModuleList(LayerNorm(D_MODEL) if norm else nn.Identity() for _ in range(1 + feed_forward))
        if start is not None:
            for part in self.attention.children():
                nn.init.normal_(part.weight, std=start / math.sqrt(D_MODEL))

    def forward(self, x: Tensor) -> Tensor:
        x = self.norms[0](x * self.add + self.attention(x, x, x))
        if self.feed_forward is None:
            return x
        return self.norms[1](x * self.add + self.feed_forward(x))


class SayIt(nn.Module):
    """An embedding, `depth` layers and a linear layer that scores the tokens at each place. No positions: none are needed."""

    def __init__(self, make_layer: Callable[[], nn.Module], depth: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(TOKENS, D_MODEL)
        self.layers = nn.Sequential(*[make_layer() for _ in range(depth)])
        self.output = nn.Linear(D_MODEL, TOKENS)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.output(self.layers(self.embedding(tokens)))  # (batch, seq, tokens)


def train(model: nn.Module, make_batch: Callable[[], tuple[Tensor, Tensor]], steps: int) -> list[float]:
    """Train `model` on batches of inputs and targets, and return the loss of each step."""
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    losses = []
    for _ in range(steps):
        inputs, targets = make_batch()
        loss = cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def train_to_say(make_layer: Callable[[], nn.Module], seed: int, steps: int, depth: int) -> list[float]:
    """Train a `SayIt` to name the token that stands at each place. The seed moves the weights and the sentences."""
    torch.manual_seed(seed)
    return train(SayIt(make_layer, depth), lambda: (torch.randint(TOKENS, (BATCH, PLACES)),) * 2, steps)


def floor_when_alike() -> float:
    """Return the least mean loss of `train_to_say` for a model whose places all give one answer.

    Such a model can at best know how often each token occurs: a token that stands at c of the places gets the probability
    c / places. A token is drawn c times with the binomial probability, and each of the tokens adds alike.
    """
    share = 1 / TOKENS
    return TOKENS * sum(
        math.comb(PLACES, c) * share**c * (1 - share) ** (PLACES - c) * (c / PLACES) * math.log(PLACES / c)
        for c in range(1, PLACES + 1)
    )


def _with_gradient(module: nn.Module, x: Tensor, **mask: Tensor) -> tuple[Tensor, Tensor]:
    x = x.clone().requires_grad_()
    output = module(x, **mask)
    output.backward(torch.linspace(-1, 1, output.numel(), dtype=x.dtype).view_as(output))
    return output, x.grad


def compare_with_torch(encoder_class: type[nn.Module]) -> None:
    """Compare an encoder of three layers with torch's, in float64, with all gradients."""
    torch.manual_seed(1)
    x = torch.randn(2, 5, 8, dtype=torch.float64)
    real = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])  # (batch, seq)
    for pre_norm, order in ((False, "post-norm"), (True, "pre-norm")):
        config = TransformerConfig(d_model=8, num_heads=4, d_ff=12, num_layers=3, dropout=0.0, pre_norm=pre_norm)
        ours = encoder_class(config).double()
        for parameter in ours.parameters():  # biases, γ and β too: not 0 and 1
            nn.init.normal_(parameter, std=0.3)
        torchs = nn.TransformerEncoderLayer(8, 4, 12, dropout=0.0, batch_first=True, norm_first=pre_norm)
        last = nn.LayerNorm(8) if pre_norm else None
        theirs = nn.TransformerEncoder(torchs, 3, norm=last, enable_nested_tensor=False).double()
        copy_to_torch(ours, theirs)
        assert_close(
            _with_gradient(ours, x, mask=real[:, None, None, :]), _with_gradient(theirs, x, src_key_padding_mask=~real)
        )
        for mine, its in compare_gradients(ours, theirs):
            assert_close(mine, its)
        count = sum(parameter.numel() for parameter in ours.parameters())
        print(f"equal to torch's three layers, {order}: outputs, and the gradients of all {count:,} parameters")


# Deeper


@torch.no_grad()
def _apart(switches: dict, seed: int) -> float:
    """Return how far ten tokens are from their average behind twelve layers, in parts of their size: 0 is all alike."""
    torch.manual_seed(seed)
    x = torch.randn(1, 10, D_MODEL, dtype=torch.float64)
    for _ in range(12):
        x = AblatedLayer(**switches).double()(x)  # (1, 10, d_model)
    return ((x - x.mean(dim=1, keepdim=True)).norm() / x.norm()).item()


def ablation() -> None:
    """Print, for each kind of layer, the difference after 12 untrained ones and the recorded losses of six after 200 steps."""
    recorded = record("encoder_ablation")
    each, floor = recorded["settings"]["steps_in_a_mean"], floor_when_alike()
    print(f"{'':24}difference after 12   loss after 200 steps")
    for name, switches in VARIANTS.items():
        apart = [_apart(switches, seed) for seed in range(3)]
        losses = [run["losses"][200 // each - 1] for run in recorded["numbers"] if run["layer"] == name]
        assert (min(apart) > 0.3 and max(losses) < 0.05) if "add" in switches else (max(apart) < 1e-9 and min(losses) > floor)
        print(f"{name:24}", "  ".join(f"{value:.2f}" for value in apart), "     ", "  ".join(f"{loss:6.2f}" for loss in losses))
    print(f"the least loss where all places are alike: {floor:.2f}")


def equal_signs() -> None:
    """Train two layers to tell whether two numbers, each 1 or -1, are equal; print the losses of three starts."""
    pairs = torch.tensor([[[a, b]] for a in (-1.0, 1.0) for b in (-1.0, 1.0)])  # (4, 1, 2)
    are_equal = (pairs[..., 0] == pairs[..., 1]).long()  # (4, 1)

    def loss_at_the_end(seed: int, switches: dict) -> float:
        torch.manual_seed(seed)
        layers = [AblatedLayer(add=True, **switches) for _ in range(2)]
        model = nn.Sequential(nn.Linear(2, D_MODEL), *layers, nn.Linear(D_MODEL, 2))
        return train(model, lambda: (pairs, are_equal), steps=120)[-1]

    for name, switches, low, high in [
        ("x + attention(x)", {}, 0.683, 0.703),
        ("the same and a norm", {"norm": True}, 0.1, 0.65),
        ("with feed-forward", {"feed_forward": True}, 0, 0.02),
    ]:
        losses = [loss_at_the_end(seed, switches) for seed in range(3)]
        assert low <= max(losses) <= high
        print(f"{name:20}", *[f"≈ {loss:.3f}" for loss in losses])


def _xavier(module: nn.Module) -> None:
    for parameter in module.parameters():
        if parameter.ndim > 1:
            nn.init.xavier_uniform_(parameter)


@torch.no_grad()
def eighteen_layers() -> None:
    """Print the size of the numbers behind 18 untrained layers and the first loss: without norm and with it, for two starts."""

    def size_and_loss(norm: bool, xavier: bool, seed: int) -> tuple[float, float]:
        torch.manual_seed(seed)
        model = SayIt(partial(AblatedLayer, add=True, feed_forward=True, norm=norm), depth=18)
        if xavier:
            _xavier(model.layers)
        tokens = torch.randint(TOKENS, (BATCH, PLACES))
        x = model.layers(model.embedding(tokens))  # (batch, places, d_model)
        return x.square().mean().sqrt().item(), cross_entropy(model.output(x).flatten(0, 1), tokens.flatten()).item()

    for start in ("torch's", "Xavier's"):
        for norm in (False, True):
            runs = [size_and_loss(norm, start == "Xavier's", seed) for seed in range(3)]
            low, high = (0.99, 1.01) if norm else (2, 8) if start == "torch's" else (1000, math.inf)
            assert all(low < size < high and (loss < 3.5 or not norm) for size, loss in runs)
            shown = [f"size ≈ {size:.0f}, loss ≈ {loss:.1f}" for size, loss in runs]
            print(f"{start:8} start, {'with' if norm else 'without':7} norm:  ", ";  ".join(shown))


def gradients_by_layer() -> dict[str, tuple[Tensor, Tensor]]:
    """Return gradients and sizes of untrained stacks, each (8 seeds, 18 layers), for post-norm and pre-norm."""

    def one_stack(pre_norm: bool, seed: int) -> tuple[Tensor, Tensor]:
        torch.manual_seed(seed)
        sizes = {"d_model": D_MODEL, "num_layers": 18, "num_heads": NUM_HEADS, "d_ff": 4 * D_MODEL}
        encoder, output = Encoder(TransformerConfig(**sizes, dropout=0.0, pre_norm=pre_norm)), nn.Linear(D_MODEL, TOKENS)
        _xavier(encoder)
        x, grown = torch.randn(16, 10, D_MODEL), []
        for layer in encoder.layers:
            x = layer(x)
            grown.append(x.detach().square().mean().sqrt())
        cross_entropy(output(encoder.norm(x)).flatten(0, 1), torch.randint(TOKENS, (160,))).backward()
        return torch.stack([layer.feed_forward.outer.weight.grad.norm() for layer in encoder.layers]), torch.stack(grown)

    found = {}
    for name, pre_norm in (("post-norm", False), ("pre-norm", True)):
        gradients, grown = (torch.stack(part) for part in zip(*[one_stack(pre_norm, s) for s in range(8)], strict=True))
        ratios = gradients[:, -3:].mean(dim=1) / gradients[:, :3].mean(dim=1)
        print(f"{name:9}  last three layers / first three:", *[f"≈ {ratio:.1f}" for ratio in ratios])
        assert not pre_norm or (ratios.min() > 0.1 and ratios.max() < 0.7 and 3 < grown[:, -1].mean() < 6)
        found[name] = gradients, grown
    return found
