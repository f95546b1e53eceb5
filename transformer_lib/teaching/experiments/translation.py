"""Chapter 14's experiments: three kinds of translator on equal terms, one change at a time, one head less."""

import functools
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_lib.alignment import AttentionSeq2Seq
from transformer_lib.attention import MultiHeadAttention
from transformer_lib.decoding import CachedTransformer
from transformer_lib.encoder import TransformerConfig
from transformer_lib.schedule import NoamSchedule, noam_rate, transformer_optimizer
from transformer_lib.seq2seq import Seq2Seq
from transformer_lib.teaching import record
from transformer_lib.teaching.corpora.english_french import ParallelCorpus, grammar_corpus
from transformer_lib.training import Checkpoint, History, evaluate, token_batches, train, training_step
from transformer_lib.translation import BytePairTokenizer, Translator, corpus_bleu, encode_pairs, exact_match

SETTINGS: dict[str, Any] = {
    "training_pairs": 12_000,
    "test_pairs": 500,
    "corpus_seed": 0,
    "vocabulary": 800,
    "d_model": 96,
    "dropout": 0.1,
    "max_tokens": 1500,
    "steps": 1000,
    "warmup": 200,
    "smoothing": 0.1,
    "clip": 1.0,
}
SETS = ("held_out", "longer", "unseen")
KINDS = ("GRU", "GRU with attention", "Transformer")
# The width of each recurrent model's state, with one matrix for all words (True) and with three: what makes all equally large.
HIDDEN = {
    ("GRU", True): 214,
    ("GRU", False): 195,
    ("GRU with attention", True): 164,
    ("GRU with attention", False): 136,
}
# What the schedule's rate is multiplied by: of RATES_TRIED the one with the lowest loss on the held-out set.
RATES_TRIED = (0.125, 0.25, 0.5, 1.0, 2.0)
RATES = {"GRU": 0.5, "GRU with attention": 1.0, "Transformer": 0.25}


def transformer_config(vocab: int, **changes: Any) -> TransformerConfig:
    """Return the sizes of this chapter's Transformer, with `changes`."""
    sizes = {"num_layers": 2, "num_heads": 4, "d_ff": 256, "max_len": 64, "shared_vocabulary": True}
    sizes |= {"d_model": SETTINGS["d_model"], "dropout": SETTINGS["dropout"]}
    return TransformerConfig(source_vocab_size=vocab, target_vocab_size=vocab, **sizes | changes)


class WordVectors(nn.Embedding):
    """What the Transformer's embedding does, for a recurrent model: small numbers, times √d_model, then dropout."""

    def __init__(self, vocab: int, d_model: int, dropout: float) -> None:
        super().__init__(vocab, d_model)
        nn.init.normal_(self.weight, std=d_model**-0.5)
        self.dropout = dropout

    def forward(self, tokens: Tensor) -> Tensor:
        vectors = super().forward(tokens) * math.sqrt(self.embedding_dim)  # (batch, seq, d_model)
        return F.dropout(vectors, self.dropout, self.training)


def recurrent_model(kind: str, vocab: int, shared: bool, dropout: float) -> nn.Module:
    """Return the recurrent model `kind`, with dropout around its body, and with one matrix for all words where `shared`."""
    d_model = SETTINGS["d_model"]
    model = {"GRU": Seq2Seq, "GRU with attention": AttentionSeq2Seq}[kind](vocab, vocab, d_model, HIDDEN[kind, shared])
    model.encoder.embedding = WordVectors(vocab, d_model, dropout)
    model.decoder.embedding = model.encoder.embedding if shared else WordVectors(vocab, d_model, dropout)
    if shared:
        scores = nn.Linear(d_model, vocab, bias=False)
        scores.weight = model.encoder.embedding.weight
        narrower = nn.Linear(model.decoder.output.in_features, d_model)  # the state is wider than the word vectors
        model.decoder.output = nn.Sequential(narrower, nn.Dropout(dropout), scores)
    else:
        model.decoder.output = nn.Sequential(nn.Dropout(dropout), model.decoder.output)
    model.decoder.output.out_features = vocab  # the models check their tokens against it
    return model


