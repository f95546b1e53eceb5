"""A small Transformer that learns to copy, fast enough to be trained once for each bug; and what it is worth."""

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from statistics import fmean

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from transformer_lib.decoding import CachedTransformer
from transformer_lib.eval_mode import eval_mode
from transformer_lib.schedule import transformer_optimizer
from transformer_lib.seq2seq import EOS_ID, PAD_ID, greedy_decode
from transformer_lib.teaching.bugs import BUGS, inject_bug
from transformer_lib.teaching.experiments.sequence_tasks import VOCABULARY
from transformer_lib.teaching.record import record
from transformer_lib.training import Batch, History, Validation, train, training_step
from transformer_lib.transformer import Transformer, TransformerConfig

BUG = {bug.name: bug for bug in BUGS}
SHORTEST, LONGEST = 2, 6
SENTENCES = 32
STEPS, WARMUP, EVERY = 240, 40, 40
SMOOTHING = 0.1
CONFIG = TransformerConfig(
    source_vocab_size=VOCABULARY,
    target_vocab_size=VOCABULARY,
    shared_vocabulary=True,
    d_model=48,
    num_layers=2,
    num_heads=4,
    d_ff=96,
    dropout=0.05,
)


def copy_batches(count: int, seed: int) -> list[Batch]:
    """Return `count` batches of SENTENCES sentences to copy, of SHORTEST … LONGEST symbols, with their padding."""
    generator = torch.Generator().manual_seed(seed)
    batches = []
    for _ in range(count):
        lengths = torch.randint(SHORTEST, LONGEST + 1, (SENTENCES,), generator=generator)
        sentences = [torch.randint(3, VOCABULARY, (length,), generator=generator).tolist() for length in lengths]
        batches.append(Batch.from_pairs([(sentence, [*sentence, EOS_ID]) for sentence in sentences]))
    return batches


def learn_to_copy(seed: int, steps: int = STEPS) -> tuple[Transformer, History]:
    """Train a Transformer to copy, and measure other sentences after each EVERY steps.

    `seed` moves the first weights, dropout and the sentences. The rate climbs for WARMUP steps, and falls to 0 at STEPS.
    """
    torch.manual_seed(seed)
    model = Transformer(CONFIG)
    optimizer = transformer_optimizer(model, learning_rate=0.006)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda done: min((done + 1) / WARMUP, (STEPS - done) / (STEPS - WARMUP))
    )
    history = train(
        model,
        copy_batches(steps, seed),
        steps=steps,
        optimizer=optimizer,
        schedule=schedule,
        step=partial(training_step, smoothing=SMOOTHING, max_grad_norm=1.0),
        validation=Validation(copy_batches(4, seed + 1000), EVERY),
    )
    return model, history


def train_the_first_pair() -> tuple[Transformer, History, Transformer, History]:
    """Train runs A and B of the chapter's first pair with one seed, the bug `future` in B, and return models and histories."""
    run_a = learn_to_copy(seed=0)
    with inject_bug(BUG["future"]):
        run_b = learn_to_copy(seed=0)
    return *run_a, *run_b


def measure_the_first_pair(model_a: Transformer, history_a: History, model_b: Transformer, history_b: History) -> None:
    """Print what A and B are worth, B as it was trained and with the line of A."""
    losses = lambda history: f"≈ {fmean(history.losses[-10:]):.2f}    ≈ {history.validation_losses[STEPS]:.2f}"
    runs = [("A", model_a, losses(history_a)), ("B", model_b, losses(history_b)), ("B with A's line", model_b, "")]
    print(f"{'':16}training  held out  words found  copied")
    for name, model, both in runs:
        with inject_bug(BUG["future"]) if name == "B" else nullcontext():
            right = copied(model, seed=0)
            print(f"{name:16}  {both:16}       ≈ {guessed(model, seed=0):4.0%}  ≈ {right:4.0%}")
        assert right > 0.5 if name == "A" else right < 0.2


def recorded_losses() -> dict[str, Tensor]:
    """Return the recorded training losses of the right model, "none", and of each bug, `(seed, point)`."""
    runs = record("bug_museum")["numbers"]
    return {name: torch.tensor([run["losses"] for run in runs if run["bug"] == name]) for name in ("none", *BUG)}


def _mean(name: str, number: Callable[[dict], float]) -> float:
    return fmean(number(run) for run in record("bug_museum")["numbers"] if run["bug"] == name)


def recorded_copies(name: str) -> float:
    """Return which share of new sentences was copied with the bug `name`, or with "none", the mean over the recorded seeds."""
    return _mean(name, lambda run: run["copied"])


def looks(losses: Tensor, right: Tensor) -> str:
    """Say how the curves `(seed, point)` of a bug look beside the right ones: better or worse if all of them end so."""
    if losses.equal(right):
        return "the same"
    if losses[:, -1].max() < right[:, -1].min():
        return "better"
    return "worse" if losses[:, -1].min() > right[:, -1].max() else "alike"


def table_of_all_runs() -> None:
    """Print the recorded means over the seeds: last loss, held-out loss, words found, sentences copied."""
    losses = recorded_losses()
    print(f"{'bug':15} last loss  looks     held out  words found  copied")
    for name, curves in losses.items():
        held_out, found = _mean(name, lambda run: run["validation_losses"][str(STEPS)]), _mean(name, lambda run: run["guessed"])
        shown = "" if name == "none" else looks(curves, losses["none"])
        print(f"{name:15} {curves[:, -1].mean():9.2f}  {shown:9} {held_out:8.2f}  {found:11.0%}  {recorded_copies(name):6.0%}")


def with_cache(model: Transformer) -> CachedTransformer:
    """Return the same model as one that keeps keys and values."""
    cached = CachedTransformer(model.config)
    cached.load_state_dict(model.state_dict())
    return cached


def _right(written: Tensor, target_out: Tensor) -> Tensor:
    """Say which sentences were written without a mistake, `(batch)`; behind the end only padding may follow."""
    return (pad(written, (0, target_out.size(1) - written.size(1)), value=PAD_ID) == target_out).all(dim=1)


def copied(model: nn.Module, seed: int) -> float:
    """Return which share of new sentences the model copies without a mistake, when it writes freely."""
    batches = copy_batches(8, seed + 2000)
    right = [_right(greedy_decode(model, batch.source, batch.target_out.size(1)), batch.target_out) for batch in batches]
    return torch.cat(right).float().mean().item()


def guessed(model: nn.Module, seed: int) -> float:
    """Return which share of the words of new sentences the model finds best, when it is given the right words before."""
    right = []
    for batch in copy_batches(8, seed + 2000):
        with eval_mode(model):
            best = model(batch.source, batch.target_in).argmax(dim=-1)
        right.append((best == batch.target_out)[batch.target_out != PAD_ID])
    return torch.cat(right).float().mean().item()
