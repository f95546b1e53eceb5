"""Checks for the exercises of chapter 1, The limits of seq2seq."""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor, nn

from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID, Seq2Seq, greedy_decode
from transformer_lib.teaching.exercises import Hint, check, exercise, same

__all__ = ["last_state", "mean_loss", "my_seq2seq"]


_SENTENCE = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])


def _state(vectors: np.ndarray, k: float, start: int = 0) -> np.ndarray:
    state = vectors[0] * 0
    for x in vectors[start:]:
        state = k * state + x
    return state


@exercise(
    cases=[(_SENTENCE, 0.5), (_SENTENCE, 1.0), (_SENTENCE[::-1].copy(), 1.0), (_SENTENCE, 0.0), (_SENTENCE[:1], 0.25)],
    hint="One letter after another: multiply the state by k, then add the letter's vector",
)
def last_state(vectors: np.ndarray, k: float) -> Iterator:
    """The reader's `last_state(vectors, k)` returns the state after the last letter."""
    yield (
        _state(vectors, k),
        "with k = 1 the order is lost: all orders of the same letters leave the same state. "
        "With k = 0 only the last letter is left. Is that what you predicted?",
    )
    yield _state(vectors, 0.5), "that is the rule with one half, whatever k is"
    yield vectors.sum(axis=0), "that is the sum of all letters: the old state is not multiplied by k"
    yield vectors[-1], "that is the last letter alone: the state before it is forgotten"
    yield _state(vectors[::-1], k), "it reads from the end"
    yield (
        _state(vectors, k, start=1),
        "the first letter is missing: the state begins with zeros, and then the first letter comes",
    )
    yield (
        k * _state(vectors, k),
        "the new letter is multiplied by k as well: first k times the old state, then add the letter as it is",
    )
    yield (1 - k) * _state(vectors, k), "the rule adds the whole new letter, not 1 - k of it"
    states = np.stack([_state(vectors[:n], k) for n in range(1, len(vectors) + 1)])
    yield states, "these are the states after each letter: return the last one"


@exercise(
    cases=[
        (
            torch.tensor([[1.0, 2.0, 3.0, 7.0], [5.0, 9.0, 8.0, 6.0], [0.5, 0.25, 4.0, 2.5]], dtype=torch.float64),
            torch.tensor([[7, 5, 2, 0], [2, 0, 0, 0], [4, 6, 8, 2]]),
        )
    ],
    hint="Choose the places where target_out is not 0, then take the mean",
)
def mean_loss(place_losses: Tensor, target_out: Tensor) -> Iterator:
    """The reader's `mean_loss(place_losses, target_out)` returns the mean over the places that are no padding."""
    real = target_out != 0
    yield place_losses[real].mean(), "padding changes nothing, and every real word counts the same"
    yield place_losses.mean(), "that is the mean over all places: leave those out where target_out is 0"
    yield place_losses[real].sum(), "that is the sum over the real places: divide by how many there are"
    yield (place_losses * real).mean(), "the padding is gone from the sum, but it is still counted: divide by the real places"
    yield (
        ((place_losses * real).sum(1) / real.sum(1)).mean(),
        "that is the mean of the sentences' means: there a word in a short sentence counts more than one in a long sentence. "
        "Take one mean over all real places of the batch",
    )
    yield place_losses[target_out > 2].mean(), "EOS (id 2) is left out too: the decoder must learn to write it, so it counts"
    yield place_losses[~real].mean(), "that is the mean over the padding: take the other places"


_PARTS = {
    "source_table": ("encoder.embedding", nn.Embedding),
    "reader": ("encoder.layer", nn.GRU),
    "target_table": ("decoder.embedding", nn.Embedding),
    "writer": ("decoder.layer", nn.GRU),
    "output": ("decoder.output", nn.Linear),
}


_SEEDS = ((439, 9), (58, 3))  # of weights, and max_len: one sentence ends with EOS, one is cut


