"""Chapter 15's experiments: one vector of the memory exchanged, counted over all pairs of nouns."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from transformer_lib.seq2seq import SOS_ID
from transformer_lib.teaching.corpora.english_french import ADJECTIVES, NOUNS, Adjective, Noun
from transformer_lib.transformer import Transformer, TransformerState
from transformer_lib.translation import Translator

__all__ = ["FRAMES", "PLACES", "Pair", "counts", "next_words", "pairs", "plain_transformer"]

FRAMES = ("beside the noun", "after is")
PIECES = 4  # no adjective has more

# Which vectors are exchanged, from where the adjective and the noun stand among so many tokens.
PLACES: dict[str, Callable[[int, int, int], Sequence[int]]] = {
    "nothing": lambda adjective, noun, length: [],
    "the adjective": lambda adjective, noun, length: [adjective],
    "the noun": lambda adjective, noun, length: [noun],
    "both": lambda adjective, noun, length: [adjective, noun],
    "the others": lambda adjective, noun, length: [n for n in range(length) if n not in (adjective, noun)],
    "all but the adjective": lambda adjective, noun, length: [n for n in range(length) if n != adjective],
    "all": lambda adjective, noun, length: range(length),
}


class Pair(NamedTuple):
    """Two sentences that differ in one noun, and what the first one's translation has before and at its adjective."""

    text: str
    other: str
    own_words: str  # what is written before the adjective
    own_form: str  # the adjective for the first sentence's noun
    other_form: str  # and for the other's
    places: tuple[int, int]  # of the adjective and the noun in both texts


def _matching() -> Iterator[tuple[Noun, Noun, Adjective]]:
    """Yield a noun, another of its kind and of the other gender, and an adjective that shows which; none with elision."""
    nouns = [noun for noun in NOUNS if noun.french[0][0] not in "aeéhioœ"]
    adjectives = [word for word in ADJECTIVES if not word.before and word.french[0] != word.french[1]]
    for noun in nouns:
        for other in nouns:
            if noun.kind == other.kind and noun.gender != other.gender:
                yield from ((noun, other, word) for word in adjectives if noun.kind in word.kinds)


def pairs(frame: str) -> list[Pair]:
    """Return all pairs of *I see the white cow* (`frame` is "beside the noun") or *the cow is white* ("after is")."""
    found = []
    for noun, other, word in _matching():
        article = "la" if noun.gender == "f" else "le"
        forms = [word.french[one.gender == "f"] for one in (noun, other)]
        if frame == "beside the noun":
            texts = [f"I see the {word.english} {one.english[0]}" for one in (noun, other)]
            found.append(Pair(*texts, f"je vois {article} {noun.french[0]}", *forms, (3, 4)))
        else:
            texts = [f"the {one.english[0]} is {word.english}" for one in (noun, other)]
            found.append(Pair(*texts, f"{article} {noun.french[0]} est", *forms, (3, 1)))
    return found


def plain_transformer(translator: Translator) -> Transformer:
    """Return the translator's model as chapter 10 builds it: its state holds the memory itself, and no cache."""
    model = Transformer(translator.model.config)
    model.load_state_dict(translator.model.state_dict())
    return model.eval()


@torch.no_grad()
def next_words(translator: Translator, model: Transformer, memories: Tensor, own_words: str) -> list[str]:
    """Return the word that `model` writes after its `own_words`, from each of the `memories` `(batch, tokens, d_model)`."""
    batch, length, _ = memories.shape
    state = TransformerState(memories, torch.ones(batch, 1, 1, length, dtype=torch.bool), torch.empty(batch, 0).long())
    new = torch.tensor([[SOS_ID, *translator.target_tokenizer.encode(own_words)]]).expand(batch, -1)
    written = []
    for _ in range(PIECES):
        new = model.decode(new, state)[:, -1:].argmax(dim=-1)  # (batch, 1)
        written.append(new)
    texts = map(translator.target_tokenizer.decode, torch.cat(written, dim=1).tolist())
    return [(text.split() or [""])[0] for text in texts]


@torch.no_grad()
def counts(translator: Translator) -> dict[str, dict[str, dict[str, int]]]:
    """Return whose gender the adjective has, for both frames and each of `PLACES`: its own, the other's, or neither."""
    model = plain_transformer(translator)
    found: dict[str, Any] = {}
    for frame in FRAMES:
        rows = found[frame] = {name: {"own": 0, "other": 0, "neither": 0} for name in PLACES}
        for pair in pairs(frame):
            own, other = (model.start(torch.tensor([translator.read(text)])).memory[0] for text in (pair.text, pair.other))
            memories = own.repeat(len(PLACES), 1, 1)  # (exchanges, tokens, d_model)
            for memory, places in zip(memories, PLACES.values(), strict=True):
                chosen = list(places(*pair.places, len(own)))
                memory[chosen] = other[chosen]
            for name, word in zip(PLACES, next_words(translator, model, memories, pair.own_words), strict=True):
                rows[name][{pair.own_form: "own", pair.other_form: "other"}.get(word, "neither")] += 1
    return found
