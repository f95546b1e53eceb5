"""Training on English sentences and their French translations: counted rightly and wrongly, cut, stopped, resumed, averaged."""

import contextlib
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lib.schedule import NoamSchedule, transformer_optimizer
from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID, greedy_decode
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
EXACTLY = {"rtol": 0, "atol": 1e-12}


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


def translate(model: nn.Module, sentence: str) -> str:
    """Return what the model writes for a sentence of known words."""
    _, _, english, french = sentences()
    source = torch.tensor([[english.index(word) for word in sentence.split()]])
    written = greedy_decode(model, source, max_len=14)[0].tolist()
    return " ".join(french[i] for i in written if i not in (PAD_ID, EOS_ID)).replace("' ", "'")


def whole_sentences_right(model: nn.Module, pairs: Sequence[IdPair]) -> int:
    """Return how many sources are translated without a mistake."""
    batch = Batch.from_pairs(pairs)
    width = batch.target_out.size(1)
    written = greedy_decode(model, batch.source, max_len=width)
    written = F.pad(written, (0, width - written.size(1)))
    return int((written == batch.target_out).all(dim=1).sum())


def some_translations(model: nn.Module) -> list[tuple[str, str, str]]:
    """Return (English, what the model writes, the right French) of five held-out sentences."""
    _, held_out, english, french = sentences()
    shown = []
    for source, target in held_out[:5]:
        said = " ".join(english[i] for i in source)
        shown.append((said, translate(model, said), " ".join(french[i] for i in target[:-1]).replace("' ", "'")))
    return shown


# One batch, learned by heart


