"""Train and measure classifiers of reviews: chapter 3's GRU, with and without its mask, and a bag of words."""

from collections.abc import Callable, Iterable
from importlib.resources import as_file, files
from itertools import chain
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, pad
from torch.testing import assert_close

from transformer_lib.checkpoint import open_tensors
from transformer_lib.progress import progress
from transformer_lib.seq2seq import PAD_ID
from transformer_lib.teaching.corpora.reviews import synthetic_reviews
from transformer_lib.text import Review, SentimentClassifier, Vocabulary, bucket_batches, pad_batch, tokenize

Encoded = tuple[list[list[int]], list[int]]

# (tokens (batch, seq), labels (batch)), as chapter 3's `bucket_batches` makes them.
Batches = Iterable[tuple[Tensor, Tensor]]


def encode_reviews(
    training: list[Review], validation: list[Review], *, max_tokens: int | None = None, oov_buckets: int = 1000
) -> tuple[Vocabulary, Encoded, Encoded]:
    """Return a vocabulary made from the training reviews alone, and both sets as (sequences of ids, labels)."""
    words = [[tokenize(one.text)[:max_tokens] for one in reviews] for reviews in (training, validation)]
    vocabulary = Vocabulary(chain.from_iterable(words[0]), oov_buckets=oov_buckets)
    encoded = [
        ([vocabulary.encode(row) for row in rows], [one.label for one in reviews])
        for rows, reviews in zip(words, (training, validation), strict=True)
    ]
    return vocabulary, *encoded


class BagOfWords(nn.Module):
    """Logistic regression: one weight for each word, 0 at the start; their sum and a bias are the logit."""

    def __init__(self, vocab_size: int) -> None:
        super().__init__()
        self.weights = nn.EmbeddingBag(vocab_size, 1, mode="sum", padding_idx=PAD_ID)
        self.bias = nn.Parameter(torch.zeros(1))
        nn.init.zeros_(self.weights.weight)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.weights(tokens).squeeze(1) + self.bias  # (batch)


class WithoutMask(nn.Module):
    """Chapter 3's classifier with its own weights, but its GRU reads padding as if it were words."""

    def __init__(self, classifier: nn.Module) -> None:
        super().__init__()
        self.classifier = classifier

    def forward(self, tokens: Tensor) -> Tensor:
        _, state = self.classifier.gru(self.classifier.embedding(tokens))  # (num_layers, batch, hidden)
        return self.classifier.output(state[-1]).squeeze(1)  # (batch)


def train_classifier(model: nn.Module, batches: Callable[[], Batches], *, epochs: int, learning_rate: float) -> None:
    """Train `model` in place with Adam on `batches()`, which is called once an epoch, so that it may shuffle anew."""
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    model.train()
    for _ in progress(range(epochs), description=f"training {type(model).__name__}"):
        for tokens, labels in batches():
            loss = binary_cross_entropy_with_logits(model(tokens), labels)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()


def accuracy_by_epoch(model: nn.Module, batches: Callable[[], Batches], test: Batches, **settings: float) -> list[float]:
    """Train as `train_classifier` does; return the accuracy on `test` before training and after each epoch."""
    accuracies = []

    def next_epoch() -> Batches:
        accuracies.append(accuracy(model, test))
        model.train()
        return batches()

    train_classifier(model, next_epoch, **settings)
    return [*accuracies, accuracy(model, test)]


def accuracy(model: nn.Module, batches: Batches) -> float:
    """Return the share of reviews whose logit has the right sign: above 0 for label 1, 0 and below for label 0."""
    right = seen = 0
    model.eval()
    with torch.no_grad():
        for tokens, labels in batches:
            right += ((model(tokens) > 0) == (labels > 0.5)).sum().item()
            seen += len(labels)
    return right / seen


def more_padding(batches: Batches, columns: int) -> list[tuple[Tensor, Tensor]]:
    """Return the batches with `columns` more columns of padding at the end of each."""
    return [(pad(tokens, (0, columns), value=PAD_ID), labels) for tokens, labels in batches]


def _logits_by_loop(model: SentimentClassifier, tokens: Tensor) -> Tensor:
    """Read column by column; where a row has padding, each layer keeps its old state."""
    layers = model.gru.all_weights  # of each layer: weight_ih, weight_hh, bias_ih, bias_hh
    states = [torch.zeros(len(tokens), model.gru.hidden_size).double() for _ in layers]
    for column in tokens.unbind(dim=1):
        x, is_word = model.embedding(column), (column != PAD_ID).unsqueeze(1)
        for layer, weights in enumerate(layers):
            new = torch.gru_cell(x, states[layer], *weights)
            x = states[layer] = torch.where(is_word, new, states[layer])
    return model.output(states[-1]).squeeze(1)


def compare_with_loops(make: type[SentimentClassifier]) -> None:
    """Compare the classifier with a plain loop, with each review alone in torch's GRU, and with more padding."""
    torch.manual_seed(0)
    model = make(20, d_model=6, hidden_size=5).double()
    sequences = [[3, 1, 4, 1, 5], [9], [2, 6, 5], []]
    tokens, upstream = pad_batch(sequences), torch.randn(4).double()
    zero = torch.zeros(1, 5).double()
    alone = [model.gru(model.embedding(torch.tensor([ids])))[1][-1] if ids else zero for ids in sequences]
    logits = model(tokens)
    assert logits.std() > 0.001, "all alike: that would show nothing"
    ours = torch.autograd.grad(logits, [*model.parameters()], upstream)
    for others, said in [
        (_logits_by_loop(model, tokens), "equal to the loop with torch.where: logits and gradients"),
        (model.output(torch.cat(alone)).squeeze(1), "equal to torch's GRU on each review alone: logits and gradients"),
        (
            model(pad_batch(sequences, length=55)),
            "the same with 50 more columns; the vector of padding gets no gradient",
        ),
    ]:
        assert_close(logits, others)
        assert_close(ours, torch.autograd.grad(others, [*model.parameters()], upstream))
        print(said)
    assert ours[0][PAD_ID].abs().max() == 0 < ours[0][1].abs().max()


def twins(seed: int) -> tuple[list[Review], list[Review]]:
    """Return 2,000 reviews to learn from, and nearly as many others."""
    training = synthetic_reviews(2000, seed=10 + seed)
    seen = {one.text for one in training}
    return training, [one for one in synthetic_reviews(2000, seed=20 + seed) if one.text not in seen]


def bag_against_gru(seed: int) -> None:
    """Train a bag of words and a GRU with its mask on twins, and print the share of held-out reviews that each gets right."""
    vocabulary, train_set, test_set = encode_reviews(*twins(seed))
    shuffle = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    bag, gru = BagOfWords(len(vocabulary)), SentimentClassifier(len(vocabulary), 32, 32)
    for model in (bag, gru):
        train_classifier(model, lambda: bucket_batches(*train_set, generator=shuffle), epochs=10, learning_rate=0.01)
    batches = bucket_batches(*test_set, batch_size=256)
    bag_share = accuracy(bag, batches)
    shares = [accuracy(gru, more_padding(batches, columns)) for columns in (0, 20, 40)]
    assert abs(bag_share - 0.5) < 0.02 and shares[0] == shares[1] == shares[2] > 0.98
    print(f"share right, bag of words:               ≈ {bag_share:.2f}")
    print(f"share right, GRU, trained with its mask: ≈ {shares[0]:.2f}, and the same with 20 and 40 more columns")


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
