"""The table's second half: text, batches, training, searches, processes and translators."""

import copy
import itertools
import math
import os
import re
import tempfile
import unicodedata
import zlib
from collections import Counter
from functools import cache
from pathlib import Path

import sacrebleu
import torch
from hypothesis import strategies as st
from torch import Tensor, nn

from tools.fuzz import naive
from tools.fuzz.calls import case
from tools.fuzz.layers import few, flags, given, many, seeds, words
from transformer_lib import decoding, encoder, scaling, seq2seq, text, training, transformer, translation

texts = st.sampled_from(
    ["I am.", "Un chat noir", "한국어 좋다", "don't <br>Stop", "e\u0301té, ça va?", "नमस्ते दुनिया", "123 !?", "<eos> x"]
) | st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)
some_words = st.lists(st.sampled_from(["a", "b", "cat", "été", "한국", "x'y", "naïve"]), min_size=1, max_size=12)
numbers = st.lists(st.integers(1, 9), min_size=1, max_size=5)


# Chapter 3


def _normal(value: str) -> str:
    """Return letters, accents and apostrophes, and one space for all else."""
    value = re.sub(r"(?i)<br\s*/?>", " ", value).replace("’", "'")
    value = unicodedata.normalize("NFC", value.lower())
    kept = "".join(c if c == "'" or unicodedata.category(c).startswith(("L", "M")) else " " for c in value)
    return re.sub(r"\s+", " ", kept).strip()


@case("normalise", text=texts)
def _(text):
    from transformer_lib.text import normalise

    yield normalise(text)
    text.encode()  # whole characters alone
    yield _normal(text)


@case("tokenize", text=texts, max_tokens=st.none() | many)
def _(text, max_tokens):
    from transformer_lib.text import tokenize

    yield tokenize(text, max_tokens)
    found = [word.strip("'") for word in _normal(text).split(" ")]
    yield list(filter(None, found))[: None if max_tokens is None else range(max_tokens).stop]


@case(
    "Vocabulary", "Vocabulary.encode", "Vocabulary.decode", tokens=some_words, max_size=many, oov_buckets=few, others=some_words
)
def _(tokens, max_size, oov_buckets, others):
    vocabulary = text.Vocabulary(tokens, max_size, oov_buckets)
    encoded = vocabulary.encode(others)
    yield encoded, vocabulary.decode(encoded), len(vocabulary)
    first = {word: place for place, word in reversed(list(enumerate(tokens)))}
    known = sorted(Counter(tokens), key=lambda word: (-tokens.count(word), first[word]))[:max_size]
    ids = [
        1 + known.index(word) if word in known else 1 + len(known) + zlib.crc32(word.encode()) % oov_buckets for word in others
    ]
    named = [word if word in known else f"<oov {i - 1 - len(known)}>" for word, i in zip(others, ids)]
    yield ids, named, 1 + len(known) + range(oov_buckets).stop


@case("Vocabulary.decode", ids=st.lists(st.integers(0, 5), max_size=4))
def _(ids):
    yield text.Vocabulary(["a", "b", "c"], 3, 2).decode(ids)
    yield [["<pad>", "a", "b", "c", "<oov 0>", "<oov 1>"][range(6)[i]] if i >= 0 else 1 / 0 for i in ids]


@case("Vocabulary.save", "Vocabulary.load", tokens=some_words)
def _(tokens):
    vocabulary = text.Vocabulary(tokens)
    with tempfile.TemporaryDirectory() as folder:
        vocabulary.save(Path(folder, "words.json"))
        loaded = text.Vocabulary.load(Path(folder, "words.json"))
    yield loaded.words, len(loaded)
    yield vocabulary.words, len(vocabulary)


@case(
    "pad_batch",
    sequences=st.lists(st.lists(st.integers(0, 9), max_size=4), min_size=1, max_size=4),
    length=st.none() | st.integers(4, 6),
)
def _(sequences, length):
    yield text.pad_batch(sequences, length)
    width = max([1, *map(len, sequences)]) if length is None else range(length).stop
    rows = [[range(2**63)[i] if i >= 0 else i for i in ids] + [0] * (width - len(ids)) for ids in sequences]
    yield torch.tensor([row[:width] if len(row) == width else 1 / 0 for row in rows])


