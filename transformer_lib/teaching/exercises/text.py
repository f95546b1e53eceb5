"""Checks for the exercises of chapter 3, From text to batches."""

import re
from collections import Counter
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from transformer_lib.teaching.exercises import Hint, check, exercise, normal, same
from transformer_lib.text import SentimentClassifier, Vocabulary, pad_batch, tokenize

__all__ = ["mean_vector", "review_classifier", "text_to_batch", "two_logits"]


@exercise(
    cases=[()],
    parts=("the logit listening on", "the logit hanging up"),
    hint="Halve the praise at each step and add the word's vector; at the end subtract 1",
)
def two_logits() -> Iterator:
    """The reader's `two_logits()` returns the small reader's logits for "good film" in five columns, without and with mask."""
    yield (-0.75, 1.0), "4 and 2 at the words, then 1, 0.5 and 0.25 at the padding: the verdict has turned"
    yield (0.25, 2.0), "those are the last states: the logit is the state minus 1"
    yield (1.0, -0.75), "the two logits are exchanged: listening on comes first"
    yield (1.0, 1.0), "listening on takes three more steps behind *film*, and each halves the state"
    yield (-0.75, -0.75), "hanging up keeps the state that stood after *film*"
    yield (-0.5, 1.0), "listening on: one step too few. The rectangle has five columns, and *good* fills the first"
    yield (-0.875, 1.0), "listening on: one step too many. After *good* come four steps, and each halves the 4"
    for logit in (-0.75, 0.0, 1.0):
        yield (logit, 3.0), "*film* has a vector of zeros, but it is a word: its step halves the state too"


_TRAINING = ["Not good!", "Good, good film<br />", "A film."]


def _batch(counted: list[str], texts: list[str], cut: Callable = tokenize, *, by_name: bool = False) -> list[list[int]]:
    """Return the rows of ids: words of `counted` from 1, one more id for all others, 0 at the end."""
    known = Vocabulary([word for text in counted for word in cut(text)], oov_buckets=1)
    if by_name:
        counts = Counter(word for text in counted for word in cut(text))
        known = Vocabulary(sorted(counts.elements(), key=lambda word: (-counts[word], word)), oov_buckets=1)
    return pad_batch([known.encode(cut(text)) for text in texts]).tolist()


@exercise(
    cases=[
        (_TRAINING, ["A good, GOOD plot!<br />", "Not"]),
        (_TRAINING, ["A bad, bad story.", "Not a bad story"]),
        (["So good!", "So, so."], ["Good", "So so long"]),
    ],
    hint="Clean and split each text, count the words of `training`, give the ids, and fill up with 0",
)
def text_to_batch(training: list[str], texts: list[str]) -> Iterator:
    """The reader's `text_to_batch(training, texts)` returns the rows of ids of `texts`, all equally long."""
    right = _batch(training, texts)
    unknown = 1 + len({word for text in training for word in tokenize(text)})
    yield right, "four steps, and any texts become a rectangle"
    yield [[max(i - 1, 0) for i in row] for row in right], "the most frequent word has the id of padding: begin with 1"
    yield (
        [[i - 1 if i else unknown for i in row] for row in right],
        "padding has id 0, and the words begin with 1",
    )
    yield [[i % unknown for i in row] for row in right], "an unknown word has id 0 here, like padding: give it the last id"
    yield _batch(texts, texts), "count the words of `training`, not those of `texts`: a new word must stay unknown"
    yield _batch([*training, *texts], texts), "count the words of `training` alone: a new word must stay unknown"
    yield _batch(training, texts, str.split), "the text is split at spaces and nothing else: clean it first"
    yield (
        _batch(training, texts, lambda text: re.sub(r"[^a-z']", " ", text.lower()).split()),
        "the tag <br /> has left a word, *br*: take the tags out first",
    )
    yield (
        _batch(training, texts, lambda text: re.sub(r"<br\s*/?>|[^a-zA-Z']", " ", text).split()),
        "*Good* and *good* are one word: lower case first",
    )
    yield _batch(training, texts, by_name=True), "of words that are equally frequent, the one seen first comes first"
    yield [[0] * row.count(0) + [i for i in row if i] for row in right], "padding comes after the words"


