"""Chapter 4: a small translator and where it looks, attention against loops and torch, and what the records say."""

import random
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lib.alignment import AttentionDecoder, AttentionSeq2Seq, AttentionState
from transformer_lib.progress import progress
from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID
from transformer_lib.teaching.corpora.english_french import grammar_corpus
from transformer_lib.teaching.record import record

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
        loss = F.cross_entropy(model(source, target_in).flatten(0, 1), target_out.flatten(), ignore_index=PAD_ID)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def translate(
    model: AttentionSeq2Seq, sentences: Sentences, english: str, hidden: str | None = None
) -> tuple[list[str], Tensor]:
    """Return the French words and their weights, as `write` does; the row of the English word `hidden` cannot be looked at."""
    state = start(model, sentences, english)
    if hidden is not None:
        state.mask[0, english.split().index(hidden)] = False
    return write(model, sentences, state)


@torch.no_grad()
def start(model: AttentionSeq2Seq, sentences: Sentences, english: str) -> AttentionState:
    """Return the decoder's state after reading the sentence."""
    return model.start(torch.tensor([[sentences.english[word] for word in english.split()]]))


@torch.no_grad()
def write(model: AttentionSeq2Seq, sentences: Sentences, state: AttentionState) -> tuple[list[str], Tensor]:
    """Return the French words, greedily chosen, with `<eos>`, and the weights (written, source) that wrote them."""
    names = {number: word for word, number in sentences.french.items()} | {PAD_ID: "<pad>", SOS_ID: "<sos>", EOS_ID: "<eos>"}
    written = [SOS_ID]
    while written[-1] != EOS_ID and len(written) <= LONGEST_ANSWER:
        written.append(model.decode(torch.tensor([written[-1:]]), state).argmax().item())
    return [names[number] for number in written[1:]], state.weights[0]


def translates_rightly(model: AttentionSeq2Seq, sentences: Sentences, pair: tuple[str, str]) -> bool:
    """Tell whether `model` writes exactly the French of `pair`, and then stops."""
    english, french = pair
    return translate(model, sentences, english)[0] == [*french.split(), "<eos>"]


def share_right(model: AttentionSeq2Seq, sentences: Sentences) -> None:
    """Print how many of the new sentences, every fourth of them, `model` translates without a mistake."""
    right = [translates_rightly(model, sentences, pair) for pair in sentences.new[::4]]
    assert sum(right) > 0.6 * len(right)
    print(f"{len(sentences.train):,} sentences to learn from, {len(right)} new ones")
    print(f"share of the new ones without a mistake: ≈ {sum(right) / len(right):.2f}")


def hide_a_row() -> None:
    """Print what five recorded translators write while one row of the memory is hidden, or another stands in its place."""
    five = record("alignment_translator")["numbers"]
    for place, written in ((0, "la"), (2, "blanche")):
        looks = ["the white cow is tired".split()[max(range(5), key=run["weights"][place].__getitem__)] for run in five]
        print(f"to write {written}, most weight:", ", ".join(f"{looks.count(word)} × {word}" for word in dict.fromkeys(looks)))
    for word in ("nothing", "white", "cow"):
        print(f"{word} hidden:")
        answers = [run["hidden"].get(word, run["written"]).removesuffix(" <eos>") for run in five]
        for answer in dict.fromkeys(answers):
            print(f"  {answers.count(answer)} × {answer}")
    for one in ("row of cow", "first state"):
        print(one, "from “the cow is tired”:", sum("blanche" not in run["exchanged"][one] for run in five), "of 5 lose blanche")


def right_at_twelve() -> None:
    """Print the recorded share of reversed sentences of 12 letters that are right, a mean of three seeds."""
    before, after = record("seq2seq_length"), record("alignment_length")
    attention = {name: runs["exact_match"] for name, runs in after["numbers"].items()}
    for name, made, runs in [
        ("one vector, 64 numbers", before, before["numbers"]["reverse"]["64"]),
        ("one vector, 128 numbers", before, before["numbers"]["reverse"]["128"]),
        ("attention without tanh", after, attention["one linear neuron"]),
        ("additive attention", after, attention["additive"]),
        ("dot-product attention", after, attention["dot product"]),
    ]:
        place = made["settings"]["lengths"].index(12)
        print(f"{name:24} {sum(run[place] for run in runs) / len(runs):.2f} right at 12 letters")


def equal_to_loops_and_torch(dot: nn.Module, additive: nn.Module) -> None:
    """Assert that both attentions, four numbers wide, equal plain loops, and the first torch's, with masks and gradients."""
    generator = torch.Generator().manual_seed(0)
    query = torch.randn(3, 4, dtype=torch.float64, generator=generator).requires_grad_()
    memory = torch.randn(3, 5, 4, dtype=torch.float64, generator=generator).requires_grad_()
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 1, 0, 1, 1]]).bool()
    additive = additive.double()

    def dot_score(q: Tensor, m: Tensor) -> Tensor:
        return sum(a * b for a, b in zip(q, m, strict=True))

    def additive_score(q: Tensor, m: Tensor) -> Tensor:
        rows = zip(additive.from_query.weight, additive.from_memory.weight, additive.to_score.weight[0], strict=True)
        return sum(v * torch.tanh(dot_score(w_q, q) + dot_score(w_m, m)) for w_q, w_m, v in rows)

    def by_loops(score) -> Tensor:
        contexts = []
        for q, rows, allowed in zip(query, memory, mask, strict=True):
            seen = [m for m, may_look in zip(rows, allowed, strict=True) if may_look]
            exponentials = [score(q, m).exp() for m in seen]
            contexts.append(sum(e / sum(exponentials) * m for e, m in zip(exponentials, seen, strict=True)))
        return torch.stack(contexts)

    torchs = F.scaled_dot_product_attention(query.unsqueeze(1), memory, memory, attn_mask=mask.unsqueeze(1), scale=1.0)
    for attention, others, said in [
        (dot, by_loops(dot_score), "dot product: equal to plain loops"),
        (dot, torchs.squeeze(1), "dot product: equal to torch's own attention"),
        (additive, by_loops(additive_score), "additive:    equal to plain loops"),
    ]:
        ours, inputs = attention(query, memory, mask)[0], [query, memory, *attention.parameters()]
        assert_close(ours, others)
        assert_close(torch.autograd.grad(ours.sin().sum(), inputs), torch.autograd.grad(others.sin().sum(), inputs))
        print(f"{said}, gradients too")


class LookFirst(AttentionDecoder):
    """Bahdanau's order of one step: look with the previous state, then read."""

    def forward(self, tokens: Tensor, kept: AttentionState) -> Tensor:
        logits = []
        for word in self.embedding(tokens).unbind(dim=1):
            kept.context, weights = self.attention(kept.hidden, kept.memory, kept.mask)  # look, with the previous state
            kept.add_look(weights)
            kept.hidden = self.cell(torch.cat([word, kept.context], dim=-1), kept.hidden)  # read
            logits.append(self.output(torch.cat([kept.hidden, kept.context], dim=-1)))  # write
        return torch.stack(logits, dim=1)


def looking_first(model: AttentionSeq2Seq) -> AttentionSeq2Seq:
    """Give `model` Bahdanau's order of one step, with the weights that it has, and return it."""
    decoder = model.decoder
    model.decoder = LookFirst(*decoder.embedding.weight.shape, decoder.cell.hidden_size, decoder.attention)
    model.decoder.load_state_dict(decoder.state_dict())
    return model
