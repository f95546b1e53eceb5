"""Train and measure classifiers of reviews: chapter 3's GRU, with and without its mask, and a bag of words."""

from collections.abc import Callable, Iterable
from importlib.resources import as_file, files
from itertools import chain
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, pad

from transformer_lib.checkpoint import open_tensors
from transformer_lib.progress import progress
from transformer_lib.seq2seq import PAD_ID
from transformer_lib.teaching.corpora.reviews import synthetic_reviews
from transformer_lib.text import Review, SentimentClassifier, Vocabulary, bucket_batches, tokenize

__all__ = [
    "BagOfWords",
    "ReviewReader",
    "WithoutMask",
    "accuracy",
    "bag_from_few",
    "encode_reviews",
    "more_padding",
    "pretrained_review_reader",
    "review_reader_sets",
    "train_classifier",
]

Encoded = tuple[list[list[int]], list[int]]

# (tokens (batch, seq), labels (batch)), as chapter 3's `bucket_batches` makes them.
Batches = Iterable[tuple[Tensor, Tensor]]


def encode_reviews(
    training: list[Review], validation: list[Review], *, max_tokens: int | None = None, oov_buckets: int = 1000
) -> tuple[Vocabulary, Encoded, Encoded]:
    """Return a vocabulary made from the training reviews alone, and both sets as (sequences of ids, labels)."""
    words = [[tokenize(one.text, max_tokens) for one in reviews] for reviews in (training, validation)]
    vocabulary = Vocabulary(chain.from_iterable(words[0]), oov_buckets=oov_buckets)
    encoded = [
        ([vocabulary.encode(row) for row in rows], [one.label for one in reviews])
        for rows, reviews in zip(words, (training, validation), strict=True)
    ]
    return vocabulary, *encoded


class BagOfWords(nn.Module):
    """Logistic regression over the counts of the words: one weight per word, their sum and a bias are the logit.

    The weights start at 0. Padding counts for nothing.
    """

    def __init__(self, vocab_size: int) -> None:
        super().__init__()
        self.weights = nn.EmbeddingBag(vocab_size, 1, mode="sum", padding_idx=PAD_ID)
        self.bias = nn.Parameter(torch.zeros(1))
        nn.init.zeros_(self.weights.weight)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the logits, (batch), of `tokens`, (batch, seq)."""
        return self.weights(tokens).squeeze(1) + self.bias


class WithoutMask(nn.Module):
    """Chapter 3's classifier with its own weights, but its GRU reads padding as if it were words."""

    def __init__(self, classifier: nn.Module) -> None:
        super().__init__()
        self.classifier = classifier

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the logits, (batch), of `tokens`, (batch, seq)."""
        vectors = self.classifier.embedding(tokens)  # (batch, seq, d_model)
        _, state = self.classifier.gru(vectors)  # (num_layers, batch, hidden)
        return self.classifier.output(state[-1]).squeeze(1)  # (batch)


def train_classifier(
    model: nn.Module, batches: Callable[[], Batches], *, epochs: int, learning_rate: float = 1e-3
) -> list[float]:
    """Train `model` in place with Adam, and return the loss of each step.

    `batches()` is called once an epoch, so that it may shuffle anew. The gradient is clipped to norm 1.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    losses = []
    model.train()
    epoch_bar = progress(range(epochs), description=f"training {type(model).__name__}")
    for _ in epoch_bar:
        for tokens, labels in batches():
            loss = binary_cross_entropy_with_logits(model(tokens), labels)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        epoch_bar.set_postfix(loss=losses[-1])
    return losses


def accuracy(model: nn.Module, batches: Batches) -> float:
    """Return the share of reviews whose logit has the right sign: above 0 for label 1, 0 and below for label 0."""
    right = seen = 0
    model.eval()
    with torch.no_grad():
        for tokens, labels in batches:
            right += ((model(tokens) > 0) == (labels > 0.5)).sum().item()
            seen += len(labels)
    return right / seen


def bag_from_few(*, seed: int, clean: bool, count: int = 40) -> tuple[int, float]:
    """Train a bag of words on `count` plain reviews, and return how many words it knows and its accuracy on 1000 others.

    The texts are cut at spaces and nothing else, or, with `clean`, by `tokenize`.
    """
    cut = tokenize if clean else str.split
    training = synthetic_reviews(count, seed=seed, negation=False)
    vocabulary = Vocabulary(chain.from_iterable(cut(one.text) for one in training), oov_buckets=1)
    sets = [
        ([vocabulary.encode(cut(one.text)) for one in reviews], [one.label for one in reviews])
        for reviews in (training, synthetic_reviews(1000, seed=100 + seed, negation=False))
    ]
    torch.manual_seed(seed)
    bag, shuffle = BagOfWords(len(vocabulary)), torch.Generator().manual_seed(seed)
    train_classifier(bag, lambda: bucket_batches(*sets[0], generator=shuffle), epochs=100, learning_rate=0.05)
    return len(vocabulary.words), accuracy(bag, bucket_batches(*sets[1]))


def more_padding(batches: Batches, columns: int) -> list[tuple[Tensor, Tensor]]:
    """Return the batches with `columns` more columns of padding at the end of each."""
    return [(pad(tokens, (0, columns), value=PAD_ID), labels) for tokens, labels in batches]


class ReviewReader(NamedTuple):
    """A trained GRU and a trained bag of words over one vocabulary."""

    vocabulary: Vocabulary
    classifier: SentimentClassifier
    bag: BagOfWords


def review_reader_sets() -> tuple[list[Review], dict[str, list[Review]]]:
    """Return the reviews that the pretrained reader learned from, and those held out, by kind: twins and plain ones."""
    twins, plain = synthetic_reviews(2000, seed=10), synthetic_reviews(1000, seed=100, negation=False)
    seen = {one.text for one in twins + plain}
    others = {"twins": synthetic_reviews(2000, seed=20), "plain": synthetic_reviews(1000, seed=120, negation=False)}
    held_out = {kind: [one for one in reviews if one.text not in seen] for kind, reviews in others.items()}
    return twins + plain, held_out


def pretrained_review_reader() -> ReviewReader:
    """Return the reader that comes with the library, as `python -m benchmarks.review_reader` trained it."""
    path = files("transformer_lib") / "pretrained" / "review_reader.pt"
    with as_file(path) as file, open_tensors(file, "review reader") as saved:
        vocabulary = Vocabulary(saved["words"], len(saved["words"]), saved["oov_buckets"])
        reader = ReviewReader(vocabulary, SentimentClassifier(len(vocabulary), **saved["sizes"]), BagOfWords(len(vocabulary)))
        reader.classifier.load_state_dict(saved["classifier"])
        reader.bag.load_state_dict(saved["bag"])
        return reader
