"""Chapter 15's experiments: vectors of the encoder patched, for one pair of sentences and for all pairs of nouns."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import torch
from torch import Tensor

from transformer_lib.seq2seq import EOS_ID, SOS_ID
from transformer_lib.teaching.corpora.english_french import ADJECTIVES, NOUNS, Adjective, Noun
from transformer_lib.teaching.experiments.translation import corpus_and_tokenizer
from transformer_lib.teaching.figures import capture_attention
from transformer_lib.teaching.record import record
from transformer_lib.transformer import Transformer, TransformerState
from transformer_lib.translation import Translator, pretrained_translator

FRAMES = ("beside the noun", "after is")
PIECES = 4  # no adjective has more

# The depth (after how many of the encoder's layers), and which vectors, from where the adjective and the noun stand among so
# many tokens.
PATCHES: dict[str, tuple[int, Callable[[int, int, int], Sequence[int]]]] = {
    "nothing": (2, lambda adjective, noun, length: []),
    "the adjective": (2, lambda adjective, noun, length: [adjective]),
    "the noun": (2, lambda adjective, noun, length: [noun]),
    "both": (2, lambda adjective, noun, length: [adjective, noun]),
    "the others": (2, lambda adjective, noun, length: [n for n in range(length) if n not in (adjective, noun)]),
    "the adjective, layer 1": (1, lambda adjective, noun, length: [adjective]),
    "the noun, layer 1": (1, lambda adjective, noun, length: [noun]),
    "the adjective, embedding": (0, lambda adjective, noun, length: [adjective]),
    "the noun, embedding": (0, lambda adjective, noun, length: [noun]),
}


class Pair(NamedTuple):
    """Two sentences that differ in one noun, and what the first one's translation has before and at its adjective."""

    text: str
    other: str
    prefix: str  # what is written before the adjective
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
def _stream(model: Transformer, translator: Translator, text: str) -> list[Tensor]:
    """Return the encoder's residual stream `(1, tokens, d_model)` before, between and after its layers."""
    stream = [model.positional_encoding(model.source_embedding(torch.tensor([translator.read(text)])))]
    for layer in model.encoder.layers:
        stream.append(layer(stream[-1]))
    return stream


def _read(model: Transformer, translator: Translator, text: str) -> Tensor:
    """Return the memory `(tokens, d_model)` of a text."""
    return _stream(model, translator, text)[-1][0]


def _patch(memory: Tensor, other: Tensor, places: Sequence[int]) -> Tensor:
    changed = memory.clone()
    changed[list(places)] = other[list(places)]
    return changed


def _next_logits(model: Transformer, memories: Tensor, written: Tensor) -> tuple[Tensor, TransformerState]:
    batch, length, _ = memories.shape
    state = TransformerState(memories, torch.ones(batch, 1, 1, length, dtype=torch.bool), torch.empty(batch, 0).long())
    return model.decode(written.expand(batch, -1), state)[:, -1], state


@torch.no_grad()
def next_words(translator: Translator, model: Transformer, memories: Tensor, prefix: str) -> list[str]:
    """Return the word that `model` writes after `prefix`, from each of the `memories` `(batch, tokens, d_model)`."""
    start = torch.tensor([[SOS_ID, *translator.target_tokenizer.encode(prefix)]])
    logits, state = _next_logits(model, memories, start)
    written = [logits.argmax(dim=-1, keepdim=True)]  # (batch, 1)
    while len(written) < PIECES:
        written.append(model.decode(written[-1], state)[:, -1:].argmax(dim=-1))
    texts = map(translator.target_tokenizer.decode, torch.cat(written, dim=1).tolist())
    return [(text.split() or [""])[0] for text in texts]


