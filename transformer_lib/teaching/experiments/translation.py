"""Chapter 14's three translators: their sizes, how they are trained, and what is measured of them."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from transformer_lib.alignment import AttentionSeq2Seq
from transformer_lib.decoding import CachedTransformer
from transformer_lib.schedule import TransformerSchedule, transformer_optimizer
from transformer_lib.seq2seq import Seq2Seq
from transformer_lib.teaching.corpora.english_french import grammar_corpus
from transformer_lib.training import History, token_batches, train
from transformer_lib.transformer import TransformerConfig
from transformer_lib.translation import (
    BytePairTokenizer,
    ParallelCorpus,
    Translator,
    corpus_bleu,
    encode_pairs,
    exact_match,
)

SETTINGS: dict[str, Any] = {
    "training_pairs": 12_000,
    "test_pairs": 500,
    "corpus_seed": 0,
    "vocabulary": 800,
    "d_model": 96,
    "max_tokens": 1500,
    "steps": 1000,
    "warmup": 200,
    "smoothing": 0.1,
    "clip": 1.0,
}
SETS = ("held_out", "longer", "unseen")


def transformer_config(vocab: int) -> TransformerConfig:
    """Return the sizes of this chapter's Transformer; dropout is 0.1, the paper's."""
    sizes = {"d_model": SETTINGS["d_model"], "num_layers": 2, "num_heads": 4, "d_ff": 256, "max_len": 64}
    return TransformerConfig(source_vocab_size=vocab, target_vocab_size=vocab, **sizes, shared_vocabulary=True)


# What the schedule's rate is multiplied by: of two values tried, the better one for this kind of model.
RATES = {"GRU": 1.0, "GRU with attention": 1.0, "Transformer": 0.5}
# name: what makes the model for a vocabulary of so many tokens
MODELS: dict[str, Callable[[int], nn.Module]] = {
    "GRU": lambda vocab: Seq2Seq(vocab, vocab, d_model=SETTINGS["d_model"], hidden_size=150),
    "GRU with attention": lambda vocab: AttentionSeq2Seq(vocab, vocab, d_model=SETTINGS["d_model"], hidden_size=104),
    "Transformer": lambda vocab: CachedTransformer(transformer_config(vocab)),
}


def parameters(model: nn.Module) -> int:
    """Return how many numbers `model` learns; a matrix that is used twice counts once."""
    return sum(parameter.numel() for parameter in model.parameters())


def corpus_and_tokenizer() -> tuple[ParallelCorpus, BytePairTokenizer]:
    """Return the corpus of all runs, and the tokenizer that was trained on its training set alone."""
    corpus = grammar_corpus(SETTINGS["training_pairs"], SETTINGS["corpus_seed"], SETTINGS["test_pairs"])
    texts = [text for pair in corpus.train for text in pair]
    return corpus, BytePairTokenizer.train(texts, SETTINGS["vocabulary"])


def train_translator(
    name: str, corpus: ParallelCorpus, tokenizer: BytePairTokenizer, *, seed: int, steps: int | None = None
) -> tuple[Translator, History]:
    """Train the model `name` of `MODELS` on `corpus.train` and return it as a translator, with the history of its training.

    `seed` fixes the weights it starts from, its dropout and the order of the batches. All models see the same batches.
    """
    torch.manual_seed(seed)
    model = MODELS[name](len(tokenizer))
    history = train_model(
        model, corpus, tokenizer, rate=RATES[name], seed=seed, steps=steps, description=f"{name}, seed {seed}"
    )
    return Translator(model, tokenizer), history


def train_model(
    model: nn.Module,
    corpus: ParallelCorpus,
    tokenizer: BytePairTokenizer,
    *,
    rate: float,
    seed: int,
    steps: int | None = None,
    smoothing: float = SETTINGS["smoothing"],
    description: str = "training",
) -> History:
    """Train `model` on `corpus.train` with the settings of all runs, and return the history of its training."""
    pairs = encode_pairs(tokenizer, corpus.train)
    optimizer = transformer_optimizer(model, rate)
    return train(
        model,
        lambda epoch: token_batches(pairs, SETTINGS["max_tokens"], seed=1000 * seed + epoch),
        steps=steps or SETTINGS["steps"],
        optimizer=optimizer,
        schedule=TransformerSchedule(optimizer, SETTINGS["d_model"], warmup=SETTINGS["warmup"]),
        smoothing=smoothing,
        max_grad_norm=SETTINGS["clip"],
        description=description,
    )


def measure(translator: Translator, pairs: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """Return BLEU, its signature, and the exact match: of all `pairs`, and by the length of the source in words.

    The sentences are decoded freely. `by_length` maps a length to how many sentences have it, and how many are right.
    """
    sources, references = (list(side) for side in zip(*pairs, strict=True))
    translations = translator.translate(sources)
    bleu = corpus_bleu(translations, references)
    by_length: dict[str, list[int]] = {}
    for source, translation, reference in zip(sources, translations, references, strict=True):
        counts = by_length.setdefault(str(len(source.split())), [0, 0])
        counts[0] += 1
        counts[1] += translation == reference
    return {
        "bleu": bleu.score,
        "signature": bleu.signature,
        "exact_match": exact_match(translations, references),
        "by_length": {length: by_length[length] for length in sorted(by_length, key=int)},
    }