def _model(seed: int) -> Seq2Seq:
    """Return a model with large random weights, so that what it writes depends on what it reads."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Seq2Seq(13, 13, d_model=6, hidden_size=5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)
        model.decoder.output.bias[[PAD_ID, SOS_ID]] = -100.0  # nobody writes these
    return model


def _wrong_scores(model: Seq2Seq, source: Tensor, target_in: Tensor) -> Iterator:
    """Return what likely mistakes in `forward` give, each with its hint."""
    (encoder, decoder), right = (model.encoder, model.decoder), model(source, target_in)
    _, hidden = encoder(source)
    yield right.softmax(dim=-1), "these are probabilities: return the scores, cross_entropy takes the softmax itself"
    yield right.log_softmax(dim=-1), "these are logarithms of probabilities: return the scores as they are"
    yield decoder(target_in, torch.zeros_like(hidden))[0], "the writer starts from zeros: give it the reader's last state"
    yield model(source.flip(1), target_in), "it reads the sentence from its end"
    yield decoder.output(decoder.layer(encoder.embedding(target_in), hidden)[0]), "the target has a table of its own"
    yield decoder.output(encoder.layer(decoder.embedding(target_in), hidden)[0]), "the reader has written: use the writer"
    yield right[:, -1], "these are the scores after the last symbol alone: return those after each"


def _wrong_words(model: Seq2Seq, source: Tensor, max_len: int) -> Iterator:
    """Return what likely mistakes in `write` give, each with its hint."""
    _, first = model.encoder(source)
    right = greedy_decode(model, source, max_len)[0].tolist()

    def loop(reads: Callable, keeps: bool = True, end: int | None = EOS_ID) -> list[int]:
        symbol, hidden, written = SOS_ID, first, []
        while symbol != end and len(written) < max_len:
            logits, after = model.decoder(torch.tensor([[reads(symbol)]]), hidden)
            hidden, symbol = (after if keeps else first), logits[0, -1].argmax().item()
            written.append(symbol)
        return written

    yield [SOS_ID, *right], "the start sign is read, and is no part of the answer"
    yield right[:-1] if right[-1] == EOS_ID else ..., "the end sign is part of the answer: write it, then stop"
    yield loop(lambda symbol: SOS_ID), "it reads <sos> at each step: give it the symbol that it has just written"
    yield loop(lambda symbol: symbol, keeps=False), "each step starts from the reader's state again: keep the new state"
    yield loop(lambda symbol: symbol, end=None), "it does not stop after <eos>"


@check
def my_seq2seq(attempt: Callable) -> str:
    """The reader's class gives the scores of the library's `Seq2Seq`, and writes what `greedy_decode` writes."""
    mine = attempt(13, 6, 5)
    missing = [name for name, (_, kind) in _PARTS.items() if not isinstance(getattr(mine, name, None), kind)]
    if missing:
        raise Hint(f"__init__ should set self.{missing[0]} to an nn.{_PARTS[missing[0]][1].__name__}")
    if not (mine.reader.batch_first and mine.writer.batch_first):
        raise Hint("an nn.GRU puts the sentences second unless it gets batch_first=True")
    forward, write = type(attempt)(mine.forward), type(attempt)(mine.write)
    source, target_in = torch.tensor([[3, 4, 5, 6], [7, 8, 9, 10]]), torch.tensor([[1, 6, 5], [1, 10, 9]])
    with torch.no_grad():
        for seed, max_len in _SEEDS:
            ours = _model(seed)
            for name, (path, _) in _PARTS.items():
                try:
                    getattr(mine, name).load_state_dict(ours.get_submodule(path).state_dict())
                except RuntimeError as problem:
                    raise Hint(f"self.{name} has another size than (vocab_size, d_model, hidden_size) ask for") from problem
            found = forward(source, target_in)
            if not same(found, ours(source, target_in)):
                for wrong, hint in _wrong_scores(ours, source, target_in):
                    if same(found, wrong):
                        raise Hint(f"forward: {hint}")
                shape = tuple(getattr(found, "shape", ()))
                raise Hint(
                    f"forward: the shape is {shape}, and should be (2, 3, 13); if it is, compare each step with the page"
                )
            words, right = write(source[:1], max_len), greedy_decode(ours, source[:1], max_len)[0].tolist()
            if not same(words, right):
                for wrong, hint in _wrong_words(ours, source[:1], max_len):
                    if wrong is not ... and same(words, wrong):
                        raise Hint(f"write: {hint}")
                if isinstance(words, list) and len(words) > max_len:
                    raise Hint("write: that is more than max_len symbols")
                raise Hint(f"write: it should write {right}, not {words!r:.60}")
    return "the scores of the library's Seq2Seq, and what greedy_decode writes"
