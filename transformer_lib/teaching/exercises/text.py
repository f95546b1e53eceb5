"""Checks for the exercises of chapter 3, From text to batches."""

import re
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from transformer_lib.teaching.exercises import Attempt, Hint, _, check, compare, exercise
from transformer_lib.text import SentimentClassifier, Vocabulary, pad_batch, tokenize


@exercise(
    cases=[()],
    parts=(_("the logit listening on"), _("the logit hanging up")),
    hint=_("Halve the praise at each step and add the word's vector; at the end subtract 1"),
)
def two_logits() -> Iterator:
    """The reader's `two_logits()` returns the small reader's logits for "good film" in five columns, without and with mask."""
    yield (-0.75, 1.0), _("4 and 2 at the words, then 1, 0.5 and 0.25 at the padding: the verdict has turned")
    yield (0.25, 2.0), _("those are the last states: the logit is the state minus 1")
    yield (1.0, -0.75), _("the two logits are exchanged: listening on comes first")
    yield (1.0, 1.0), _("listening on takes three more steps behind *film*, and each halves the state")
    yield (-0.75, -0.75), _("hanging up keeps the state that stood after *film*")
    yield (-0.5, 1.0), _("listening on: one step too few. The rectangle has five columns, and *good* fills the first")
    yield (..., 3.0), _("*film* has a vector of zeros, but it is a word: its step halves the state too")


_TRAINING = ["Not good!", "Good, good film<br />", "A film."]


def _batch(counted: list[str], texts: list[str], cut: Callable = tokenize) -> list[list[int]]:
    """Return the rows of ids: words of `counted` from 1, one more id for all others, 0 at the end."""
    known = Vocabulary([word for text in counted for word in cut(text)], oov_buckets=1)
    return pad_batch([known.encode(cut(text)) for text in texts]).tolist()


@exercise(
    cases=[
        (_TRAINING, ["A good, GOOD plot!<br />", "Not"]),
        (_TRAINING, ["A bad, bad story.", "Not a bad story"]),
        (["So good!", "So, so."], ["Good", "So so long"]),
    ],
    hint=_("Clean and split each text, count the words of `training`, give the ids, and fill up with 0"),
)
def text_to_batch(training: list[str], texts: list[str]) -> Iterator:
    """The reader's `text_to_batch(training, texts)` returns the rows of ids of `texts`, all equally long."""
    right = _batch(training, texts)
    unknown = 1 + len({word for text in training for word in tokenize(text)})
    yield right, _("four steps, and any texts become a rectangle")
    yield [[max(i - 1, 0) for i in row] for row in right], _("the most frequent word has the id of padding: begin with 1")
    yield [[i % unknown for i in row] for row in right], _("an unknown word has id 0 here, like padding: give it the last id")
    yield _batch(texts, texts), _("count the words of `training`, not those of `texts`: a new word must stay unknown")
    yield _batch(training, texts, str.split), _("the text is split at spaces and nothing else: clean it first")
    says = _("the tag <br /> has left a word, *br*: take the tags out first")
    yield _batch(training, texts, lambda text: re.sub(r"[^a-z']", " ", text.lower()).split()), says
    yield [[0] * row.count(0) + [i for i in row if i] for row in right], _("padding comes after the words")


def _other_states(model: SentimentClassifier, tokens: Tensor) -> Iterator:
    """Yield what likely mistakes give to the linear layer, each with its hint."""
    outputs, state = model.gru(model.embedding(tokens))  # (batch, seq, hidden), (layers, batch, hidden)
    is_word = (tokens != 0).unsqueeze(-1)
    own = is_word.sum(dim=1)  # (batch, 1)
    yield state[-1], _("the GRU reads the padding too: stop at each row's own last word")
    yield (outputs * is_word).sum(dim=1) / own, _("that is the mean of the states: take the last word's")
    late = own[:, 0].clamp(max=tokens.size(1) - 1)
    yield outputs[torch.arange(len(tokens)), late], _("the last word stands in column length - 1")


@check
def review_classifier(attempt: Callable) -> str:
    """The reader's class gives the logits of the library's."""
    mine, ours = attempt(20, 6, 5), SentimentClassifier(20, 6, 5, num_layers=1)
    parts = {"embedding": "nn.Embedding(20, 6)", "gru": "nn.GRU(6, 5, batch_first=True)", "output": "nn.Linear(5, 1)"}
    for name, wanted in parts.items():
        try:
            getattr(ours, name).load_state_dict(getattr(mine, name).state_dict())
        except (AttributeError, RuntimeError):
            raise Hint(_("for the sizes 20, 6 and 5, self.{name} should be {wanted}", name=name, wanted=wanted)) from None
    if not mine.gru.batch_first:
        raise Hint(_("the tokens are (batch, seq), so the GRU needs batch_first=True"))
    for length in (5, 12):
        tokens = pad_batch([[3, 1, 4, 1, 5], [9], [2, 6, 5]], length=length)
        right = ours(tokens)
        praise = _("equal to the library's class, in 5 and in 12 columns")
        wrong = [(ours.output(state).squeeze(1), hint) for state, hint in _other_states(ours, tokens)]
        wrong.append((right.sigmoid(), _("these are probabilities: return the logits, without the sigmoid")))
        compare([(Attempt(mine.forward)(tokens), [(right, praise), *wrong], [""])], _("Compare with the class of the chapter."))
    return praise