@given
def _labelled(draw):
    sequences = draw(st.lists(st.lists(st.integers(1, 9), max_size=4), min_size=1, max_size=7))
    labels = [draw(st.integers(0, 1)) for _ in sequences]
    generator = draw(st.sampled_from([None, torch.Generator().manual_seed(3)]))
    return {"sequences": sequences, "labels": labels, "batch_size": draw(few), "generator": generator}


@case("bucket_batches", given=_labelled)
def _(sequences, labels, batch_size, generator):
    batches = text.bucket_batches(sequences, labels, batch_size, generator)
    seen = sorted(([i for i in row if i], label) for ids, of in batches for row, label in zip(ids.tolist(), of.tolist()))
    yield seen, sorted(len(ids) for ids, _ in batches)
    full, rest = divmod(len(sequences), range(batch_size).stop)
    right = sorted(([i for i in ids if i], float(label)) for ids, label in zip(sequences, labels, strict=True))
    yield right, sorted([batch_size] * full + [rest] * (rest > 0))


@case("Review", text=texts, label=st.integers(0, 1))
def _(text, label):
    from transformer_lib.text import Review

    yield tuple(Review(text, label))
    yield text, label


# Chapter 12


@given
def _pairs(draw):
    sentences = st.tuples(numbers, numbers.map(lambda ids: [*ids, 2]))
    return {"pairs": draw(st.lists(sentences, min_size=1, max_size=6))}


def _rows(ids: Tensor) -> list[list[int]]:
    return [[i for i in row if i != 0] for row in ids.tolist()]


@case("shift_right", given=given(lambda draw: {"target": words(draw, draw(few), draw(many), 6), "sos_id": draw(few)}))
def _(target, sos_id):
    yield training.shift_right(target, sos_id)
    yield torch.tensor([[range(2**31)[sos_id] if sos_id >= 0 else sos_id, *row[:-1]] for row in target.tolist()])


@case("Batch.from_pairs", "Batch.num_tokens", given=_pairs)
def _(pairs):
    batch = training.Batch.from_pairs(pairs)
    yield _rows(batch.source), _rows(batch.target_out), [row[0] for row in batch.target_in.tolist()], batch.num_tokens
    sides = [[[range(2**63)[i] for i in ids] for ids in side] for side in zip(*pairs, strict=True)]
    yield sides[0], sides[1], [1] * len(pairs), sum(len(target) for _, target in pairs)


@case(
    *("Batch", "Batch.split", "Batch.to"),
    given=given(
        lambda draw: {
            "source": words(draw, (batch := draw(few)), draw(few), 6),
            "target_in": words(draw, batch, (seq := draw(few)), 6),
            "target_out": words(draw, batch, seq, 6),
            "parts": draw(few),
        }
    ),
)
def _(source, target_in, target_out, parts):
    batch = training.Batch(source, target_in, target_out)
    pieces = batch.split(parts)
    yield [torch.cat([getattr(piece.to("cpu"), name) for piece in pieces]) for name in ("source", "target_in", "target_out")]
    assert 1 <= len(pieces) <= range(parts).stop
    yield [source.to("cpu"), target_in, target_out]


@case(
    "token_batches",
    given=_pairs.flatmap(
        lambda given: st.fixed_dictionaries(
            {"pairs": st.just(given["pairs"]), "max_tokens": st.integers(6, 30), "seed": st.none() | seeds}
        )
    ),
)
def _(pairs, max_tokens, seed):
    batches = training.token_batches(pairs, max_tokens, seed)
    fit = all(max(batch.source.numel(), batch.target_out.numel()) <= max_tokens for batch in batches)
    yield sorted((s, t) for batch in batches for s, t in zip(_rows(batch.source), _rows(batch.target_out))), fit
    range(max_tokens)
    yield sorted(([range(2**63)[i] for i in s], list(t)) for s, t in pairs), True


class Chain(nn.Module):
    """A model that scores the next token by the last one alone, with a table: `(vocab, vocab)`."""

    max_len = math.inf

    def __init__(self, scores: Tensor) -> None:
        super().__init__()
        self.scores = nn.Parameter(scores)

    def forward(self, source: Tensor, target_in: Tensor) -> Tensor:
        return self.scores[target_in]

    def start(self, source: Tensor) -> "Chain.State":
        return Chain.State()

    def decode(self, tokens: Tensor, state: "Chain.State") -> Tensor:
        return self.scores[tokens]

    class State:
        def reorder(self, rows: Tensor) -> None:
            pass


