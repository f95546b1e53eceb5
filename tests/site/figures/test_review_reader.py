"""What the figure makes of a review is what the library makes of it, with the same weights."""

import pytest
import torch

from transformer_lib.teaching.experiments.text import WithoutMask, pretrained_review_reader
from transformer_lib.teaching.figures import live
from transformer_lib.text import pad_batch, tokenize

LONGEST = 18
MOST = [None, 3, 5, 10, LONGEST]
REVIEWS = [
    "The story was not good at all.",
    "My sister came with me.<br /><br />Nobody can say that the music was not dull, but I found the camera GREAT!",
    "It's a 'splendid' film; 10/10 — très drôle 😀 정말 재미있어요! <b>bold</b> it’s ''quoted'' O'Neill's",
    "",
    "10/10 😀",
]


@pytest.fixture(scope="module")
def reader():
    reader = pretrained_review_reader()
    reader.classifier.double()
    reader.bag.double()
    return reader


def write(seen, review):
    box = seen.figure.get_by_role("textbox", name="review")
    box.focus()
    seen.page.keyboard.press("ControlOrMeta+a")
    seen.page.keyboard.press("Delete")
    seen.page.keyboard.insert_text(review)


def says(seen):
    return seen.figure.locator(".tl-says").inner_text()


def numbers(seen, model):
    texts = seen.figure.locator(f"svg text[data-logit={model}]").all_text_contents()
    return [float(text.replace("−", "-")) for text in texts]


@torch.no_grad()
def after_each(model, row):
    return [model(torch.tensor([row[: count + 1]])).item() for count in range(len(row))]


@pytest.mark.parametrize("review", REVIEWS)
def test_ids_batch_and_logits_are_those_of_the_library(touch, reader, review, choose):
    figure = live.review_reader()
    seen = touch(figure)
    write(seen, review)
    other = reader.vocabulary.encode(tokenize(figure.data["other"]))
    whole = len(tokenize(review))
    for mask in (True, False):
        for index in (0, 1, 4):
            choose(seen, "words read at most", index)
            words = tokenize(review, MOST[index])
            if len(words) > LONGEST:
                assert f"has {len(words)} words, and {LONGEST} fit here" in says(seen)
                continue
            own = reader.vocabulary.encode(words)
            batch = pad_batch([own, other])
            for name, row in zip(("yours", "neighbour"), batch.tolist(), strict=True):
                assert [int(text) for text in seen.figure.locator(f"svg text[data-id={name}]").all_text_contents()] == row
            heading = seen.figure.locator("svg text", has_text="ids (2,").text_content()
            assert heading == f"ids {tuple(batch.shape)}: as wide as the longest"

            gru, read = (reader.classifier, own) if mask else (WithoutMask(reader.classifier), batch[0].tolist())
            assert numbers(seen, "gru") == pytest.approx(after_each(gru, read), abs=0.0501)
            bars = seen.figure.locator("svg rect[fill='var(--tl-accent)']")
            opacities = [float(bar.get_attribute("fill-opacity")) for bar in bars.all()]
            assert opacities == [*[0.35] * (len(read) - 1), *[1.0] * bool(read)]  # the last alone was trained
            assert numbers(seen, "bag") == pytest.approx(after_each(reader.bag, read), abs=0.0501)
            with torch.no_grad():
                logits = [gru(batch)[0].item(), reader.bag(batch)[0].item()]
            first = says(seen).removeprefix("Logits: ").split(". ")[0].rstrip(".")
            for said, name, logit in zip(first.split("; "), ("GRU", "bag of words"), logits, strict=True):
                value, verdict = said.removeprefix(f"{name} ").split(", ")
                assert float(value.replace("−", "-")) == pytest.approx(logit, abs=0.0501)
                sure = "positive" if logit > 0 else "negative"
                assert verdict == ("undecided" if value == "0.0" else sure)
            assert words or "undecided" in says(seen)

            assert ("Left unread" in says(seen)) == (whole > len(words))
            unknown = [word for word in words if word not in reader.vocabulary.words]
            assert ("Not in the vocabulary" in says(seen)) == bool(unknown)
            assert all(f"“{word}”" in says(seen) for word in unknown[:3])
            assert ("no word to read" in says(seen)) == (not words)
            assert ("Without the mask" in says(seen)) == (not mask and len(own) < len(other))
        seen.figure.get_by_role("checkbox", name="mask the padding").press("Space")
    assert seen.complaints == []