def make_model(
    kind: str, vocab: int, shared: bool = True, dropout: float = SETTINGS["dropout"], max_len: int = 64
) -> nn.Module:
    """Return an untrained model of `KINDS`; with `shared` its source words, target words and output are one matrix."""
    if kind == "Transformer":
        return CachedTransformer(transformer_config(vocab, shared_vocabulary=shared, dropout=dropout, max_len=max_len))
    return recurrent_model(kind, vocab, shared, dropout)


def narrow_keys(model: CachedTransformer, d_k: int) -> CachedTransformer:
    """Give the queries and keys of each head width `d_k`; the values keep theirs (the paper's table 3, rows B)."""
    for attention in model.modules():
        if isinstance(attention, MultiHeadAttention):
            for name in ("W_q", "W_k"):
                projection = nn.Linear(attention.d_model, attention.num_heads * d_k)
                nn.init.xavier_uniform_(projection.weight)
                setattr(attention, name, projection)
    return model


def parameters(model: nn.Module) -> int:
    """Return how many numbers `model` learns; a matrix that is used twice counts once."""
    return sum(parameter.numel() for parameter in model.parameters())


@functools.cache
def corpus_and_tokenizer() -> tuple[ParallelCorpus, BytePairTokenizer]:
    """Return the corpus of all runs, and the tokenizer that was trained on its training set alone."""
    corpus = grammar_corpus(SETTINGS["training_pairs"], SETTINGS["corpus_seed"], SETTINGS["test_pairs"])
    texts = [text for pair in corpus.train for text in pair]
    return corpus, BytePairTokenizer.train(texts, SETTINGS["vocabulary"])


def train_translator(
    model: nn.Module,
    *,
    seed: int,
    rate: float = RATES["Transformer"],
    steps: int = SETTINGS["steps"],
    warmup: bool = True,
    smoothing: float = SETTINGS["smoothing"],
    checkpoint: Checkpoint | None = None,
) -> tuple[Translator, History]:
    """Train `model` on the chapter's sentences; `seed` fixes its dropout and the order of the batches.

    Without `warmup` the schedule starts at its peak, and falls as it would have fallen.
    """
    corpus, tokenizer = corpus_and_tokenizer()
    torch.manual_seed(seed)
    pairs = encode_pairs(tokenizer, corpus.train)
    optimizer = transformer_optimizer(model, rate)
    if warmup:
        schedule = NoamSchedule(optimizer, SETTINGS["d_model"], SETTINGS["warmup"])
    else:
        start = SETTINGS["warmup"]
        falling = lambda done: noam_rate(start + done, SETTINGS["d_model"], start)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, falling)
    history = train(
        model,
        lambda epoch: token_batches(pairs, SETTINGS["max_tokens"], seed=1000 * seed + epoch),
        steps=steps,
        optimizer=optimizer,
        schedule=schedule,
        step=functools.partial(training_step, smoothing=smoothing, max_grad_norm=SETTINGS["clip"]),
        checkpoint=checkpoint,
    )
    return Translator(model, tokenizer, sentences=[english for english, _ in corpus.train]), history


@contextmanager
def without_head(attention: MultiHeadAttention, head: int) -> Iterator[None]:
    """Let `attention` do without one head for a while: the columns of its output projection that read that head are 0."""
    width = attention.d_model // attention.num_heads
    columns = attention.W_o.weight.detach()[:, head * width : (head + 1) * width]  # (d_model, d_k)
    kept = columns.clone()
    columns.zero_()
    try:
        yield
    finally:
        columns.copy_(kept)