def chain(seed: int, vocab: int = 5) -> Chain:
    return Chain(torch.randn(vocab, vocab, generator=torch.Generator().manual_seed(seed)).double())


def _batch(draw, vocab: int = 5):
    batch, seq = draw(few), draw(few)
    return training.Batch(*(words(draw, batch, seq, vocab) for _ in range(3)))


def _chain_loss(model: Chain, batch: training.Batch, smoothing: float) -> Tensor:
    return naive.smoothed_loss(model.scores.detach()[batch.target_in], batch.target_out, smoothing, 0, "mean")


@given
def _step(draw):
    return {
        "kind": draw(seeds),
        "batch": _batch(draw),
        "smoothing": draw(st.sampled_from([0.0, 0.1, 0.5])),
        "accumulation_steps": draw(few),
        "max_grad_norm": draw(st.sampled_from([None, 0.01, 1.0, 3])),
    }


def _after_step(model: Chain, batch: training.Batch, smoothing: float, max_grad_norm: float | None) -> Tensor:
    """Return the scores after one step of SGD with rate 1, by differences of the loss."""
    scores = model.scores.detach().clone().requires_grad_()
    logs = scores - scores.logsumexp(dim=-1, keepdim=True)
    total, count = 0.0, 0
    for last, right in zip(batch.target_in.flatten().tolist(), batch.target_out.flatten().tolist()):
        if right != 0:
            total, count = total - (1 - smoothing) * logs[last, right] - smoothing * logs[last].mean(), count + 1
    (gradient,) = torch.autograd.grad(total / count, [scores])
    norm = gradient.norm().item()
    if max_grad_norm is not None and norm > max_grad_norm:
        gradient = gradient * (max_grad_norm / norm)
    return scores.detach() - gradient


@case("training_step", "update_parameters", given=_step)
def _(kind, batch, smoothing, accumulation_steps, max_grad_norm):
    model = chain(kind)
    loss = training.training_step(
        model,
        batch,
        torch.optim.SGD(model.parameters(), lr=1.0),
        smoothing=smoothing,
        accumulation_steps=accumulation_steps,
        max_grad_norm=max_grad_norm,
    )
    yield loss, model.scores.detach()
    before = chain(kind)
    range(accumulation_steps)
    yield _chain_loss(before, batch, smoothing).item(), _after_step(before, batch, smoothing, max_grad_norm)


@case("DistributedStep", "wrap_model", "ProcessGroup", "ProcessGroup.sum", "ProcessGroup.barrier", given=_step)
def _(kind, batch, smoothing, accumulation_steps, max_grad_norm):
    model, group = chain(kind).float(), scaling.ProcessGroup()
    step = scaling.DistributedStep(
        scaling.wrap_model(model, group),
        group,
        smoothing=smoothing,
        accumulation_steps=accumulation_steps,
        max_grad_norm=max_grad_norm,
    )
    group.barrier()
    loss = step(model, batch, torch.optim.SGD(model.parameters(), lr=1.0))
    yield group.sum(loss, torch.device("cpu")), model.scores.detach()
    before = chain(kind)
    range(accumulation_steps)
    yield _chain_loss(before, batch, smoothing).item(), _after_step(before, batch, smoothing, max_grad_norm)


@case("ProcessGroup.init", "ProcessGroup.destroy", rank=st.just(0))
def _(rank):
    if "WORLD_SIZE" in os.environ:
        raise RuntimeError("not in a process of its own")
    group = scaling.ProcessGroup.init(torch.device("cpu"))
    group.destroy()
    yield group.rank, group.world_size
    yield 0, 1


@case("update_parameters", loss=st.floats(-5, 5), max_grad_norm=st.sampled_from([None, 0.5, 1, 2.0]), gradient=st.floats(-4, 4))
def _(loss, max_grad_norm, gradient):
    gradient = gradient if isinstance(gradient, float) and math.isfinite(gradient) else 0.0  # no argument of the library's
    model = nn.Linear(1, 1, bias=False)
    model.weight.data.fill_(0.0)
    model.weight.grad = torch.full((1, 1), gradient)
    try:
        training.update_parameters(model, torch.optim.SGD(model.parameters(), lr=1.0), loss, max_grad_norm)
        yield model.weight.item()
    except FloatingPointError as error:
        yield str(error)
    if not math.isfinite(loss):
        yield f"the loss is {loss}"
    limit = math.inf if max_grad_norm is None else max_grad_norm
    yield -math.copysign(min(abs(gradient), limit), gradient)


