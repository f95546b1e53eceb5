"""The tree of a beam search, step by step, over a model that knows the phrase book of chapter 13 by heart."""

import html
import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from transformer_lib._language import _
from transformer_lib.decoding import beam_hypotheses, beam_search, greedy_decode
from transformer_lib.seq2seq import EOS_ID, PAD_ID
from transformer_lib.teaching.figures.live.figure import LiveFigure

BOOK = {
    "you are a student": {"vous êtes étudiant": 0.40, "tu es étudiant": 0.33, "tu es étudiante": 0.27},
    "you are not a student": {"vous n' êtes pas étudiant": 0.40, "tu n' es pas étudiant": 0.33, "tu n' es pas étudiante": 0.27},
    "thank you very much": {"merci": 0.45, "je vous remercie de tout cœur": 0.40, "merci beaucoup": 0.15},
}
VOCABULARY = [
    "<PAD>",
    "<SOS>",
    "<EOS>",
    *sorted({word for book in BOOK.values() for french in book for word in french.split()}),
]


class _Written:
    """What each row has written: the shares of its sentence, and the words so far, with SOS."""

    def __init__(self, rows: list[tuple[dict[str, float], list[str]]]) -> None:
        self.rows = rows

    def reorder(self, rows: Tensor) -> None:
        self.rows = [self.rows[row] for row in rows.tolist()]


class BookModel(nn.Module):
    """A model whose probabilities are the book's shares. Its source holds one number: which English sentence it is."""

    max_len = math.inf

    def start(self, source: Tensor) -> _Written:
        books = list(BOOK.values())
        return _Written([(books[number], []) for number in source[:, 0].tolist()])

    def decode(self, words: Tensor, state: _Written) -> Tensor:
        state.rows = [
            (book, [*written, VOCABULARY[word]]) for (book, written), word in zip(state.rows, words[:, 0].tolist(), strict=True)
        ]
        shares = torch.zeros(len(state.rows), len(VOCABULARY), dtype=torch.float64)
        for row, (book, written) in zip(shares, state.rows, strict=True):
            for french, share in book.items():
                sentence = ["<SOS>", *french.split(), "<EOS>"]
                if sentence[: len(written)] == written and len(sentence) > len(written):
                    row[VOCABULARY.index(sentence[len(written)])] += share
            if not row.any():  # no sentence begins like this, or it has ended
                row[EOS_ID] = 1
        return shares.log()[:, None]


def in_words(tokens: Iterable[int]) -> str:
    """Return the words of the ids, without padding."""
    return " ".join(VOCABULARY[token] for token in tokens if token != PAD_ID)


def beam_tree() -> LiveFigure:
    """Return a beam search to go through step by step, with its sentence, its width and its length penalty to choose."""
    model, source, beam = BookModel(), torch.tensor([[0]]), 2
    english, book = next(iter(BOOK.items()))
    rows = ""
    for length in range(1, 5):
        kept = beam_hypotheses(model, source, max_len=length, beam_size=beam)[0]
        words = ", ".join(f"{in_words(one.tokens)} {math.exp(one.log_probability):.2f}" for one in kept)
        rows += f"<tr><th>{length}</th><td>{html.escape(words)}</td></tr>"
    greedy = in_words(greedy_decode(model, source, max_len=12)[0].tolist()).removesuffix(" <EOS>")
    found = in_words(beam_search(model, source, max_len=12, beam_size=beam)[0].tolist()).removesuffix(" <EOS>")
    step, keeps = _("step"), _("what a beam of {beam} keeps, with its probability", beam=beam)
    head = f"<tr><th>{step}</th><th>{keeps}</th></tr>"
    return LiveFigure(
        "beam_tree",
        title=_("What the beam keeps, step by step"),
        still=f'<table style="overflow-wrap:normal">{head}{rows}</table>',
        says=_(
            "{english}: a beam of {beam} writes {found}, {share}; greedy decoding writes {greedy}, {its_share}.",
            **{"english": english.capitalize(), "beam": beam, "found": found, "greedy": greedy},
            **{"share": f"{book[found]:.2f}", "its_share": f"{book[greedy]:.2f}"},
        ),
        data={"book": BOOK, "english": english},
    )