@torch.no_grad()
def cross_attention(translator: Translator, text: str) -> tuple[list[str], list[str], Tensor]:
    """Translate `text`; return its tokens, those written, and the last layer's mean weights `(written, source)`."""
    model, tokenizer = plain_transformer(translator), translator.tokenizer
    written = [*tokenizer.encode(translator.translate(text)), EOS_ID]
    with capture_attention(model) as kept:
        model(torch.tensor([translator.read(text)]), torch.tensor([[SOS_ID, *written[:-1]]]))
    last = kept[max(name for name in kept if "cross" in name)][0]  # (head, written, source)
    names = [tokenizer.backend.id_to_token(index).removeprefix("▁") for index in written]
    return [token.removeprefix("▁") for token in tokenizer.tokens(text)], names, last.mean(dim=0)


@torch.no_grad()
def check_patching(read: Callable, patch: Callable, write: Callable, cases: int = 25) -> None:
    """Hold the functions against the translator on held-out sentences: patch nothing or everything, force its own prefix."""
    translator = pretrained_translator()
    corpus, _ = corpus_and_tokenizer()
    texts = [english for english, _ in corpus.held_out[:cases]]
    for text in texts:
        usual = translator.translate(text)
        assert write(patch(read(text), read(text), [0])) == usual
        assert write(read(text), " ".join(usual.split()[:2])) == usual
    alike = [two for two in combinations(texts, 2) if len(read(two[0])) == len(read(two[1]))][:cases]
    for one, other in alike:
        places = list(range(len(read(one))))
        assert write(patch(read(one), read(other), places)) == translator.translate(other)
    print(f"patched with itself: the translator's own sentence, {len(texts)} of {len(texts)}")
    print(f"its own prefix forced: the same sentence, {len(texts)} of {len(texts)}")
    print(f"all vectors patched: the other sentence's translation, {len(alike)} of {len(alike)}")


@torch.no_grad()
def counts(translator: Translator) -> dict[str, dict[str, int]]:
    """Return how many of 164 adjectives turn, for both frames and each of `PATCHES`; print them by depth."""
    model = plain_transformer(translator)
    found: dict[str, dict[str, int]] = {}
    for frame in FRAMES:
        turned = found[frame] = dict.fromkeys(PATCHES, 0)
        for pair in pairs(frame):
            own, other = (_stream(model, translator, text) for text in (pair.text, pair.other))
            memories = []
            for depth, places in PATCHES.values():
                x = _patch(own[depth][0], other[depth][0], places(*pair.places, own[0].size(1)))[None]
                for layer in model.encoder.layers[depth:]:
                    x = layer(x)
                memories.append(x[0])
            words = next_words(translator, model, torch.stack(memories), pair.prefix)
            for name, word in zip(PATCHES, words, strict=True):
                turned[name] += word == pair.other_form
        assert turned["nothing"] == 0 and turned["the others"] < 5
        assert turned["the noun"] < 20 < 80 < turned["the adjective"] < turned["both"]
    print(f"{'turned, of 164':18}{FRAMES[0]:>24}{FRAMES[1]:>24}")
    print(f"{'patched':18}" + 2 * f"{'noun':>12}{'adjective':>12}")
    for label, ending in [("embedding", ", embedding"), ("after layer 1", ", layer 1"), ("after layer 2", "")]:
        print(f"{label:18}", end="")
        for turned in found.values():
            noun, adjective = turned["the noun" + ending], turned["the adjective" + ending]
            assert (noun > 120 and adjective < 5) == bool(ending)
            print(f"{noun:>12}{adjective:>12}", end="")
        print()
    return found


@torch.no_grad()
def encoder_heads(translator: Translator, text: str) -> Tensor:
    """Return the weights `(layer, head, row, column)` of the encoder's self-attention."""
    with capture_attention(translator.model) as kept:
        translator.model.start(torch.tensor([translator.read(text)]))
    return torch.stack([kept[name][0] for name in sorted(kept) if name.startswith("encoder")])


