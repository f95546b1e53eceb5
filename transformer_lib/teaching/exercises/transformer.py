"""Checks for the exercises of chapter 10, The whole Transformer."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lib.encoder import TransformerConfig
from transformer_lib.masks import causal_mask, padding_mask
from transformer_lib.teaching.exercises import Attempt, Hint, _, check, compare, exercise, same
from transformer_lib.teaching.experiments.transformer import torch_transformer
from transformer_lib.transformer import Transformer


@exercise(cases=[()], hint=_("Count how the number of parameters of one layer depends on each of the four numbers"))
def doubled() -> Iterator:
    """The reader's `doubled()` lists the four hyperparameters, from the one that adds most parameters when doubled."""
    width, layers, heads, inner = "d_model", "num_layers", "num_heads", "d_ff"
    yield [width, layers, inner, heads], _("163.9, 107.2, 88.3 and 63.1 million: more heads are only narrower heads")
    yield [layers, width, inner, heads], _("a square matrix of a width twice as large has four times as many numbers")
    yield [inner, layers, width, heads], _("d_model widens every matrix of the model, the words' matrix as well")
    says = _("twice as many layers have twice as many feed-forward networks, and attentions besides")
    yield [width, inner, layers, heads], says
    yield [width, layers, heads, inner], _("twice as many heads are half as wide: their matrices stay as they are")


@exercise(
    cases=[(6, 512), (2, 64), (1, 10)],
    hint=_("3 attentions for each pair of an encoder layer and a decoder layer, 4 projections each, d_model biases each"),
)
def attention_biases(num_layers: int, d_model: int) -> Iterator:
    """The reader's `attention_biases(num_layers, d_model)` counts the biases of all projections of attention."""
    yield 12 * num_layers * d_model, _("36,864 in the base model, 0.06 %: a bias grows with d, a matrix with its square")
    yield 8 * num_layers * d_model, _("a decoder layer has two attentions: to itself and to the memory")
    yield 9 * num_layers * d_model, _("an attention has a fourth projection, for its output")
    yield 3 * num_layers * d_model, _("that is one bias vector for each attention; it has four projections")
    yield 12 * d_model, _("that is one layer of each stack: there are num_layers of them")
    yield 12 * num_layers * d_model**2, _("those are the matrices; a bias has one number for each output, d_model")


def _slips(model: Transformer, source: Tensor, target_in: Tensor) -> Iterator[tuple[Tensor, str]]:
    """Yield the logits of likely mistakes, each with its hint."""
    root = model.config.d_model**0.5
    place, look, shape = model.positional_encoding, F.embedding, (source.size(1), target_in.size(1))
    E_source, E_target = model.source_embedding.weight, model.target_embedding.weight
    real, causal = padding_mask(source), causal_mask(shape[1])
    self_mask = padding_mask(target_in) & causal
    x, y = place(look(source, E_source) * root), place(look(target_in, E_target) * root)

    def logits(x: Tensor = x, y: Tensor = y, self_mask: Tensor | None = self_mask, memory_mask: Tensor | None = real) -> Tensor:
        memory = model.encoder(x, real)
        return model.output(model.decoder(y, memory, self_mask, memory_mask))

    yield logits().softmax(dim=-1), _("return the logits: in training, the loss applies the softmax")
    yield logits(place(look(source, E_source)), place(look(target_in, E_target))), _("√d_model is missing: use TokenEmbedding")
    bare = place(look(source, E_source)) * root, place(look(target_in, E_target)) * root
    yield logits(*bare), _("√d_model belongs to the word alone: multiply before you add the positions")
    yield logits(look(source, E_source) * root, look(target_in, E_target) * root), _("the positions are missing")
    yield logits(y=place(look(target_in, E_source) * root)), _("the target has an embedding of its own")
    yield logits(self_mask=padding_mask(target_in)), _("the causal mask is missing: a word sees the one that it must predict")
    yield logits(self_mask=causal), _("padding in the target should be hidden, too: padding_mask(target_in) & causal_mask(…)")
    yield logits(self_mask=None), _("the decoder's self-attention needs its mask")
    yield logits(memory_mask=None), _("cross-attention should not look at the source's padding: give it the source's mask")
    unmasked = model.decoder(y, model.encoder(x), self_mask, real)
    yield model.output(unmasked), _("the encoder needs the source's padding mask")
    says = _("the decoder asks what the encoder returns, not what it is given")
    yield model.output(model.decoder(y, x, self_mask, real)), says


@check
def whole_transformer(attempt: Callable) -> str:
    """The reader's class gives the numbers of the library's model and of torch's, for two sentences with padding."""
    config = replace(TransformerConfig.tiny(15, 17), d_model=32, num_heads=2, dropout=0.0)
    mine, ours = attempt(config), Transformer(config)
    if not isinstance(mine, nn.Module):
        raise Hint(_("the class should be an nn.Module"))
    weights = {name: tuple(values.shape) for name, values in ours.state_dict().items()}
    found = {name: tuple(values.shape) for name, values in mine.state_dict().items()}
    for name in [name for name in found if name.startswith("positional_encoding")]:
        del found[name]
    if "output.bias" in found:
        raise Hint(_("the output layer has no bias: nn.Linear(…, bias=False)"))
    for name, shape in weights.items():
        part = name.split(".")[0]
        if name not in found:
            raise Hint(_("{name} is missing: the part should be called {part}", name=name, part=part))
        if found[name] != shape:
            raise Hint(_("{name} should have the shape {shape}, not {given}", name=name, shape=shape, given=found[name]))
    generator = torch.Generator().manual_seed(10)
    for values in ours.parameters():  # no bias is 0, no norm's weight is 1
        values.data = torch.randn(values.shape, generator=generator) * 0.2
    mine.load_state_dict(ours.state_dict(), strict=False)
    source = torch.tensor([[3, 4, 5, 6, 7], [8, 9, 10, 0, 0]])
    target_in = torch.tensor([[1, 11, 12, 13], [1, 14, 0, 3]])
    praise = _("equal to the library's model and to torch's nn.Transformer: two sentences, with padding")
    right = ours(source, target_in), praise
    assert same(torch_transformer(ours, source, target_in)[0], right[0])
    mistakes = _slips(ours, source, target_in)
    found = Attempt(mine.forward)(source, target_in), [right, *mistakes], [""]
    return compare([found], _("Compare your steps with the picture of the tensors"))