@case("evaluate", given=given(lambda draw: {"kind": draw(seeds), "batches": [_batch(draw) for _ in range(draw(few))]}))
def _(kind, batches):
    model = chain(kind)
    yield training.evaluate(model, batches)
    total = sum(_chain_loss(model, batch, 0.0).item() * batch.num_tokens for batch in batches)
    yield total / sum(batch.num_tokens for batch in batches)


@case(
    *("train", "Validation", "History", "Checkpoint", "Checkpoint.save", "Checkpoint.load"),
    *("save_checkpoint", "load_checkpoint", "average_checkpoints"),
    given=given(
        lambda draw: {
            "kind": draw(seeds),
            "batches": [_batch(draw) for _ in range(draw(few))],
            "steps": draw(many),
            "every": draw(few),
        }
    ),
)
def _(kind, batches, steps, every):
    """A run that stops after each step and goes on from its file; the mean of a checkpoint with itself."""
    model = chain(kind)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "last.pt")
        for done in range(1, steps + 1) if isinstance(steps, int) and 0 < steps < 9 else [steps]:
            model = chain(kind)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
            history = training.train(
                model,
                batches,
                steps=done,
                optimizer=optimizer,
                validation=training.Validation(batches, every),
                checkpoint=training.Checkpoint(path, every, resume=True),
            )
        copied = chain(kind + 1)
        training.average_checkpoints([path, path], copied)
        extra = training.load_checkpoint(path, chain(kind), torch.optim.SGD(copied.parameters(), lr=0.1))
    yield (
        history.losses,
        model.scores.detach(),
        copied.scores.detach(),
        extra["history"]["tokens"],
        history.validation_losses[steps],
    )
    other = chain(kind)
    losses = []
    for number in range(steps):
        batch = batches[number % len(batches)]
        losses.append(_chain_loss(other, batch, 0.1).item())
        gradient = other.scores.detach() - _after_step(other, batch, 0.1, None)
        other.scores.data -= 0.5 * gradient
    tokens = sum(batches[number % len(batches)].num_tokens for number in range(steps))
    measured = sum(_chain_loss(other, batch, 0.0).item() * batch.num_tokens for batch in batches)
    range(every)
    yield losses, other.scores.detach(), other.scores.detach(), tokens, measured / sum(batch.num_tokens for batch in batches)


@case("Validation", "Checkpoint", batches=st.just([1]), every=many)
def _(batches, every):
    yield training.Validation(batches, every).every, training.Checkpoint("a.pt", every).every
    yield range(every).stop, range(every).stop if batches else 1 / 0


# Chapters 1 and 13


@given
def _scores(draw):
    vocab, outer = draw(many), draw(st.sampled_from([(), (2,), (2, 2)]))
    logits = torch.randn(*outer, vocab, generator=torch.Generator().manual_seed(draw(seeds))) * draw(
        st.sampled_from([0.0, 1.0, 50.0])
    )
    temperature, top_p = draw(st.sampled_from([1.0, 0.5, 2, 1e-3])), draw(st.sampled_from([None, 0.5, 0.9, 1.0]))
    return {"logits": logits, "temperature": temperature, "top_k": draw(st.none() | many), "top_p": top_p}


@case("sampling_probabilities", given=_scores)
def _(logits, temperature, top_k, top_p):
    yield decoding.sampling_probabilities(logits, temperature, top_k, top_p)
    rows = []
    for row in logits.double().reshape(-1, logits.size(-1)).tolist():
        heights = [math.exp((score - max(row)) / temperature) for score in row]
        best = sorted(range(len(row)), key=lambda i: (-heights[i], i))[: None if top_k is None else range(top_k).stop]
        total, kept, held = sum(heights[i] for i in best), [], 0.0
        for i in best:
            if top_p is None or top_p == 1 or not kept or held < top_p * total - 1e-7 * total:
                kept.append(i)
                held += heights[i]
        rows.append([heights[i] / held if i in kept else 0.0 for i in range(len(row))])
    yield torch.tensor(rows, dtype=torch.float64).reshape(logits.shape)