@torch.no_grad()
def cut_one_look(translator: Translator) -> None:
    """Patch the adjective from a sentence in which it could not look at one word; print what still turns."""
    model = plain_transformer(translator)

    def read_without(text: str, looks: int, looked_at: int) -> Tensor:
        tokens = torch.tensor([translator.read(text)])
        mask = torch.ones(1, 1, tokens.size(1), tokens.size(1), dtype=torch.bool)
        mask[..., looks, looked_at] = False
        return model.encoder(model.positional_encoding(model.source_embedding(tokens)), mask)[0]

    cuts = ("nothing", "adjective → noun", "adjective → the", "adjective → noun, own sentence")
    print(f"{'':17}{'cut':33}f to m         m to f")
    for frame in FRAMES:
        turned = {cut: Counter[bool]() for cut in cuts}
        for pair in pairs(frame):
            adjective, noun = pair.places
            article = 2 if frame == FRAMES[0] else 0
            own = _read(model, translator, pair.text)
            others = [
                _read(model, translator, pair.other),
                read_without(pair.other, adjective, noun),
                read_without(pair.other, adjective, article),
                read_without(pair.text, adjective, noun),
            ]
            memories = torch.stack([_patch(own, other, [adjective]) for other in others])
            for cut, word in zip(cuts, next_words(translator, model, memories, pair.prefix), strict=True):
                turned[cut][len(pair.other_form) < len(pair.own_form)] += word == pair.other_form
        for cut, count in turned.items():
            print(f"{frame:17}{cut:31}≈ {count[True]:>2} of 82     ≈ {count[False]:>2} of 82")
        assert turned["adjective → noun"].total() < 0.6 * turned["nothing"].total()
        assert turned["adjective → noun"][False] == turned["adjective → noun, own sentence"][False] == 0
        assert turned["adjective → the"].total() > 0.9 * turned["nothing"].total()


@torch.no_grad()
def other_nouns(translator: Translator) -> None:
    """Patch from nouns of the same gender, and, with *la cheval blanche* forced, of both; print the effects."""
    model, cow = plain_transformer(translator), "the white cow is tired"
    for frame in FRAMES:
        cases = pairs(frame)
        alike = {
            (one.text, other.text, one.prefix, one.own_form)
            for one in cases
            for other in cases
            if one.other == other.other and one.text != other.text
        }
        turned = 0
        for text, other_text, prefix, form in sorted(alike):
            changed = _patch(_read(model, translator, text), _read(model, translator, other_text), [3])  # the adjective
            turned += next_words(translator, model, changed[None], prefix) != [form]
        print(f"{frame:16} a noun of the same gender: ≈ {turned} of {len(alike)} change")
        assert turned == 0 and len(alike) > 100
    own = _read(model, translator, cow)
    memories: dict[str, list[Tensor]] = {"m": [], "f": []}
    for noun in NOUNS:
        text = f"the white {noun.english[0]} is tired"
        if len(translator.read(text)) == len(own) and noun.french[0][0] not in "aeéhioœ" and text != cow:
            memories[noun.gender].append(_read(model, translator, text))
    ids = translator.target_tokenizer.encode("la cheval blanche est fatigué")
    ending = translator.target_tokenizer.encode("fatiguée")[-1]
    print(f"\nprobability of -e   from {len(memories['m'])} masculine nouns   from {len(memories['f'])} feminine nouns")
    for place, word in enumerate(cow.split()):
        spans = {}
        for gender, others in memories.items():
            patched = torch.stack([_patch(own, other, [place]) for other in others])
            chances = _next_logits(model, patched, torch.tensor([[SOS_ID, *ids]]))[0].softmax(dim=-1)[:, ending]
            spans[gender] = chances.min(), chances.max()
        low, high = (f"≈ {least:.2f} to ≈ {most:.2f}" for least, most in spans.values())
        print(f"at {word:17}{low:25}{high}")
        assert word in ("white", "tired") or spans["m"][1] < spans["f"][0]


