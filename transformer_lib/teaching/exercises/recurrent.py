"""Checks for the exercises of chapter 2, Inside the cell: RNN, LSTM, GRU."""

import math
from collections.abc import Callable

import numpy as np

from transformer_lib.teaching.exercises import Hint, exercise, expect_close, expect_formula, expect_shape

__all__ = ["half_life", "last_outputs", "lstm_step", "parameter_count", "recurrent_layer"]


@exercise
def recurrent_layer(attempt: Callable) -> str:
    """The reader's `recurrent_layer(x, y, w_x, w_y, b)` returns the outputs of all steps, (batch, seq, hidden)."""
    for batch, seq, inputs, hidden in ((2, 4, 3, 5), (3, 5, 4, 2)):
        given = _normal((batch, seq, inputs), (batch, hidden), (inputs, hidden), (hidden, hidden), (hidden,))
        x, y, w_x, w_y, b = given
        right = _outputs(*given)
        result = attempt(*_tensors(*given))
        for wrong, hint in (
            (right[:, -1], "that is the output of the last step alone: keep the outputs of all steps, and stack them"),
            (right.swapaxes(0, 1), "the steps come first: stack them along dim=1, for (batch, seq, hidden)"),
        ):
            if getattr(_stacked(result), "shape", None) == wrong.shape != right.shape:
                raise Hint(hint)
        result = expect_shape(_stacked(result), right.shape, "the outputs")
        for wrong, hint in (
            (_outputs(*given, hand_on=False), "each step reads the y from the beginning: give the new output to the next step"),
            (_outputs(*given, activation=lambda total: total), "the activation is missing: put the sum through tanh"),
            (_outputs(*given, activation=lambda total: np.maximum(total, 0)), "that is ReLU; this exercise asks for tanh"),
            (_outputs(x, y, w_x, w_y, 0 * b), "the bias b is missing"),
            (_outputs(x, y, w_x, 0 * w_y, b), "the output of the step before is missing: add y @ w_y, or there is no memory"),
            (_outputs(x, 0 * y, w_x, w_y, b), "the first step must read the y that is given"),
            (_outputs(x, y, w_x, w_y.T, b), "w_y is transposed: its rows belong to the old output, so it is y @ w_y"),
            (_outputs(x[:, ::-1], y, w_x, w_y, b), "that reads from the last step to the first"),
            (_outputs(x[:, ::-1], y, w_x, w_y, b)[:, ::-1], "that reads from the last step to the first"),
        ):
            if np.allclose(result, wrong, atol=1e-4):
                raise Hint(hint)
        expect_close(
            result, right, "Each step is tanh(step @ w_x + y @ w_y + b), and its output is the next y", what="the outputs"
        )
    return "one cell for all steps, and each step reads the output of the one before"


def _outputs(
    x: np.ndarray,
    y: np.ndarray,
    w_x: np.ndarray,
    w_y: np.ndarray,
    b: np.ndarray,
    activation: Callable = np.tanh,
    hand_on: bool = True,
) -> np.ndarray:
    outputs = []
    for step in range(x.shape[1]):
        outputs.append(activation(x[:, step] @ w_x + y @ w_y + b))
        y = outputs[-1] if hand_on else y
    return np.stack(outputs, axis=1)


@exercise
def parameter_count(attempt: Callable) -> str:
    """The reader's `parameter_count(blocks, input_size, hidden_size, directions)` returns how many numbers are learnt."""

    def with_biases(count: int) -> Callable:
        return lambda blocks, inputs, hidden, directions: directions * blocks * hidden * (inputs + hidden + count)

    expect_formula(
        attempt,
        cases=[(1, 3, 4, 1), (3, 128, 64, 2), (4, 5, 7, 2)],
        right=with_biases(2),
        mistakes=[
            (with_biases(1), "there are two biases, bias_ih and bias_hh; you counted one"),
            (with_biases(0), "the two biases are missing"),
            (
                lambda blocks, inputs, hidden, directions: blocks * hidden * (inputs + hidden + 2),
                "a second direction has a cell of its own: twice as many",
            ),
            (
                lambda blocks, inputs, hidden, directions: directions * hidden * (inputs + hidden + 2),
                "each gate and the proposal has its own rows: multiply by blocks",
            ),
            (
                lambda blocks, inputs, hidden, directions: directions * blocks * hidden * (inputs + 2),
                "the weights from the old state to the new, (blocks · hidden, hidden), are missing",
            ),
        ],
        hint="weight_ih has blocks · hidden rows and `input` columns, weight_hh as many rows and `hidden` columns",
    )
    return "the length of the sequence does not appear: one cell serves all steps"


@exercise
def half_life(attempt: Callable) -> str:
    """The reader's `half_life(bias)` returns after how many steps a gate at sigmoid(bias) has kept one half."""

    def gate(bias: float) -> float:
        return 1 / (1 + math.exp(-bias))

    expect_formula(
        attempt,
        cases=[(2.0,), (0.5,), (3.0,)],
        right=lambda bias: math.log(0.5) / math.log(gate(bias)),
        mistakes=[
            (
                lambda bias: math.log(0.5) / math.log(bias),
                "the bias is not the gate: the gate stands at sigmoid(bias) = 1 / (1 + exp(-bias))",
            ),
            (
                lambda bias: math.log(0.5) / math.log(math.tanh(bias)),
                "that is tanh; a gate stands at sigmoid(bias) = 1 / (1 + exp(-bias))",
            ),
            (
                lambda bias: math.log(gate(bias)) / math.log(0.5),
                "that is the inverse: solve gate ** steps = 0.5 for the number of steps",
            ),
            (lambda bias: -1 / math.log(gate(bias)), "after that many steps 1/e is left, not one half"),
            (
                lambda bias: 0.5 / (1 - gate(bias)),
                "each step takes a share of what is left, not the same amount: solve gate ** steps = 0.5",
            ),
            (lambda bias: gate(bias), "that is where the gate stands; now solve gate ** steps = 0.5 for the steps"),
        ],
        hint="After n steps gate ** n is left, with gate = sigmoid(bias)",
    )
    return "a bias of 0 keeps one half for 1 step, a bias of 3 for about 14"