@case("length_penalty", length=st.integers(1, 10**6), alpha=st.sampled_from([0, 0.0, 0.6, 1.0, 2.5]))
def _(length, alpha):
    yield decoding.length_penalty(length, alpha)
    yield math.exp(float(alpha) * (math.log(5 + range(length).stop) - math.log(6)))


@given
def _search(draw):
    source = words(draw, draw(few), draw(few), 5)
    return {
        "kind": draw(seeds),
        "source": source,
        "max_len": draw(few),
        "beam_size": draw(many),
        "alpha": draw(st.sampled_from([0, 0.6, 2.0])),
    }


_greedy = _search.map(lambda given: {name: given[name] for name in ("kind", "source", "max_len")})


def _best(model: Chain, count: int, most: int) -> list[list[int]]:
    row, last = [], 1
    for _ in range(most):
        scores = [-math.inf, -math.inf, *model.scores[last, 2:].tolist()]
        last = scores.index(max(scores))
        row.append(last)
        if last == 2:
            break
    return [row] * count


@case("greedy_decode", "generate", "next_logits", given=_greedy)
def _(kind, source, max_len):
    model = chain(kind)
    chosen = seq2seq.generate(model, source, max_len, lambda logits: logits.argmax(dim=-1))
    token = source[:, :1] % 5  # which ids it knows, only the model can tell
    first = seq2seq.next_logits(model, token, model.start(source))
    yield _rows(seq2seq.greedy_decode(model, source, max_len)), _rows(chosen), first
    rows = _best(model, len(source), max_len)
    yield (
        rows,
        rows,
        torch.stack([torch.tensor([-math.inf, -math.inf, *model.scores[i, 2:].tolist()]) for i in token[:, 0].tolist()]),
    )


@case("sample_decode", given=_greedy.map(lambda given: {**given, "temperature": 1e-6, "top_k": None, "top_p": 1.0}))
def _(kind, source, max_len, temperature, top_k, top_p):
    """So cold, or from so few, that it is greedy."""
    model = chain(kind)
    yield _rows(decoding.sample_decode(model, source, max_len, temperature, top_k, top_p))
    if temperature > 1e-5:  # no other is right alone: those that are written are words
        yield _rows(decoding.sample_decode(model, source, max_len, temperature, top_k, top_p, torch.Generator().manual_seed(0)))
    yield _best(model, len(source), max_len)


def _all_found(model: Chain, max_len: int, alpha: float) -> list[tuple[float, bool, tuple[int, ...]]]:
    """Return every sentence that can be written: its score, whether it has ended, and its tokens."""
    found = []
    for length in range(1, max_len + 1):
        for tokens in itertools.product(range(2, 5), repeat=length):
            if 2 in tokens[:-1] or (tokens[-1] != 2 and length < max_len):
                continue
            total, last = 0.0, 1
            for token in tokens:
                scores = model.scores[last, 2:].tolist()
                total += scores[token - 2] - math.log(sum(map(math.exp, scores)))
                last = token
            found.append((tokens[-1] == 2, total / ((5 + length) / 6) ** alpha, tokens))
    return sorted(found, reverse=True)


@case("beam_hypotheses", "beam_search", "Hypothesis", given=_search)
def _(kind, source, max_len, beam_size, alpha):
    """Each score is its sentence's, the best comes first; a beam as wide as there are sentences misses none."""
    model = chain(kind)
    wide = decoding.beam_hypotheses(model, source, max_len, 27, alpha) if isinstance(max_len, int) and max_len < 4 else None
    found = decoding.beam_hypotheses(model, source, max_len, beam_size, alpha)
    best = _rows(decoding.beam_search(model, source, max_len, beam_size, alpha))
    as_rows = lambda hypotheses: [(one.tokens[-1] == 2, one.score, one.tokens) for one in hypotheses]
    yield [as_rows(of_one) for of_one in found], best, wide and [as_rows(of_one)[0] for of_one in wide]
    everything = _all_found(model, max_len, alpha)
    score = {tokens: (ended, value, tokens) for ended, value, tokens in everything}
    listed = [sorted((score[one.tokens] for one in of_one), reverse=True) for of_one in found]
    assert all(0 < len(of_one) <= beam_size for of_one in found)
    yield listed, [list(of_one[0][2]) for of_one in listed], wide and [everything[0]] * len(source)


# Chapter 17