@exercise(
    # First three reviews and vectors of three numbers: there a forgotten unsqueeze is no error, and gets a hint.
    cases=[(*normal((3, 6, 3)), torch.tensor([5, 1, 4])), (*normal((4, 6, 3)), torch.tensor([5, 1, 4, 3]))],
    hint="Sum the words' vectors, row by row, and divide by the length",
)
def mean_vector(vectors: Tensor, lengths: Tensor) -> Iterator:
    """The reader's `mean_vector(vectors, lengths)` returns the mean over each review's own words."""

    def words(count: Tensor) -> Tensor:
        return vectors * (torch.arange(vectors.size(1)) < count[:, None])[..., None]

    total, rows = words(lengths).sum(dim=1), lengths[:, None]
    yield total / rows, "what stands in the columns of padding changes nothing"
    yield vectors.mean(dim=1), "that is the mean over all columns, padding too: leave out the columns from lengths on"
    yield vectors.sum(dim=1) / rows, "the sum still holds the vectors of padding: make them zero before the sum"
    yield words(lengths).mean(dim=1), "the padding is gone from the sum, but still counted: divide by the length, not by seq"
    yield total, "that is the sum over the words: divide it by how many there are"
    for one in (lengths.double().mean(), lengths.max()):
        yield total / one, "each review has its own length: divide row by row, with lengths.unsqueeze(1)"
    for count in (rows, rows + 1):
        yield words(lengths + 1).sum(dim=1) / count, "one column too many: a review of 4 words has the columns 0 to 3"
    if len(lengths) == vectors.size(2):
        yield (
            total / lengths,
            "here are as many reviews as numbers in a vector, so a division by lengths goes column by column: divide row by "
            "row, with lengths.unsqueeze(1)",
        )
    yield vectors[torch.arange(len(lengths)), lengths - 1], "that is the last word's vector: take the mean over all words"


def _other_logits(model: SentimentClassifier, tokens: Tensor) -> Iterator:
    """Yield the logits of likely mistakes, each with its hint."""
    vectors, is_word = model.embedding(tokens), (tokens != 0).unsqueeze(-1)
    outputs, state = model.gru(vectors)  # (batch, seq, hidden), (layers, batch, hidden)
    own = (tokens != 0).sum(dim=1)
    rows = torch.arange(len(tokens))
    yield model.output(state[-1]), "the GRU reads the padding too: stop at each row's own last word"
    yield model.output((outputs * is_word)[:, -1]), "the mask deletes the last state: keep the state at the last word instead"
    yield model.output((outputs * is_word).sum(dim=1) / own[:, None]), "that is the mean of the states: take the last word's"
    yield model.output(outputs[rows, own.clamp(max=tokens.size(1) - 1)]), "the last word stands in column length - 1"
    yield model.output(outputs[:, own.min() - 1]), "each row has its own length"


@check
def review_classifier(attempt: Callable) -> str:
    """The reader's class gives the logits of the library's, and of each review alone in torch's GRU."""
    mine, ours = attempt(20, 6, 5), SentimentClassifier(20, 6, 5, num_layers=1)
    sizes = {"embedding": (nn.Embedding, "20, 6"), "gru": (nn.GRU, "6, 5, batch_first=True"), "output": (nn.Linear, "5, 1")}
    for name, (kind, arguments) in sizes.items():
        if not isinstance(part := getattr(mine, name, None), kind):
            raise Hint(f"self.{name} should be an nn.{kind.__name__}")
        try:
            getattr(ours, name).load_state_dict(part.state_dict())
        except RuntimeError:
            raise Hint(f"self.{name} should be an nn.{kind.__name__}({arguments}) for the sizes 20, 6 and 5") from None
    if not mine.gru.batch_first:
        raise Hint("the tokens are (batch, seq), so the GRU needs batch_first=True")
    sequences = [[3, 1, 4, 1, 5], [9], [2, 6, 5]]
    for length in (5, 12):
        tokens = pad_batch(sequences, length=length)
        try:
            found = mine(tokens)
        except NotImplementedError:
            raise Hint("forward is not written yet") from None
        except Exception as problem:
            raise Hint(f"forward raises {type(problem).__name__}: {problem}") from problem
        right = ours(tokens)
        if same(found, right):
            continue
        if getattr(found, "shape", None) == (3, 1):
            raise Hint("the logits are (3, 1), and should be (3,): squeeze(1) takes the last axis away")
        if getattr(found, "shape", None) != right.shape:
            raise Hint(f"the logits should have the shape (3,), one for each review, not {tuple(getattr(found, 'shape', ()))}")
        if same(found, right.sigmoid()):
            raise Hint("these are probabilities: return the logits, without the sigmoid")
        for wrong, hint in _other_logits(ours, tokens):
            if same(found, wrong.squeeze(1)):
                raise Hint(hint)
        raise Hint("the logits differ from the library's: embedding, GRU, the state after each row's last word, output")
    alone = torch.cat([ours.output(ours.gru(ours.embedding(torch.tensor([ids])))[1][-1]) for ids in sequences])
    assert same(ours(pad_batch(sequences)), alone.squeeze(1))
    if mine.embedding.padding_idx is None:
        return "equal to the library's class and to torch's GRU on each review alone (padding_idx=0 would keep row 0 at zero)"
    return "equal to the library's class, and to torch's GRU on each review alone"