@exercise
def last_outputs(attempt: Callable) -> str:
    """The reader's `last_outputs(outputs, lengths)` returns each sequence's output at its own last step."""
    import torch

    for lengths in ([5, 2, 4], [1, 3]):
        # One column more than the longest has: the reader's step too far is then a wrong answer, and no IndexError.
        (outputs,) = _normal((len(lengths), 6, 3))
        (given,) = _tensors(outputs)
        result = expect_shape(attempt(given, torch.tensor(lengths)), (len(lengths), 3), "the result, (batch, hidden),")
        rows = np.arange(len(lengths))
        expected = outputs[rows, np.array(lengths) - 1]
        for mistake, hint in (
            (outputs[:, -1], "that is the last place of the padded batch; a short sequence ended before it"),
            (outputs[:, 0], "that is the first step of each sequence"),
            (outputs[rows, np.array(lengths)], "one step too far: a sequence of length 2 has the steps 0 and 1"),
            (outputs[rows, max(lengths) - 1], "that is the last step of the longest sequence; each has its own"),
            (outputs[rows, np.array(lengths) - 2], "one step too early: a sequence of length 2 has the steps 0 and 1"),
        ):
            if np.allclose(result, mistake, atol=1e-4) and not np.allclose(mistake, expected):
                raise Hint(hint)
        expect_close(result, expected, "Row by row, take the step lengths - 1")
    return "each sequence gives the output of its own last step, and the padding is left alone"


@exercise
def lstm_step(attempt: Callable) -> str:
    """The reader's `lstm_step(x, h, c, weight, bias)` returns the pair (h, c) after one step."""
    for batch, inputs, hidden in ((2, 3, 4), (5, 2, 3)):
        sizes = (batch, inputs), (batch, hidden), (batch, hidden), (inputs + hidden, 4 * hidden), (4 * hidden,)
        x, h, c, weight, bias = _normal(*sizes)
        blocks = np.split(np.concatenate([x, h], axis=1) @ weight + bias, 4, axis=1)
        exchanged = np.split(np.concatenate([h, x], axis=1) @ weight + bias, 4, axis=1)
        result = attempt(*_tensors(x, h, c, weight, bias))
        pair = expect_shape(_stacked(result), (2, batch, hidden), "the pair (h, c)")
        expected = np.stack(_lstm(*blocks, c))
        i, f, g, o = blocks
        for mistake, hint in (
            (
                np.stack(_lstm(*exchanged, c)),
                "the order of the inputs is exchanged: the first rows of the weight belong to x, so it is [x, h]",
            ),
            (
                np.stack([_sigmoid(o) * np.tanh(v := _sigmoid(f) * c + (1 - _sigmoid(f)) * np.tanh(g)), v]),
                "that is the GRU's way, 1 - f in place of i: an LSTM has an input gate of its own",
            ),
            (
                np.stack([_sigmoid(o) * np.tanh(v := _sigmoid(f) * c + _sigmoid(i) * g), v]),
                "the proposal g needs tanh",
            ),
            (expected[::-1], "the two states are in the wrong order: return (h, c), the output first"),
            (np.stack(_lstm(f, i, g, o, c)), "input gate and forget gate are exchanged: the input gate comes first"),
            (np.stack(_lstm(i, f, o, g, c)), "proposal and output gate are exchanged: the proposal is the third block"),
            (
                np.stack([_sigmoid(o) * expected[1], expected[1]]),
                "the cell state passes tanh before the output gate: h = o * tanh(c)",
            ),
            (
                np.stack([_sigmoid(o) * np.tanh(c), expected[1]]),
                "the output is made from the new cell state, not from the old one",
            ),
            (
                np.stack([_sigmoid(o) * np.tanh(v := i * g + f * c), v]),
                "the gates need the sigmoid, and the proposal needs tanh",
            ),
        ):
            if np.allclose(pair, mistake, atol=1e-4):
                raise Hint(hint)
        for index, what in ((1, "the cell state"), (0, "the output h")):
            expect_close(pair[index], expected[index], "c = f * c + i * g, and h = o * tanh(c)", what=what)
    return "the memory is kept in part and added to; the output is a filtered view of it"


def _lstm(i: np.ndarray, f: np.ndarray, g: np.ndarray, o: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
    return _sigmoid(o) * np.tanh(c), c


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _stacked(pair: object) -> object:
    """Return a pair of tensors or arrays as one array; anything else, also parts that do not fit together, as it is."""
    if isinstance(pair, tuple | list):
        try:
            return np.array([part.detach().cpu().numpy() if hasattr(part, "detach") else part for part in pair], dtype=float)
        except Exception:  # a reader may return anything: it is judged where its shape is asked for
            return pair
    return pair


def _normal(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    generator = np.random.default_rng(2)
    return [generator.normal(size=shape) for shape in shapes]


def _tensors(*arrays: np.ndarray) -> list:
    import torch

    return [torch.from_numpy(array.copy()) for array in arrays]