@case("bytes_sent", parameters=st.integers(1, 10**6), processes=many)
def _(parameters, processes):
    yield scaling.bytes_sent(parameters, processes)
    yield sum(2 * 4 * range(parameters).stop / processes for _ in range(processes - 1)) + 0.0


@case("padding_share", given=given(lambda draw: {"batches": [_batch(draw) for _ in range(draw(few))]}))
def _(batches):
    yield scaling.padding_share(batches)
    ids = [i for batch in batches for side in (batch.source, batch.target_out) for row in side.tolist() for i in row]
    yield ids.count(0) / len(ids)


@case("memory_table", source=many, target=many, half=flags)
def _(source, target, half):
    """The model's part stays, the activations grow by the same with each place."""
    config = encoder.TransformerConfig.tiny(20, 30)
    table = lambda source, target: scaling.memory_table(config, source, target, half)
    yield table(source, target)
    one, more, other = table(1, 1), table(2, 1), table(1, 2)
    key = "activations"
    steps = (range(source).stop - 1) * (more[key] - one[key]) + (range(target).stop - 1) * (other[key] - one[key])
    count = sum(parameter.numel() for parameter in transformer.Transformer(config).parameters())
    rounded = {"rounded weights": 2 * count} if half else {}
    fixed = {"parameters": 4 * count, "gradients": 4 * count, "Adam's moments": 8 * count}
    yield {**fixed, **rounded, key: one[key] + steps}


# Chapter 14

_phrases = ("I am here.", "you are there.", "we don't go", "le chat est là", "한국어 좋다", "un été")


@cache
def _tokenizer() -> translation.BytePairTokenizer:
    return translation.BytePairTokenizer.train(_phrases, 60)


@cache
def _translator() -> translation.Translator:
    torch.manual_seed(0)
    size = len(_tokenizer())
    sizes = {"d_model": 8, "num_layers": 1, "num_heads": 2, "d_ff": 8, "max_len": 20}
    config = encoder.TransformerConfig(**sizes, source_vocab_size=size, target_vocab_size=size)
    return translation.Translator(decoding.CachedTransformer(config).eval(), _tokenizer(), sentences=_phrases)


@case(
    "ParallelCorpus",
    train=st.lists(st.tuples(texts, texts), max_size=3).map(tuple),
    held_out=st.lists(st.tuples(texts, texts), max_size=2).map(tuple),
)
def _(train, held_out):
    try:
        corpus = translation.ParallelCorpus(train, held_out)
    except ValueError as error:
        yield "refused" if re.search(r"\b(train|held_out)\b", str(error)) else str(error)
    else:
        yield corpus.train, corpus.held_out
    pairs = [*train, *held_out]
    whole = all(
        isinstance(pair, list | tuple) and len(pair) == 2 and all(isinstance(t, str) and t for t in pair) for pair in pairs
    )
    if not whole or isinstance(train, str) or isinstance(held_out, str) or {p[0] for p in train} & {p[0] for p in held_out}:
        yield "refused"
    yield train, held_out


@case(
    "BytePairTokenizer",
    "BytePairTokenizer.train",
    sentences=st.lists(st.sampled_from(_phrases), min_size=1, max_size=4),
    vocab_size=st.integers(40, 60),
)
def _(sentences, vocab_size):
    tokenizer = translation.BytePairTokenizer.train(sentences, vocab_size)
    yield [tokenizer.decode(tokenizer.encode(text)) for text in sentences], len(tokenizer) <= vocab_size
    range(vocab_size)
    yield [" ".join(unicodedata.normalize("NFC", text).replace("’", "'").split(" ")) for text in sentences], True


@case("BytePairTokenizer.encode", "BytePairTokenizer.tokens", "BytePairTokenizer.decode", text=st.sampled_from(_phrases))
def _(text):
    tokenizer = _tokenizer()
    ids, tokens = tokenizer.encode(text), tokenizer.tokens(text)
    known = 3 not in ids
    yield len(ids), all(i < len(tokenizer) for i in ids), tokenizer.decode([*ids, 2, 5, 5]) if known else None
    back = unicodedata.normalize("NFC", text.encode().decode()).replace("’", "'")
    yield len(tokens), True, back if known else None


