"""Training on English sentences and their French translations: counted rightly and wrongly, stopped, resumed, averaged."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lib.schedule import NoamSchedule, transformer_optimizer
from transformer_lib.seq2seq import EOS_ID, PAD_ID, greedy_decode
from transformer_lib.teaching.corpora.english_french import grammar_corpus
from transformer_lib.training import (
    Batch,
    Checkpoint,
    History,
    IdPair,
    Validation,
    average_checkpoints,
    evaluate,
    token_batches,
    train,
    training_step,
)
from transformer_lib.transformer import Transformer, TransformerConfig

SIGNS = ["<pad>", "<sos>", "<eos>"]
RATE, STEPS, MAX_TOKENS = 0.005, 200, 400


class Sentences(NamedTuple):
    """Pairs of ids to train on, others to measure on, and the words of both languages, where a word's place is its id."""

    pairs: list[IdPair]
    held_out: list[IdPair]
    english: list[str]
    french: list[str]


@cache
def sentences(count: int = 3000, held_out: int = 300) -> Sentences:
    """Return simple sentences and their translations; the first pair is *I am a student*, *je suis étudiant*."""
    corpus = grammar_corpus(count, seed=0, test_count=held_out)
    cut = [[side.replace("'", "' ").split() for side in pair] for pair in corpus.train + corpus.held_out]
    english, french = (SIGNS + sorted({word for pair in cut for word in pair[side]}) for side in (0, 1))
    ids = [{word: i for i, word in enumerate(words)} for words in (english, french)]
    pairs = [([ids[0][word] for word in source], [*(ids[1][word] for word in target), EOS_ID]) for source, target in cut]
    return Sentences(pairs[:count], pairs[count:], english, french)


def small_translator(seed: int = 0, **changes: int | float) -> Transformer:
    """Return a Transformer of one layer and width 64 for `sentences`, with `changes` of its configuration."""
    torch.manual_seed(seed)
    _, _, english, french = sentences()
    return Transformer(replace(TransformerConfig.tiny(len(english), len(french)), **{"num_layers": 1, **changes}))


def translations(model: nn.Module) -> list[tuple[str, str, str]]:
    """Return (English, what the model writes, the right French) of the held-out sentences."""
    _, held_out, english, french = sentences()
    batch = Batch.from_pairs(held_out)
    written = greedy_decode(model, batch.source, max_len=batch.target_out.size(1)).tolist()

    def text(ids: Sequence[int], words: Sequence[str]) -> str:
        return " ".join(words[i] for i in ids if i not in (PAD_ID, EOS_ID)).replace("' ", "'")

    return [
        (text(source, english), text(row, french), text(target, french)) for (source, target), row in zip(held_out, written)
    ]


