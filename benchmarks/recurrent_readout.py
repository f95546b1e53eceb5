"""Chapter 2: what a plain RNN still holds of the first symbol at each length, and what its own readout finds: ten seeds.

The RNN is trained as in `recurrent_memory`. At each length its own readout, trained with it, is compared with a new linear
readout that is fitted to the states of that one length. An RNN that was never trained is the control.
"""

import torch

from benchmarks.records import write_record
from transformer_lib.recurrent import Recurrent, RNNCell
from transformer_lib.teaching.experiments.recurrent import (
    SYMBOLS,
    RememberFirst,
    fresh_readout_accuracy,
    states_by_length,
    train_to_remember,
)

SEEDS = range(10)
LENGTHS = list(range(20, 61))
SETTINGS = {"hidden_size": 32, "steps": 400, "trained_lengths": [20, 40], "fitted_on": 4000, "measured_on": 2000}


def layer(input_size: int, hidden_size: int) -> Recurrent:
    return Recurrent(RNNCell(input_size, hidden_size))


def measure(model: RememberFirst, seed: int) -> dict[str, list[float]]:
    """Return the accuracy at each of LENGTHS, with the model's own readout and with a new one for each length."""
    held_out = SETTINGS["measured_on"]
    states, first = states_by_length(model.layer, lengths=LENGTHS, count=SETTINGS["fitted_on"] + held_out, seed=seed)
    with torch.no_grad():
        own = [(model.output(states[n][-held_out:]).argmax(-1) == first[-held_out:]).float().mean().item() for n in LENGTHS]
    fresh = [fresh_readout_accuracy(states[n], first, held_out=held_out) for n in LENGTHS]
    return {"own readout": own, "fresh readout": fresh}


def main() -> None:
    torch.set_num_threads(1)
    trained, never_trained = [], []
    for seed in SEEDS:
        model = train_to_remember(layer, seed=seed, hidden_size=SETTINGS["hidden_size"], steps=SETTINGS["steps"])
        trained.append(measure(model, seed))
        torch.manual_seed(seed)
        never_trained.append(measure(RememberFirst(layer(SYMBOLS, SETTINGS["hidden_size"]), SETTINGS["hidden_size"]), seed))
        for name, run in (("trained", trained[-1]), ("never trained", never_trained[-1])):
            for which, shares in run.items():
                print(f"seed {seed}, {name:13}, {which:13}", *(f"{share:.2f}" for share in shares), flush=True)
    write_record(
        "recurrent_readout",
        seeds=list(SEEDS),
        settings={**SETTINGS, "lengths": LENGTHS},
        numbers={"trained": trained, "never trained": never_trained},
    )


if __name__ == "__main__":
    main()
