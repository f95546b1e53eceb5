"""Checks for the exercises of chapter 17, From this laptop to the paper."""

import math
from collections.abc import Callable, Iterator

from transformer_lib.teaching.exercises import exercise

__all__ = ["loss_factor", "round_to_bfloat16", "step_seconds", "tokens_that_fit"]


@exercise(
    cases=[(10_003, 100, 7), (1_000_000, 1_000, 1_000), (1_000, 100, 10)],
    hint="Take 16 bytes per parameter from the memory, and see how often per_token goes into the rest",
)
def tokens_that_fit(memory: int, parameters: int, per_token: int) -> Iterator:
    """The reader's `tokens_that_fit(memory, parameters, per_token)` says how many tokens a batch may have."""
    fit = lambda each: (memory - each * parameters) // per_token
    yield max(0, fit(16)), "weights, gradients and two moments, and the rest is for the batch"
    yield fit(16), "where not even the model fits, the answer is 0, not a negative number"
    yield max(0, (memory - 16 * parameters) / per_token), "half a token does not count: divide with //"
    yield max(0, fit(4)), "these are the weights alone: gradients and Adam's two moments take memory too"
    yield max(0, fit(8)), "weights and gradients: Adam's two moments are missing"
    yield max(0, fit(12)), "Adam keeps two moments for each parameter, not one"
    yield memory // per_token, "the model takes memory too: 16 bytes per parameter"


def _scaled(x: float, to_integer: Callable, bits: int = 8) -> float:
    m, e = math.frexp(x)
    return to_integer(m * 2**bits) / 2**bits * 2.0**e


@exercise(
    cases=[(1.0,), (1 / 3,), (257.0,), (259.0,), (-3.14159,), (1000.4,), (0.001,)],
    hint="Multiply m by 2 ** 8, round, divide by 2 ** 8, and put the exponent back",
)
def round_to_bfloat16(x: float) -> Iterator:
    """The reader's `round_to_bfloat16(x)` is the nearest number with 8 significant bits, a tie to the even one."""
    yield _scaled(x, round), "8 significant bits, with float32's exponents"
    yield _scaled(x, math.trunc), "this cuts the bits off: take the nearest number, with round"
    yield _scaled(x, math.floor), "this rounds down: take the nearest number, with round"
    yield _scaled(x, round, bits=7), "these have 7 significant bits: the first 1 is never written, and counts as well"
    yield _scaled(x, lambda y: math.floor(y + 0.5)), "a tie goes to the even number: 257 becomes 256. Python's round does that"
    yield round(x * 256) / 256, "the exponent is missing: round m, which lies between 0.5 and 1, and not x"
    yield x, "nothing is rounded"


@exercise(
    cases=[([4, 2],), ([4, 2, 0],), ([7],), ([10, 5, 1, 8],)],
    hint="The mean over the processes must become the sum of all losses, divided by all tokens",
)
def loss_factor(tokens: list[int]) -> Iterator:
    """The reader's `loss_factor(tokens)` is what each process multiplies its summed loss by."""
    yield len(tokens) / sum(tokens), "the mean over the processes is the loss per real token"
    yield 1 / sum(tokens), "the mean over the processes divides once more, by their number: take that back"
    yield sum(tokens) / len(tokens), "this is the other way round: divide by the tokens"
    yield 1 / len(tokens), "the engine divides by the number of processes already: what is missing are the tokens"
    busy = sum(count > 0 for count in tokens)
    yield busy / sum(tokens), "the mean divides by all processes, also by one whose part is empty"
    yield 1 / tokens[0], "each process would divide by its own tokens: that is a mean of means"
    yield len(tokens) / tokens[0], "the tokens of all the processes, not those of the first"


@exercise(
    cases=[(2.0, 1_000_000, 2, 1e8), (2.0, 63_000_000, 8, 1e9), (0.5, 1_000, 1, 1e6)],
    hint="The computing is divided by the processes; 2 (p - 1) / p times the gradients' bytes travel",
)
def step_seconds(seconds: float, parameters: int, processes: int, bandwidth: float) -> Iterator:
    """The reader's `step_seconds(seconds, parameters, processes, bandwidth)` is the time of one step."""
    sent = 4 * parameters / bandwidth
    ring = (processes - 1) / processes
    yield seconds / processes + 2 * ring * sent, "less to compute, and something to send"
    yield seconds + 2 * ring * sent, "the computing is shared: divide it by the processes"
    yield seconds / processes + ring * sent, "the pieces go round twice: once to add them up, once to hand out the sums"
    yield seconds / processes + 2 * sent, "a process does not send its own last piece: 2 (p - 1) / p, not 2"
    yield seconds / processes + 2 * ring * sent / 4, "each gradient has 4 bytes"
    yield seconds / processes + sent, "in a ring each process sends 2 (p - 1) / p times the bytes"
    yield seconds / processes, "the gradients have to travel too"