def measure(translator: Translator, pairs: tuple[tuple[str, str], ...], beam: int = 1, alpha: float = 0.6) -> dict[str, Any]:
    """Return BLEU, its signature, exact match, loss in nats per token, and by length [how many sentences, how many right]."""
    sources, references = (list(side) for side in zip(*pairs, strict=True))
    translations = translator.translate(sources, beam_size=beam, alpha=alpha)
    bleu = corpus_bleu(translations, references)
    all_of, right = Counter(), Counter()
    for source, translation, reference in zip(sources, translations, references, strict=True):
        all_of[len(source.split())] += 1
        right[len(source.split())] += translation == reference
    batches = token_batches(encode_pairs(translator.tokenizer, pairs), SETTINGS["max_tokens"], seed=0)
    return {
        "bleu": bleu.score,
        "signature": bleu.signature,
        "exact_match": exact_match(translations, references),
        "loss": evaluate(translator.model, batches),
        "by_length": {str(length): [all_of[length], right[length]] for length in sorted(all_of)},
    }


# What the page asks


def dictionary(pairs: Sequence[tuple[str, str]]) -> Callable[[str], str]:
    """Return what translates word by word, each word by the one whose pairs are most nearly the same (Dice's number)."""
    # l'homme is the two words l' and homme.
    sides = [(set(english.split()), set(french.replace("'", "' ").split())) for english, french in pairs]
    holds_english = Counter(word for english, _ in sides for word in english)
    holds_french = Counter(word for _, french in sides for word in french)
    holds_both = Counter((e, f) for english, french in sides for e in english for f in french)
    dice = {
        (e, f): 2 * both / (holds_english[e] + holds_french[f]) for (e, f), both in sorted(holds_both.items(), reverse=True)
    }
    best = dict(sorted(dice, key=dice.get))  # the last that is written for a word stays: the best one
    return lambda text: " ".join(best[word] for word in text.split()).replace("' ", "'")


def compare_tokenizer(tokenizer: BytePairTokenizer, corpus: ParallelCorpus, merged: Callable) -> None:
    """Check that texts come back, and each of the first 100 merges against all counts; print a line each."""
    texts = [text for name in SETS for pair in getattr(corpus, name) for text in pair]
    assert [tokenizer.decode(tokenizer.encode(text)) for text in texts] == texts
    print(f"{len(texts) // 2:,} test pairs, both languages, come back as they were")
    cut = tokenizer.backend.pre_tokenizer.pre_tokenize_str
    counts = Counter(word for pair in corpus.train for text in pair for word, _ in cut(text))
    in_pieces = {word: list(word) for word in counts}
    for pair in map(tuple, json.loads(tokenizer.backend.to_str())["model"]["merges"][:100]):
        frequent: Counter = Counter()
        for word, pieces in in_pieces.items():
            for neighbours in pairwise(pieces):
                frequent[neighbours] += counts[word]
        assert frequent[pair] == max(frequent.values())
        in_pieces = {word: merged(pieces, pair) for word, pieces in in_pieces.items()}
    print("each of the library's first 100 merges joins a most frequent pair")


def show_errors(translator: Translator, pairs: Sequence[tuple[str, str]], count: int) -> None:
    """Print the first wrong translations, three lines each."""
    translations = translator.translate([english for english, _ in pairs])
    wrong = [(*pair, wrote) for pair, wrote in zip(pairs, translations, strict=True) if wrote != pair[1]]
    for english, french, wrote in wrong[:count]:
        print(f"{english}\n    right: {french}\n    wrote: {wrote}")


def four_translators() -> dict[str, list[dict[str, Any]]]:
    """Return the recorded runs of the three kinds and of the Transformer with rotary positions, three seeds each."""
    runs = dict(record("translation")["numbers"]["one matrix"])
    return runs | {"Transformer, rotary": record("after_positions")["numbers"]["rotary"]}


def compare_translators() -> None:
    """Print the share that each of the four translators gets right: means of three recorded seeds."""
    print(f"{'share right, mean of three seeds':34}{'held out':>10}{'unseen':>9}{'longer':>9}")
    for name, runs in four_translators().items():
        shares = [sum(run[which]["exact_match"] for run in runs) / 3 for which in ("held_out", "unseen", "longer")]
        print(f"{name:34}{shares[0]:10.2f}{shares[1]:9.2f}{shares[2]:9.2f}")


