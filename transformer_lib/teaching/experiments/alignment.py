"""Chapter 4's small translator: short sentences, the loop that trains it, and where it looks."""

import random
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from transformer_lib.alignment import AttentionSeq2Seq
from transformer_lib.eval_mode import eval_mode
from transformer_lib.progress import progress
from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID
from transformer_lib.teaching.corpora.english_french import grammar_corpus

__all__ = ["Sentences", "short_sentences", "train_translator", "translate", "translates_rightly"]

LONGEST = 7  # words, in each language
LONGEST_ANSWER = 10

Pairs = tuple[tuple[str, str], ...]


class Sentences(NamedTuple):
    """Pairs to learn from, new pairs, and the id of each word of the two languages."""

    train: Pairs
    new: Pairs
    english: dict[str, int]
    french: dict[str, int]

    @property
    def sizes(self) -> tuple[int, int]:
        """How many ids the two languages have, the three special signs included."""
        return 3 + len(self.english), 3 + len(self.french)


@cache
def short_sentences() -> Sentences:
    """Return short sentences of the course's grammar without an apostrophe, so that every French word stands alone."""
    corpus = grammar_corpus(6000, seed=0, test_count=1000)
    train, new = (tuple(pair for pair in pairs if _is_short(*pair)) for pairs in (corpus.train, corpus.held_out))
    return Sentences(train, new, _ids(english for english, _ in train), _ids(french for _, french in train))


def _is_short(english: str, french: str) -> bool:
    return "'" not in french and max(len(english.split()), len(french.split())) <= LONGEST


def _ids(texts) -> dict[str, int]:
    words = sorted({word for text in texts for word in text.split()})
    return {word: number for number, word in enumerate(words, start=3)}


def _rectangle(rows: list[list[int]]) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD_ID] * (longest - len(row)) for row in rows])


def train_translator(model: nn.Module, sentences: Sentences, *, seed: int, steps: int = 400) -> list[float]:
    """Train `model(source, target_in)` on 64 sentences a step and return the loss of each step.

    `seed` fixes which sentences; the weights that the model starts from are the caller's.
    """
    chance = random.Random(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    losses = []
    model.train()
    for _ in progress(range(steps), description=f"translator, seed {seed}"):
        batch = chance.sample(sentences.train, 64)
        source = _rectangle([[sentences.english[word] for word in english.split()] for english, _ in batch])
        answers = [[sentences.french[word] for word in french.split()] for _, french in batch]
        target_in = _rectangle([[SOS_ID, *answer] for answer in answers])
        target_out = _rectangle([[*answer, EOS_ID] for answer in answers])
        loss = cross_entropy(model(source, target_in).flatten(0, 1), target_out.flatten(), ignore_index=PAD_ID)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def translate(
    model: AttentionSeq2Seq, sentences: Sentences, english: str, hidden: str | None = None
) -> tuple[list[str], Tensor]:
    """Return the French words, greedily chosen, with `<eos>`, and the weights (written, source) that wrote them.

    The English word `hidden` is read, but its row of the memory cannot be looked at.
    """
    words = english.split()
    names = {number: word for word, number in sentences.french.items()} | {PAD_ID: "<pad>", SOS_ID: "<sos>", EOS_ID: "<eos>"}
    with eval_mode(model):
        state = model.start(torch.tensor([[sentences.english[word] for word in words]]))
        if hidden is not None:
            state.mask[0, words.index(hidden)] = False
        written = [SOS_ID]
        while written[-1] != EOS_ID and len(written) <= LONGEST_ANSWER:
            written.append(model.decode(torch.tensor([written[-1:]]), state).argmax().item())
    return [names[number] for number in written[1:]], state.weights[0]


def translates_rightly(model: AttentionSeq2Seq, sentences: Sentences, pair: tuple[str, str]) -> bool:
    """Tell whether `model` writes exactly the French of `pair`, and then stops."""
    english, french = pair
    return translate(model, sentences, english)[0] == [*french.split(), "<eos>"]
