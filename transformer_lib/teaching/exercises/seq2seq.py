"""Checks for the exercises of chapter 1, The limits of seq2seq."""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor, nn

from transformer_lib.seq2seq import PAD_ID, SOS_ID, Seq2Seq, greedy_decode
from transformer_lib.teaching.exercises import Attempt, Hint, _, check, compare, exercise

_SENTENCE = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])


def _state(vectors: np.ndarray, k: float) -> np.ndarray:
    state = vectors[0] * 0
    for x in vectors:
        state = k * state + x
    return state


@exercise(
    cases=[(_SENTENCE, 0.5), (_SENTENCE, 1.0), (_SENTENCE[::-1].copy(), 1.0), (_SENTENCE, 0.0), (_SENTENCE[:1], 0.25)],
    hint=_("One letter after another: multiply the state by k, then add the letter's vector"),
)
def last_state(vectors: np.ndarray, k: float) -> Iterator:
    """The reader's `last_state(vectors, k)` returns the state after the last letter."""
    praise = _("with k = 1 only the sum counts, whatever the order. With k = 0 only the last letter is left. As you predicted?")
    yield _state(vectors, k), praise
    yield _state(vectors, 0.5), _("that is the rule with one half, whatever k is")
    yield vectors.sum(axis=0), _("that is the sum of all letters: the old state is not multiplied by k")
    yield vectors[-1], _("that is the last letter alone: the state before it is forgotten")
    yield _state(vectors[::-1], k), _("it reads from the end")
    says = _("the new letter is multiplied by k as well: first k times the old state, then add the letter")
    yield k * _state(vectors, k), says
    states = np.stack([_state(vectors[: n + 1], k) for n in range(len(vectors))])
    yield states, _("these are the states after each letter: return the last one")


@exercise(
    cases=[
        (
            torch.tensor([[1.0, 2.0, 3.0, 7.0], [5.0, 9.0, 8.0, 6.0], [0.5, 0.25, 4.0, 2.5]], dtype=torch.float64),
            torch.tensor([[7, 5, 2, 0], [2, 0, 0, 0], [4, 6, 8, 2]]),
        )
    ],
    hint=_("Choose the places where target_out is not 0, then take the mean"),
)
def mean_loss(place_losses: Tensor, target_out: Tensor) -> Iterator:
    """The reader's `mean_loss(place_losses, target_out)` returns the mean over the places that are no padding."""
    real = target_out != 0
    yield place_losses[real].mean(), _("padding changes nothing, and every real word counts the same")
    yield place_losses.mean(), _("that is the mean over all places: leave those out where target_out is 0")
    yield place_losses[real].sum(), _("that is the sum over the real places: divide by how many there are")
    says = _("the padding is gone from the sum, but it is still counted: divide by the real places")
    yield (place_losses * real).mean(), says
    means = (place_losses * real).sum(1) / real.sum(1)
    yield means.mean(), _("that is the mean of the sentences' means: take one mean over all real places of the batch")
    yield place_losses[target_out > 2].mean(), _("EOS (id 2) is left out too: the decoder must learn to write it, so it counts")


_PARTS = {
    "source_table": ("encoder.embedding", nn.Embedding),
    "reader": ("encoder.layer", nn.GRU),
    "target_table": ("decoder.embedding", nn.Embedding),
    "writer": ("decoder.layer", nn.GRU),
    "output": ("decoder.output", nn.Linear),
}


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


@check
def my_seq2seq(attempt: Callable) -> str:
    """The reader's class gives the scores of the library's `Seq2Seq`, and writes what `greedy_decode` writes."""
    mine = attempt(13, 6, 5)
    for name, (_path, kind) in _PARTS.items():
        if not isinstance(getattr(mine, name, None), kind):
            raise Hint(_("__init__ should set {part} to an {kind}", part=f"self.{name}", kind=f"nn.{kind.__name__}"))
    if not (mine.reader.batch_first and mine.writer.batch_first):
        raise Hint(_("an nn.GRU puts the sentences second unless it gets batch_first=True"))
    forward, write = Attempt(mine.forward), Attempt(mine.write)
    source, target_in = torch.tensor([[3, 4, 5, 6], [7, 8, 9, 10]]), torch.tensor([[1, 6, 5], [1, 10, 9]])
    with torch.no_grad():
        for seed, max_len in ((439, 9), (58, 3)):  # one sentence ends with EOS, one is cut
            ours = _model(seed)
            for name, (path, _kind) in _PARTS.items():
                try:
                    getattr(mine, name).load_state_dict(ours.get_submodule(path).state_dict())
                except RuntimeError as problem:
                    size = _("{part} has another size than (vocab_size, d_model, hidden_size) ask for", part=f"self.{name}")
                    raise Hint(size) from problem
            right = ours(source, target_in)
            answers = [
                (right, ""),
                (
                    right.softmax(dim=-1),
                    _("these are probabilities: return the scores, cross_entropy takes the softmax itself"),
                ),
                (
                    ours.decoder(target_in, torch.zeros(1, 2, 5))[0],
                    _("the writer starts from zeros: give it the reader's last state"),
                ),
                (right[:, -1], _("these are the scores after the last symbol alone: return those after each")),
            ]
            found = forward(source, target_in), answers, [_("the result of forward")]
            compare([found], _("Compare each step with the page"))
            words = greedy_decode(ours, source[:1], max_len)[0].tolist()
            answers = [
                (words, ""),
                ([SOS_ID, *words], _("the start sign is read, and is no part of the answer")),
                (words[:-1], _("the last symbol is missing; the end sign, too, is part of the answer")),
            ]
            found = write(source[:1], max_len), answers, [_("the result of write")]
            compare([found], _("Hand each written symbol and the new state on"))
    return _("the scores of the library's Seq2Seq, and what greedy_decode writes")