def by_heart(source: Tensor, target_in: Tensor, target_out: Tensor, words: Sequence[str], steps: int = 60) -> None:
    """Train a fresh model with the page's ten lines, print its last loss, and what it writes."""
    torch.manual_seed(0)
    model = Transformer(TransformerConfig.tiny(len(words), len(words)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for _ in range(steps):
        logits = model(source, target_in)
        loss = F.cross_entropy(logits.flatten(0, 1), target_out.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.05
    print(f"loss ≈ {loss:.3f}")
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


def train_counting(counted: str, seed: int = 0, steps: int = 100) -> dict[str, float]:
    """Train with one way to count; return the loss that it reports at the end (ten steps), and that of an exam.

    The exam takes held-out sentences one at a time, so that nothing is padded. `padding` is the loss at padded places.
    """
    given = sentences()
    model = small_translator(seed, dropout=0.0)
    batches = as_they_come(given.pairs, 32)
    order = torch.randperm(len(batches), generator=torch.Generator().manual_seed(seed)).tolist()
    optimizer = transformer_optimizer(model, 0.003)
    reported = []
    for step in range(steps):
        batch = batches[order[step % len(order)]]
        loss = COUNTED[counted](losses_of(model, batch), batch.target_out != PAD_ID)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        reported.append(loss.item())
    with torch.no_grad():
        batch = as_they_come(given.held_out, 32)[0]
        padding = losses_of(model, batch)[batch.target_out == PAD_ID].mean().item()
    exam = evaluate(model, as_they_come(given.held_out, 1))
    return {"reported": sum(reported[-10:]) / 10, "exam": exam, "padding": padding}


def places_or_tokens() -> dict[str, dict[str, float]]:
    """Train two models that differ in what they count, and print what each reports and what the exam says."""
    found = {counted: train_counting(counted) for counted in ("places", "tokens")}
    print(f"of all places, {padding_share(as_they_come(sentences().pairs, 32)):.0%} are padding")
    for counted, losses in found.items():
        print(f"counts {counted}: reports ≈ {losses['reported']:.2f}, exam ≈ {losses['exam']:.2f}")
    print(f"the first model's loss at padding ≈ {found['places']['padding']:.3f}")
    places, tokens = found.values()
    assert places["reported"] < tokens["reported"] - 0.1 and places["exam"] > tokens["exam"] + 0.1
    assert places["padding"] < 0.05
    return found


# The loss, the step and the loop, compared with plain code


def one_by_one(model: nn.Module, pairs: Sequence[IdPair]) -> Tensor:
    """Return the loss per word, one sentence and one word at a time."""
    total, count = 0, 0
    for source, target in pairs:
        scores = model(torch.tensor([source]), torch.tensor([[SOS_ID, *target[:-1]]]))[0]
        for place, word in enumerate(target):
            total = total - scores[place].log_softmax(dim=0)[word]
            count += 1
    return total / count


def compare_loss(label_smoothed_loss: Callable) -> None:
    """Compare a smoothed loss and its gradient with plain loops and with torch's, and print a line each."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(2, 4, 5, generator=generator, dtype=torch.float64, requires_grad=True)
    target = torch.tensor([[3, 1, 4, 2], [3, 2, 0, 0]])
    loss = label_smoothed_loss(logits, target, smoothing=0.1)
    (gradient,) = torch.autograd.grad(loss, logits)
    total, wanted = 0, torch.zeros_like(logits)
    for row, place in (target != PAD_ID).nonzero().tolist():
        shares = [0.1 / 5] * 5
        shares[target[row, place]] += 0.9
        log_p = logits[row, place].log_softmax(dim=0)
        total = total - sum(share * log_p[word] for word, share in enumerate(shares)) / 6
        wanted[row, place] = (log_p.exp() - torch.tensor(shares, dtype=torch.float64)).detach() / 6
    assert_close(loss, total, **EXACTLY)
    assert_close(gradient, wanted, **EXACTLY)
    print("equal to plain loops: the loss, and its gradient p − q, which is 0 at padding")
    theirs = nn.CrossEntropyLoss(ignore_index=PAD_ID, label_smoothing=0.1)(logits.flatten(0, 1), target.flatten())
    assert_close(loss, theirs, **EXACTLY)
    print("equal to torch's CrossEntropyLoss with label_smoothing=0.1")


def loss_and_gradients(step: Callable, model: nn.Module, batch: Batch, **settings: int) -> tuple[float, list[Tensor]]:
    """Return what a step reports, and its gradients; the weights stay."""
    loss = step(model, batch, torch.optim.SGD(model.parameters(), lr=0.0), smoothing=0.0, **settings)
    return loss, [parameter.grad for parameter in model.parameters()]


def compare_step(step: Callable, evaluate: Callable, train: Callable) -> None:
    """Compare a step, an evaluation and a loop with single sentences and with the ten lines, and print a line each."""
    pairs = sentences().pairs[:9]
    model = small_translator(dropout=0.0, d_model=32, d_ff=32).double()
    alone = one_by_one(model, pairs)
    gradients = list(torch.autograd.grad(alone, list(model.parameters())))
    nine = Batch.from_pairs(pairs)
    wider = Batch(*(F.pad(ids, (0, 7)) for ids in (nine.source, nine.target_in, nine.target_out)))
    for batch, parts in [(nine, 1), (wider, 1), (nine, 2), (nine, 5)]:
        given = loss_and_gradients(step, model, batch, accumulation_steps=parts)
        assert_close(given, (alone.item(), gradients), **EXACTLY)
    assert_close(evaluate(model, token_batches(pairs, 30)), alone.item(), **EXACTLY)
    print("training_step: same loss and gradients as one sentence at a time, also with more padding, also in parts")
    batches = token_batches(sentences().pairs[:60], 150, seed=0)
    ours, theirs = (small_translator(1, dropout=0.0, d_model=32, d_ff=32).double() for _ in range(2))
    settings = {"lr": 0.05, "momentum": 0.9}  # Adam would make differences of rounding large
    train(ours, batches, steps=9, optimizer=torch.optim.SGD(ours.parameters(), **settings))
    optimizer = torch.optim.SGD(theirs.parameters(), **settings)
    for number in range(9):
        batch = batches[number % len(batches)]
        logits = theirs(batch.source, batch.target_in).flatten(0, 1)
        loss = F.cross_entropy(logits, batch.target_out.flatten(), ignore_index=PAD_ID, label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert_close(ours.state_dict(), theirs.state_dict(), rtol=0, atol=1e-10)
    print("train: the same weights as the ten lines")


# Whole runs


def learn(
    seed: int = 0,
    *,
    count: int = 3000,
    steps: int = STEPS,
    every: int = 20,
    checkpoint: Checkpoint | None = None,
) -> tuple[Transformer, History]:
    """Train a small translator on the first `count` pairs as the page does; return it, and what was measured."""
    given = sentences()
    model = small_translator(seed)
    history = train(
        model,
        lambda epoch: token_batches(given.pairs[:count], MAX_TOKENS, seed=1000 * seed + epoch),
        steps=steps,
        optimizer=transformer_optimizer(model, RATE),
        validation=Validation(token_batches(given.held_out, 1000), every),
        checkpoint=checkpoint,
    )
    return model, history


def mean_of_five(seed: int = 0) -> dict[str, float | list[float]]:
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
    """Stop a run in the middle of a step, go on from its checkpoint with other objects, and compare the ends."""

    def run(seed: int, checkpoint: Checkpoint | None = None, stop: bool = False) -> tuple[dict, History]:
        model, passes = small_translator(seed, d_model=32), []
        optimizer = transformer_optimizer(model)

        def pull_the_plug(*_: object) -> None:
            passes.append(1)
            if stop and len(passes) == 2 * 13 + 1:  # two parts a step: the 14th is half done
                raise KeyboardInterrupt

        model.register_forward_hook(pull_the_plug)
        history = train(
            model,
            lambda epoch: token_batches(sentences().pairs[:160], 100, seed=epoch),
            steps=16,
            optimizer=optimizer,
            schedule=NoamSchedule(optimizer, d_model=32, warmup=10),
            step=partial(training_step, accumulation_steps=2),
            checkpoint=checkpoint,
        )
        return model.state_dict(), history

    weights, history = run(seed=0)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Checkpoint(Path(folder, "run.pt"), every=5)
        with contextlib.suppress(KeyboardInterrupt):
            run(0, checkpoint, stop=True)
        again, resumed = run(100, replace(checkpoint, resume=True))
    assert all(again[name].equal(weights[name]) for name in weights) and resumed == history
    print("stopped in step 14, resumed from step 10, ended at step 16: the same bits as without a stop")


def what_is_lost(seed: int = 0) -> dict[str, float]:
    """Return how far 20 steps end from where they would have ended, if after step 10 something is lost.

    The distance is divided by the way from the first weights to the last.
    """

    def run(lost: Sequence[str] = ()) -> tuple[Tensor, Tensor]:
        model = small_translator(seed, d_model=32)
        start = nn.utils.parameters_to_vector(model.parameters()).detach()
        batches = as_they_come(sentences().pairs[:160], 8)
        optimizer, place = torch.optim.Adam(model.parameters(), lr=1e-3), 0
        for step in range(20):
            if step == 10:
                if "averages" in lost:
                    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
                if "place" in lost:
                    place = 0
                if "random state" in lost:
                    torch.manual_seed(seed + 100)
            training_step(model, batches[place], optimizer)
            place += 1
        return start, nn.utils.parameters_to_vector(model.parameters()).detach()

    start, end = run()
    assert run()[1].equal(end), "nothing lost: other bits"
    kinds = ["averages", "place", "random state"]
    cases = {**{kind: [kind] for kind in kinds}, "all three": kinds}
    return {name: ((run(lost)[1] - end).norm() / (end - start).norm()).item() for name, lost in cases.items()}


PARTS = (1, 2, 4, 8)


def gradients_in_parts(seed: int = 0) -> dict[str, list[float]]:
    """Return for three ways to count how far the gradient is from the right one, for each number of parts.

    The right one is that of 24 pairs, one at a time; the pairs are sorted by length and cut.
    """
    pairs = sorted(sentences().pairs[:24], key=lambda pair: len(pair[1]))
    model = small_translator(seed, dropout=0.0).double()

    def gradient(loss: Tensor) -> Tensor:
        return torch.cat([part.flatten() for part in torch.autograd.grad(loss, list(model.parameters()))])

    def means(counted: str, batches: Sequence[Batch]) -> Tensor:
        each = [COUNTED[counted](losses_of(model, batch), batch.target_out != PAD_ID) for batch in batches]
        return sum(each) / len(each)

    def all_tokens(batches: Sequence[Batch]) -> Tensor:
        losses = [losses_of(model, batch)[batch.target_out != PAD_ID].sum() for batch in batches]
        return sum(losses) / sum(batch.num_tokens for batch in batches)

    ways = {
        "places, part by part": partial(means, "places"),
        "tokens, part by part": partial(means, "tokens"),
        "tokens of all parts": all_tokens,
    }
    right = gradient(one_by_one(model, pairs))
    cuts = [as_they_come(pairs, len(pairs) // parts) for parts in PARTS]
    return {
        name: [((gradient(way(batches)) - right).norm() / right.norm()).item() for batches in cuts]
        for name, way in ways.items()
    }
