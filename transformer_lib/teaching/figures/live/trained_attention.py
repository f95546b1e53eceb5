"""Attention to watch inside of a trained translator: the same figure as that of the chapters, with the model's own numbers."""

from typing import Any

import torch

from transformer_lib._language import _
from transformer_lib.decoding import greedy_decode
from transformer_lib.masks import causal_mask
from transformer_lib.seq2seq import SOS_ID
from transformer_lib.teaching.figures.live.attention_steps import drawn, looked, numbers
from transformer_lib.teaching.figures.live.figure import LiveFigure
from transformer_lib.translation import Translator

SHOWN = 3  # of the numbers of a vector: for all of them no page has room


def trained_attention(translator: Translator, text: str) -> LiveFigure:
    """Return one head of the last layer's cross-attention while `text` is translated: what the explorer begins with."""
    data = trained_looks(translator, text, "decoder", "cross_attention")
    last = data["looks"][-translator.model.config.num_heads]
    return drawn(f"{_('Decoder: cross-attention')}, {last['name']}", data | {"looks": [last], "word": 1})


def trained_looks(translator: Translator, text: str, stack: str, kind: str) -> dict[str, Any]:
    """Return what the figure's script needs, a look for each head of `kind` in `stack`, while `text` is translated.

    The explorer makes the same `looks` for any sentence (`service.js`). Of each vector only the first numbers are there. In
    the decoder, what `asks` is not a word that is read but the one that is `written` next.
    """
    model, name_of = translator.model.eval(), translator.tokenizer.backend.id_to_token
    source = torch.tensor([translator.read(text)])
    written = greedy_decode(model, source, 2 * source.size(1) + 10)
    target_in = torch.cat([torch.tensor([[SOS_ID]]), written[:, :-1]], dim=1)
    read, before, after = ([_plain(name_of(token)) for token in ids[0].tolist()] for ids in (source, target_in, written))
    writes, masked = stack == "decoder", kind == "self_attention"
    asks, answers = (after if writes else read), (before if masked else read)
    mask = causal_mask(len(asks)) if masked else None
    looks: list[dict] = []
    for layer, part in enumerate(model.get_submodule(stack).layers):
        attention, passed = part.get_submodule(kind), {}
        w = {role: attention.get_submodule(f"W_{role[0]}") for role in ("query", "key", "value")}
        hooks = [
            linear.register_forward_hook(lambda _, given, made, role=role, to=passed: to.update({role: (given[0][0], made[0])}))
            for role, linear in w.items()
        ]
        with torch.no_grad():
            model(source, target_in)
        for hook in hooks:
            hook.remove()
        q, k, v = (passed[role][1].tolist() for role in w)
        of_layer = looked(asks, answers, q, k, v, attention.num_heads, mask)
        d_k = of_layer["d_k"]
        for head, look in enumerate(of_layer["looks"]):
            first = slice(head * d_k, head * d_k + SHOWN)
            look |= {name: [row[:SHOWN] for row in look[name]] for name in ("q", "k", "v", "mixed")}
            look["w"] = {role: numbers(linear.weight[first, :SHOWN].T) for role, linear in w.items()}
            look["x"] = numbers(passed["query"][0][:, :SHOWN])
            if kind == "cross_attention":
                look["memory"] = numbers(passed["key"][0][:, :SHOWN])
            looks.append(look | {"name": _("layer {layer}, head {head}", layer=layer + 1, head=head + 1)})
    return {
        **{"asks": asks, "answers": answers, "looks": looks, "writes": writes, "map": ""},
        **{"d_k": d_k, "root": of_layer["root"], "d_model": model.config.d_model},
    }


def _plain(token: str) -> str:
    """Return a token as a reader sees it: with dots where it goes on with the word before it."""
    return f"…{token}" if token[0].isalnum() else token.replace("▁", "")
