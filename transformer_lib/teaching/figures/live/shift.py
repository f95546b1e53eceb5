"""What the decoder reads and what it must say, step by step: the right words, the answer itself, or its own words."""

import html

from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID
from transformer_lib.teaching.figures.live.figure import LiveFigure
from transformer_lib.training import Batch

_SIGNS = {PAD_ID: "<pad>", SOS_ID: "<sos>", EOS_ID: "<eos>"}
_TARGET = "je suis étudiant"
_SLIPS = ["tu", "es", "boulanger"]  # what could be said by mistake at each place


def shift() -> LiveFigure:
    """Return the two rows of teacher forcing, with a step, a mistake and what the decoder reads to choose."""
    words = _SIGNS | dict(enumerate(_TARGET.split(), start=len(_SIGNS)))
    batch = Batch.from_pairs([([EOS_ID + 1], [*range(len(_SIGNS), len(words)), EOS_ID])])
    reads, answers = ([words[token] for token in row[0].tolist()] for row in (batch.target_in, batch.target_out))
    below, above = ("".join(f"<td>{html.escape(word)}</td>" for word in row) for row in (reads, answers))
    return LiveFigure(
        "shift",
        title="What it has read, and what it must say next",
        still='<table style="overflow-wrap:normal"><tbody>'
        f'<tr><th scope="row">must say, target_out</th>{above}</tr>'
        f'<tr><th scope="row">reads, target_in</th>{below}</tr>'
        "</tbody></table>",
        says="A column is one step. Both rows are one sentence, shifted by one place.",
        data={"reads": reads, "answers": answers, "slips": _SLIPS},
        uses=("player",),
    )