def step_ratios() -> None:
    """Print the recorded time of a training step as a multiple of the Transformer's, measured side by side."""
    found = record("translation_time")
    lengths, seconds = found["settings"]["lengths"], found["numbers"]["seconds"]
    print("times the Transformer's".ljust(24) + "".join(f"{f'{length} tokens':>12}" for length in lengths[::2]))
    for name, times in seconds.items():
        ratios = [mine / its for mine, its in zip(times, seconds["Transformer"], strict=True)]
        print(f"{name:24}" + "".join(f"{ratio:12.1f}" for ratio in ratios[::2]))


# What the page that goes deeper asks


def apart(corpus: ParallelCorpus) -> None:
    """Check that no sentence is in two sets and that training has each English word; print the sizes of the sets."""
    sets = {name: getattr(corpus, name) for name in ("train", *SETS)}
    sentences = [english for pairs in sets.values() for english, _ in pairs]
    assert len(sentences) == len(set(sentences))
    known = {word for english, _ in corpus.train for word in english.split()}
    for name, pairs in sets.items():
        words = [len(text.split()) for pair in pairs for text in pair]
        mean = sum(len(english.split()) for english, _ in pairs) / len(pairs)
        print(f"{name:10}{len(pairs):6,} pairs, {min(words):2} to {max(words)} words, {mean:.1f} English words on average")
        assert all(set(english.split()) <= known for english, _ in pairs)
    print("no sentence is in two sets, and train has each English word")


def first_merges(counts: dict[str, int]) -> None:
    """Print which pair of characters three rules join first, in words that occur so often."""
    single: Counter = Counter()
    pairs: Counter = Counter()
    for word, count in counts.items():
        pieces = ["▁", *word]
        single.update(pieces * count)
        pairs.update([*pairwise(pieces)] * count)

    def log_likelihood(pieces: Counter) -> float:
        return sum(n * math.log(n / pieces.total()) for n in pieces.values())

    def gain(pair: tuple[str, str]) -> float:
        joined = single - Counter({piece: pairs[pair] for piece in pair}) + Counter({"".join(pair): pairs[pair]})
        return log_likelihood(joined) - log_likelihood(single)

    def ratio(pair: tuple[str, str]) -> float:
        return pairs[pair] / (single[pair[0]] * single[pair[1]])

    for name, rule, digits in [("count", pairs.get, 0), ("gain in log-likelihood", gain, 1), ("ratio", ratio, 3)]:
        best = max(pairs, key=rule)
        print(f"{name:24}{' + '.join(best)}   {rule(best):.{digits}f}")


def _shares(runs: Sequence[dict]) -> str:
    return "    ".join(" ".join(f"{run[which]['exact_match']:.3f}" for run in runs) for which in SETS)


def nine_runs() -> None:
    """Print the record behind the comparison: the rates that were tried, and each run, with one matrix and with three."""
    numbers = record("translation")["numbers"]
    print("held-out loss per token, by factor of the rate")
    for kind, losses in numbers["held-out loss by rate"].items():
        print(f"{kind:20}" + "".join(f"   {rate}: {loss:.4f}" for rate, loss in losses.items()))
        assert min(losses, key=losses.get) == str(RATES[kind])
    for matrices in ("one matrix", "three matrices"):
        print(f"\n{f'exact match, three seeds, {matrices}':40}{'held out':>10}{'longer':>21}{'unseen':>21}")
        for kind, runs in numbers[matrices].items():
            print(f"{kind:31}{_shares(runs)}")


def variants() -> None:
    """Print the record of the changes: one thing at a time on the Transformer, three seeds."""
    changes = record("translation_changes")["numbers"]
    print(f"{'exact match, three seeds':26}{'held out':>18}{'longer':>20}{'unseen':>21}")
    for name, rows in changes.items():
        print(f"{name.removesuffix(' checkpoints'):28}{_shares(rows)}")
        assert max(row["longer"]["exact_match"] for row in rows) < 0.4