@case("BytePairTokenizer.decode", ids=st.lists(st.integers(0, 30), max_size=5))
def _(ids):
    yield _tokenizer().decode(ids)
    until = list(ids).index(2) if 2 in ids else len(ids)
    assert all(0 <= i < 2**32 for i in ids[:until])
    pieces = [_tokenizer().backend.id_to_token(range(2**32)[i]) or "" for i in ids[:until] if i > 3]
    yield "".join(pieces).replace("▁", " ").removeprefix(" ")


@case("BytePairTokenizer.save", "BytePairTokenizer.load", vocab_size=st.integers(50, 60))
def _(vocab_size):
    tokenizer = translation.BytePairTokenizer.train(_phrases, vocab_size)
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save(Path(folder, "pieces.json"))
        loaded = translation.BytePairTokenizer.load(Path(folder, "pieces.json"))
    yield [loaded.encode(text) for text in _phrases], len(loaded)
    yield [tokenizer.encode(text) for text in _phrases], len(tokenizer)


@case("encode_pairs", pairs=st.lists(st.tuples(st.sampled_from(_phrases), st.sampled_from(_phrases)), max_size=3), both=flags)
def _(pairs, both):
    yield translation.encode_pairs(_tokenizer(), pairs, _tokenizer() if both else None)
    yield [(_tokenizer().encode(source), _tokenizer().encode(target) + [2]) for source, target in pairs]


@given
def _answers(draw):
    references = draw(st.lists(st.sampled_from(_phrases), min_size=1, max_size=4))
    return {"predictions": [draw(st.sampled_from([text, "", "le chat", "x"])) for text in references], "references": references}


@case("corpus_bleu", "BleuScore", given=_answers)
def _(predictions, references):
    result = translation.corpus_bleu(predictions, references)
    yield result.score, "tok:13a" in result.signature
    assert all(isinstance(text, str) and text.strip() for text in references) and len(predictions) == len(references)
    yield sacrebleu.corpus_bleu(predictions, [references]).score, True


@case("exact_match", given=_answers)
def _(predictions, references):
    yield translation.exact_match(predictions, references)
    assert all(isinstance(text, str) and text.strip() for text in references) and len(predictions) == len(references)
    yield sum(ours == right for ours, right in zip(predictions, references)) / len(references)


@case(
    *("Translator", "Translator.translate", "Translator.read", "Translator.save", "Translator.load"),
    text=st.sampled_from(_phrases[:2]) | st.lists(st.sampled_from(_phrases), min_size=1, max_size=3),
    beam_size=few,
    alpha=st.sampled_from([0.6, 0, 1.0]),
)
def _(text, beam_size, alpha):
    """One after the other, and after it was saved, it says the same."""
    translator = _translator()
    translated = translator.translate(text, beam_size, alpha)
    lengths = [len(translator.read(one)) for one in (text if isinstance(text, list) else [text])]
    with tempfile.TemporaryDirectory() as folder:
        translator.save(Path(folder, "a.pt"))
        loaded = translation.Translator.load(Path(folder, "a.pt"))
    half = copy.deepcopy(translator.model).half().float()
    same = all(one.equal(other) for one, other in zip(half.state_dict().values(), loaded.model.state_dict().values()))
    yield translated, same

    def alone(text: str) -> str:
        """Translate one text, with as many tokens as all of the list may have."""
        source, most = torch.tensor([translator.read(text)]), min(2 * max(lengths) + 10, 20)
        search = (
            decoding.beam_search
            if beam_size > 1
            else lambda model, source, most, *_: seq2seq.greedy_decode(model, source, most)
        )
        return _tokenizer().decode(search(translator.model, source, most, beam_size, alpha)[0].tolist())

    yield [alone(one) for one in text] if isinstance(text, list) else alone(text), True


@case("Translator.unknown_words", text=texts)
def _(text):
    yield _translator().unknown_words(text)
    plain = unicodedata.normalize("NFC", text.encode().decode()).replace("’", "'")
    known = {word for phrase in _phrases for word in re.findall(r"[^\W_]+(?:'[^\W_]+)*", unicodedata.normalize("NFC", phrase))}
    letter = lambda c: c if _tokenizer().backend.token_to_id(c) is not None else c.lower()
    said = dict.fromkeys(re.findall(r"[^\W_]+(?:'[^\W_]+)*", plain))
    yield [word for word in said if "".join(map(letter, word)) not in known]


@case("pretrained_translator", name=st.just("captions"))
def _(name):
    yield translation.pretrained_translator(name).model.training
    yield {"translator": False, "captions": False}[name]
