"""Chapter 14: the training of its translator, stopped again and again: loss, what it writes, and where it looks."""

import tempfile
from pathlib import Path
from typing import Any

import torch

from benchmarks.records import write_record
from transformer_lib.seq2seq import EOS_ID, SOS_ID
from transformer_lib.teaching.experiments.interpretation import plain_transformer
from transformer_lib.teaching.experiments.translation import (
    RATES,
    SETTINGS,
    corpus_and_tokenizer,
    make_model,
    train_translator,
)
from transformer_lib.teaching.figures.capture_attention import capture_attention
from transformer_lib.training import Checkpoint
from transformer_lib.translation import Translator, exact_match

NAME = "translation_progress"
SEED, EVERY, HELD_OUT = 0, 25, 100
SENTENCES = {
    "the white cow is tired": "la vache blanche est fatiguée",
    "she does not have a red car": "elle n'a pas de voiture rouge",
    "I do not love her": "je ne l'aime pas",
    "these women have not gone out": "ces femmes ne sont pas sorties",
}
LOOKED_INTO = next(iter(SENTENCES))


def look(translator: Translator, held_out: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """Return what the translator can do: what it writes, how many it gets right, and one sentence's map and chances.

    `weights` are those of the last layer's cross-attention, the mean of its heads: a row for each token of the right
    translation, which is given. `chances` are the probabilities of these tokens.
    """
    sources, references = map(list, zip(*held_out, strict=True))
    source = translator.read(LOOKED_INTO)
    written = [*translator.tokenizer.encode(SENTENCES[LOOKED_INTO]), EOS_ID]
    model = plain_transformer(translator)
    with capture_attention(model) as kept, torch.no_grad():
        logits = model(torch.tensor([source]), torch.tensor([[SOS_ID, *written[:-1]]]))[0]  # (written, vocab)
    last = kept[max(name for name in kept if "cross" in name)][0]  # (heads, written, source)
    chances = logits.softmax(dim=-1)[range(len(written)), written]
    return {
        "right": round(HELD_OUT * exact_match(translator.translate(sources), references)),
        "written": translator.translate(list(SENTENCES)),
        "weights": [[round(weight, 2) for weight in row] for row in last.mean(dim=0).tolist()],
        "chances": [round(chance, 3) for chance in chances.tolist()],
    }


def main() -> None:
    torch.set_num_threads(1)
    corpus, tokenizer = corpus_and_tokenizer()
    known = {english for english, _ in corpus.train}
    assert not known & set(SENTENCES)
    held_out = corpus.held_out[:HELD_OUT]
    torch.manual_seed(SEED)
    model = make_model("Transformer", len(tokenizer))
    stops = [{"step": 0, **look(Translator(model.eval(), tokenizer), held_out)}]
    with tempfile.TemporaryDirectory() as folder:
        for step in range(EVERY, SETTINGS["steps"] + 1, EVERY):
            run = Checkpoint(Path(folder) / "run.pt", every=SETTINGS["steps"], resume=True)
            translator, history = train_translator(model, seed=SEED, steps=step, checkpoint=run)
            loss = round(sum(history.losses[-EVERY:]) / EVERY, 4)
            stops.append({"step": step, "loss": loss, **look(translator, held_out)})
            print(step, loss, stops[-1]["right"], stops[-1]["chances"], stops[-1]["written"], flush=True)
    stops[0]["loss"] = round(history.losses[0], 4)
    tokens = [tokenizer.tokens(text) for text in (LOOKED_INTO, SENTENCES[LOOKED_INTO])]
    settings = {**SETTINGS, "rate": RATES["Transformer"], "every": EVERY, "held_out": HELD_OUT, "threads": 1}
    numbers = {"sentences": SENTENCES, "source": tokens[0], "target": [*tokens[1], "<eos>"], "stops": stops}
    write_record(NAME, seeds=[SEED], settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
