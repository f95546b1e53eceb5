"""What the figure makes of a review is what the library makes of it, with the same weights."""

import pytest
import torch

from transformer_lib.teaching.experiments.text import WithoutMask, pretrained_review_reader
from transformer_lib.teaching.figures import live
from transformer_lib.text import pad_batch, tokenize

REVIEWS = [
    "The story was not good at all.",
    "It's a 'splendid' film; 10/10 — très drôle 😀 정말 재미있어요! <b>bold</b> it’s ''quoted'' O'Neill's " * 2,
    "",
]


@torch.no_grad()
def after_each(model, row):
    return [model(torch.tensor([row[: count + 1]])).item() for count in range(len(row))]


@pytest.mark.parametrize("review", REVIEWS)
def test_words_and_logits_are_those_of_the_library(touch, review):
    figure, reader = live.review_reader(), pretrained_review_reader()
    classifier, bag = reader.classifier.double(), reader.bag.double()
    seen = touch(figure)
    seen.figure.get_by_role("textbox", name="review").fill(review)
    words = tokenize(review)[:18]
    own = reader.vocabulary.encode(words)
    for mask in (True, False):
        if not mask:
            seen.figure.get_by_role("checkbox", name="mask the padding").press("Space")
        gru, read = (classifier, own) if mask else (WithoutMask(classifier), pad_batch([own], max(14, len(own)))[0].tolist())
        for name, wanted in {"gru": after_each(gru, read), "bag": after_each(bag, read)}.items():
            texts = seen.figure.locator(f"svg text[data-logit={name}]").all_text_contents()
            assert [float(text.replace("−", "-")) for text in texts] == pytest.approx(wanted, abs=0.0501)
        said = seen.figure.locator(".tl-says").inner_text()
        assert ("Left unread" in said) == (len(tokenize(review)) > len(words))
        assert all(f"“{word}”" in said for word in [word for word in words if word not in reader.vocabulary.words][:3])
        assert ("no word to read" in said) == (not words)