def by_heart(source: Tensor, target_in: Tensor, target_out: Tensor, words: Sequence[str]) -> None:
    """Train a fresh model with the page's ten lines, print its last loss, and what it writes."""
    torch.manual_seed(0)
    model = Transformer(TransformerConfig.tiny(len(words), len(words)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for _ in range(60):
        loss = F.cross_entropy(model(source, target_in).flatten(0, 1), target_out.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.05
    print(f"loss ≈ {loss:.2f}")
    for row in greedy_decode(model, source, max_len=target_out.size(1)).tolist():
        print(" ".join(words[i] for i in row))


# What is counted


def as_they_come(pairs: Sequence[IdPair], size: int) -> list[Batch]:
    """Return batches of `size` pairs each, in their order."""
    return [Batch.from_pairs(pairs[start : start + size]) for start in range(0, len(pairs), size)]


def padding_share(batches: Sequence[Batch]) -> float:
    """Return which share of the places of the targets is padding."""
    return 1 - sum(batch.num_tokens for batch in batches) / sum(batch.target_out.numel() for batch in batches)


def losses_of(model: nn.Module, batch: Batch) -> Tensor:
    """Return the loss at each place, padding too, of shape (batch, target)."""
    logits = model(batch.source, batch.target_in)
    return F.cross_entropy(logits.transpose(1, 2), batch.target_out, reduction="none")


COUNTED: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "places": lambda losses, real: losses.mean(),
    "tokens": lambda losses, real: losses[real].mean(),
    "tokens, divided by places": lambda losses, real: losses[real].sum() / losses.numel(),
}


def train_counting(counted: str, seed: int = 0, steps: int = 100) -> dict:
    """Train with one way to count; return what it reports and what an exam says after 100 steps, and the curves of both.

    The exam takes held-out sentences and counts tokens only. `parts` are the losses of padding and of words at each step.
    """
    parts = []

    def step(model: nn.Module, batch: Batch, optimizer: torch.optim.Optimizer) -> float:
        losses, real = losses_of(model, batch), batch.target_out != PAD_ID
        loss = COUNTED[counted](losses, real)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        parts.append((losses[~real].mean().item(), losses[real].mean().item()))
        return loss.item()

    given = sentences()
    model = small_translator(seed, dropout=0.0)
    batches = as_they_come(given.pairs, 32)
    order = torch.randperm(len(batches), generator=torch.Generator().manual_seed(seed)).tolist()
    exam = Validation(token_batches(given.held_out, 1000), every=10)
    optimizer = transformer_optimizer(model, 0.003)
    history = train(model, [batches[i] for i in order], steps=steps, optimizer=optimizer, step=step, validation=exam)
    curve = history.validation_losses
    ends = {"reported": sum(history.losses[90:100]) / 10, "exam": curve[100]}
    return {"ends": ends, "parts": parts, "curve": curve}


def three_ways_to_count() -> dict[str, dict]:
    """Train three models that differ in what they count, and print what each reports and what the exam says."""
    found = {counted: train_counting(counted, steps=200) for counted in COUNTED}
    print(f"of all places, {padding_share(as_they_come(sentences().pairs, 32)):.0%} are padding; after 100 steps")
    for counted, run in found.items():
        print(f"counts {counted}: reports ≈ {run['ends']['reported']:.2f}, exam ≈ {run['ends']['exam']:.2f}")
    places, tokens, control = (run["ends"] for run in found.values())
    assert places["reported"] < tokens["reported"] - 0.1 and places["exam"] > tokens["exam"] + 0.1
    padding, words = found["places"]["parts"][49]
    assert abs(control["exam"] - tokens["exam"]) < 0.1 and padding < 0.1 < 3 < words
    return found


# Whole runs


def learn(
    seed: int, *, steps: int = STEPS, every: int = 20, checkpoint: Checkpoint | None = None
) -> tuple[Transformer, History]:
    """Train a small translator as the page does; return it, and what was measured."""
    given = sentences()
    model = small_translator(seed)
    history = train(
        model,
        lambda epoch: token_batches(given.pairs, MAX_TOKENS, seed=1000 * seed + epoch),
        steps=steps,
        optimizer=transformer_optimizer(model, RATE),
        validation=Validation(token_batches(given.held_out, 1000), every),
        checkpoint=checkpoint,
    )
    return model, history


def mean_of_five(seed: int) -> dict[str, float | list[float]]:
    """Return the held-out losses of the last five checkpoints of a run, ten steps apart, and that of their mean."""
    with tempfile.TemporaryDirectory() as folder:
        keep, paths, alone = Checkpoint(Path(folder, "run.pt"), every=1000, resume=True), [], []
        for stop in range(STEPS - 40, STEPS + 1, 10):
            model, history = learn(seed, steps=stop, every=1000, checkpoint=keep)
            alone.append(history.validation_losses[stop])
            paths.append(Path(folder, f"{stop}.pt"))
            paths[-1].write_bytes(keep.path.read_bytes())
        average_checkpoints(paths, model)
        return {"alone": alone, "mean": evaluate(model, token_batches(sentences().held_out, 1000))}


def stopped_and_resumed() -> None:
    """Stop a run, go on from its checkpoint with other objects, and compare the ends."""

    def run(seed: int, steps: int, checkpoint: Checkpoint | None = None) -> tuple[dict, History]:
        model = small_translator(seed, d_model=32)
        optimizer = transformer_optimizer(model)
        history = train(
            model,
            lambda epoch: token_batches(sentences().pairs[:160], 100, seed=epoch),
            steps=steps,
            optimizer=optimizer,
            schedule=NoamSchedule(optimizer, d_model=32, warmup=10),
            step=partial(training_step, accumulation_steps=2),
            checkpoint=checkpoint,
        )
        return model.state_dict(), history

    weights, history = run(seed=0, steps=16)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Checkpoint(Path(folder, "run.pt"), resume=True)
        run(seed=0, steps=10, checkpoint=checkpoint)
        again, resumed = run(seed=100, steps=16, checkpoint=checkpoint)
    assert all(again[name].equal(weights[name]) for name in weights) and resumed == history
    print("stopped after step 10, resumed, ended at step 16: the same bits as without a stop")


def what_is_lost(seed: int) -> dict[str, float]:
    """Return how far 20 steps end from where they would have ended, if after step 10 something is lost.

    The distance is divided by the way from the first weights to the last.
    """
    batches = as_they_come(sentences().pairs[:160], 8)

    def run(*lost: str, steps: int = 20) -> Tensor:
        model = small_translator(seed, d_model=32)
        optimizer, place = torch.optim.Adam(model.parameters(), lr=1e-3), 0
        for step in range(steps):
            if step == 10 and "averages" in lost:
                optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
            if step == 10 and "place" in lost:
                place = 0
            if step == 10 and "random state" in lost:
                torch.manual_seed(seed + 100)
            training_step(model, batches[place], optimizer)
            place += 1
        return nn.utils.parameters_to_vector(model.parameters()).detach()

    start, end = run(steps=0), run()
    assert run().equal(end), "nothing lost: other bits"
    kinds = ["averages", "place", "random state"]
    cases = {kind: [kind] for kind in kinds} | {"all three": kinds}
    return {name: ((run(*lost) - end).norm() / (end - start).norm()).item() for name, lost in cases.items()}