@torch.no_grad()
def captions_patched() -> None:
    """Patch *A man is looking at a white car* in the translator of photographs, 100 times; print whose gender the word has."""
    translator = pretrained_translator("captions")
    model = plain_transformer(translator)
    things = {"f": ["car", "house", "bottle", "door", "table"], "m": ["hat", "coat", "truck", "horse", "wall"]}
    places = {"the noun's": [7], "the adjective's": [6], "all vectors": range(9)}  # each noun is one token
    followed = {name: Counter[str]() for name in places}
    for shade, forms in {"white": ("blanche", "blanc"), "green": ("verte", "vert")}.items():
        texts = {x: f"A man is looking at a {shade} {x}." for x in [*things["f"], *things["m"]]}
        memory = {x: _read(model, translator, text) for x, text in texts.items()}
        for gender, (own, other) in [("f", forms), ("m", forms[::-1])]:
            for one in things[gender]:
                written = translator.translate(texts[one]).split()
                assert len(memory[one]) == 9 and written[5] == f"{own}."
                for another in things["m" if gender == "f" else "f"]:
                    memories = torch.stack([_patch(memory[one], memory[another], where) for where in places.values()])
                    words = next_words(translator, model, memories, " ".join(written[:5]))
                    for name, word in zip(places, words, strict=True):
                        kinds = {own: "the prefix's", other: "the other noun's"}
                        followed[name][kinds.get(word.rstrip("."), "another word")] += 1
    print("vector patched   whose gender the adjective has, of 100")
    for name, kinds in followed.items():
        print(f"{name:17}" + ", ".join(f"{kind} ≈ {n}" for kind, n in kinds.most_common()))
        assert kinds.total() == 100 and not kinds["the other noun's"] and kinds["the prefix's"] > 80


def heads_record() -> tuple[list[int], dict[str, list[int]]]:
    """Return how many of 500 sentences are wrong in three trainings: with all heads, and without each of the 24."""
    runs = record("translation_heads")["numbers"]
    wrong = {name: [500 - round(500 * run["exact_match"]) for run in three] for name, three in runs.items()}
    whole = wrong.pop("all heads")
    spread = max(whole) - min(whole)
    few = sum(one - start <= spread for three in wrong.values() for one, start in zip(three, whole, strict=True))
    print(f"wrong, of 500, with all heads: {', '.join(map(str, whole))}")
    print(f"without one head, at most {spread} more wrong: {few} of {3 * len(wrong)}")
    assert all(max(wrong, key=lambda name: wrong[name][seed]).startswith("cross, layer 2") for seed in range(3))
    return whole, wrong


PAPER_BASE = 4.92
PAPER = {  # row and perplexity in the paper's table 3
    "h = 1": ("A: 8 → 1", 5.29),
    "h = 2": ("A: 8 → 4", 5.00),
    "h = 8": ("A: 8 → 16", 4.91),
    "d_k = 12": ("B: 64 → 32", 5.01),
    "d_k = 6": ("B: 64 → 16", 5.16),
    "N = 1": ("C: 6 → 2", 6.11),
    "N = 4": ("C: 6 → 8", 4.88),
    "d_model = 48": ("C: 512 → 256", 5.75),
    "d_model = 192": ("C: 512 → 1024", 4.66),
    "d_ff = 128": ("C: 2048 → 1024", 5.12),
    "d_ff = 512": ("C: 2048 → 4096", 4.75),
    "dropout 0": ("D: 0.1 → 0", 5.77),
    "dropout 0.3": ("D: 0.1 → 0.2", 4.95),
    "learned positions": ("E: learned", 4.92),
}


def table_three() -> None:
    """Print the record of our translator with one size changed, three seeds each, beside the paper's rows."""
    numbers: Any = record("translation_sizes")["numbers"]
    losses = {name: [run["held_out"]["loss"] for run in numbers[name]] for name in ("base", *PAPER)}
    print(f"{'ours':18}{'three seeds':20}          {'the paper':16}")
    for name, runs in losses.items():
        row, theirs = PAPER.get(name, ("base", PAPER_BASE))
        ours = "higher" if min(runs) > max(losses["base"]) else "lower" if max(runs) < min(losses["base"]) else "overlap"
        way = ("equal", "higher", "lower")[(theirs > PAPER_BASE) - (theirs < PAPER_BASE)]
        ours, way = ("", "") if name == "base" else (ours, way)
        perplexities = "".join(f"{math.exp(loss):6.3f}" for loss in runs)
        print(f"{name:18}{perplexities}  {ours:8}  {row:18}{theirs:.2f}  {way}".rstrip())
