"""Chapter 4's translator from several random starts: where it looks to write one word, and what it writes with a row hidden."""

import torch

from benchmarks.records import write_record
from transformer_lib.alignment import AttentionSeq2Seq
from transformer_lib.teaching.experiments.alignment import (
    Sentences,
    short_sentences,
    start,
    train_translator,
    translate,
    translates_rightly,
    write,
)

NAME = "alignment_translator"
SEEDS = [0, 1, 2, 3, 4]
SENTENCE, WORD = "the white cow is tired", "blanche"
HIDDEN = ["white", "cow"]
WITHOUT_WHITE = "the cow is tired"  # one thing at a time is taken from it
FIRST_WORDS = ["I", "we", "they", "these", "this", "the", "her", "a"]


def exchanged(model: AttentionSeq2Seq, sentences: Sentences) -> dict[str, str]:
    """Return what is written with the row of cow, and with the first state, of a sentence without white."""
    row, first_state, colourless = (start(model, sentences, text) for text in (SENTENCE, SENTENCE, WITHOUT_WHITE))
    row.memory[0, 2] = colourless.memory[0, 1]  # cow is place 2 here, and place 1 there
    first_state.hidden = colourless.hidden
    states = {"row of cow": row, "first state": first_state}
    return {what: " ".join(write(model, sentences, state)[0]) for what, state in states.items()}


def measure(seed: int) -> dict[str, object]:
    """Train one translator and look at it."""
    sentences = short_sentences()
    torch.manual_seed(seed)
    model = AttentionSeq2Seq(*sentences.sizes, d_model=32, hidden_size=64)
    train_translator(model, sentences, seed=seed)
    right = [pair for pair in sentences.new if translates_rightly(model, sentences, pair)]
    written, weights = translate(model, sentences, SENTENCE)
    own = {word: [] for word in FIRST_WORDS}
    for english, _ in right:
        if (first := english.split()[0]) in own:
            own[first].append(translate(model, sentences, english)[1][0, 0].item())
    return {
        "share_right": round(len(right) / len(sentences.new), 4),
        "written": " ".join(written),
        "weights": [[round(weight, 4) for weight in row] for row in weights.tolist()],
        "hidden": {word: " ".join(translate(model, sentences, SENTENCE, word)[0]) for word in HIDDEN},
        "exchanged": exchanged(model, sentences),
        "own_weight": {word: round(sum(values) / len(values), 4) for word, values in own.items() if values},
    }


def main() -> None:
    torch.set_num_threads(1)  # models this small gain nothing from a second one
    numbers = []
    for seed in SEEDS:
        numbers.append(measure(seed))
        print(seed, {name: value for name, value in numbers[-1].items() if name != "weights"}, flush=True)
    settings = {"sentence": SENTENCE, "hidden": HIDDEN, "d_model": 32, "hidden_size": 64, "steps": 400}
    write_record(NAME, seeds=SEEDS, settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
