"""Chapter 2: who is tired? What an LSTM and a plain RNN name, and where the LSTM's forget gate stands: five seeds each."""

import random

import torch
from torch import Tensor, nn

from benchmarks.records import write_record
from transformer_lib.teaching.experiments.recurrent import ANIMALS, WORDS, forget_gates, stories, train_on_stories, vectors

SEEDS = range(5)
STEPS = [400, 1500]
HIDDEN, FORGET_BIAS = 16, 5.0
EXAMPLE = "the cow sees the horse and sleeps and sees the dog and is tired . the hen runs and sees the cow and is tired ."


def layer(kind: str) -> nn.Module:
    made = getattr(nn, kind)(len(WORDS), HIDDEN, batch_first=True)
    if kind == "LSTM":
        with torch.no_grad():
            made.bias_ih_l0[HIDDEN : 2 * HIDDEN] = FORGET_BIAS
    return made


def kinds_of_words(words: Tensor) -> dict[str, Tensor]:
    """Return a mask `(count, length)` for each kind of word; the first sentence has nothing to forget yet, and is left out."""
    animal, stop = words < len(ANIMALS), words == WORDS.index(".")
    seen = torch.zeros_like(animal)
    seen[:, 2:] = animal[:, 2:] & (words[:, :-2] == WORDS.index("sees"))
    later = stop.cumsum(dim=1) - stop.long() > 0
    return {
        "full stop": stop & later,
        "subject": animal & ~seen & later,
        "animal that is seen": seen & later,
        "other word": ~animal & ~stop & later,
    }


def main() -> None:
    torch.set_num_threads(1)
    numbers, example = {}, torch.tensor([[WORDS.index(word) for word in EXAMPLE.split()]])
    for kind in ("RNN", "LSTM"):
        for steps in STEPS:
            runs = []
            for seed in SEEDS:
                torch.manual_seed(seed)
                choose = random.Random(seed)
                model = train_on_stories(layer(kind), steps=steps, choose=choose)
                words, subjects = stories(500, 40, choose)
                asked = words == WORDS.index("tired")

                def right(named: Tensor, asked: Tensor = asked, subjects: Tensor = subjects) -> float:
                    return (named.argmax(dim=-1) == subjects)[asked].float().mean().item()

                with torch.no_grad():
                    run = {"right": right(model(vectors(words)))}
                    if kind == "LSTM":
                        _, _, f = forget_gates(model.layer, words)
                        run["forget gate"] = {name: f[mask].mean().item() for name, mask in kinds_of_words(words).items()}
                        h, _, _ = forget_gates(model.layer, words, keep_at=".")
                        run["right, nothing forgotten at full stops"] = right(model.output(h))
                    if seed == 0:
                        states = model.layer(vectors(example))[0]
                        run["named"] = [ANIMALS[k] for k in model(vectors(example))[0].argmax(dim=-1)]
                        if kind == "LSTM":
                            _, states, f = forget_gates(model.layer, example)
                            run["f"] = [[round(x, 3) for x in row] for row in f[0].T.tolist()]
                        run["memory"] = [[round(x, 3) for x in row] for row in states[0].T.tolist()]
                runs.append(run)
                print(kind, steps, seed, *(f"{k}: {v}" for k, v in run.items() if k not in ("f", "memory")), flush=True)
            numbers[f"{kind}, {steps} steps"] = runs
    settings = {"hidden_size": HIDDEN, "forget_bias": FORGET_BIAS, "batch": 32, "length": 40, "example": EXAMPLE}
    write_record("recurrent_story", seeds=list(SEEDS), settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
