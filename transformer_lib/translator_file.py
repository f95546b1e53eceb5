"""The file of a translator: what chapter 14's `Translator` writes, and reads again."""

import copy
import json
import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from tokenizers import Tokenizer

from transformer_lib.checkpoint import open_tensors, renamed, sizes_of, write_tensors
from transformer_lib.decoding import CachedTransformer
from transformer_lib.encoder import TransformerConfig
from transformer_lib.pieces import stored_pieces
from transformer_lib.transformer import Transformer


def write_translator(
    path: str | os.PathLike, model: Transformer, pieces: Tokenizer, target_pieces: Tokenizer, words: Iterable[str]
) -> None:
    """Write a model in half precision, both tokenizers, and the words that training had."""
    # On a copy: the translator goes on in full precision.
    weights = copy.deepcopy(model).half().state_dict()
    saved = {
        "config": asdict(model.config),
        "tokenizer": pieces.to_str(),
        "target_tokenizer": target_pieces.to_str(),
        "words": sorted(words),
        "weights": weights,
    }
    write_tensors(path, "translator", saved)


def read_translator(path: str | os.PathLike) -> tuple[CachedTransformer, Tokenizer, Tokenizer, list[str]]:
    """Return what `write_translator` was given; the model is a `CachedTransformer`, in evaluation mode."""
    if not Path(path).is_file():
        raise ValueError(f"there is no file {path}")
    with open_tensors(path, "translator") as saved:
        # Older files lack two of these.
        saved = {"target_tokenizer": saved["tokenizer"], "words": [], **saved}
        pieces, target_pieces = (stored_pieces(json.loads(saved[name])) for name in ("tokenizer", "target_tokenizer"))
        model = CachedTransformer(TransformerConfig(**sizes_of(saved["config"])))
        model.load_state_dict(renamed(saved["weights"]))
        return model.eval(), pieces, target_pieces, saved["words"]
