"""Weights for a script in the page to read, in half precision; tensors.js reads them."""

import base64

from torch import Tensor


def in_half_precision(parameters: dict[str, Tensor]) -> dict:
    """Return the shapes and numbers of `parameters`, low byte first, in base64; a vector is a matrix with one row."""
    matrices = {name: value.detach().half().reshape(-1, value.size(-1)) for name, value in parameters.items()}
    numbers = b"".join(value.numpy().astype("<f2").tobytes() for value in matrices.values())
    return {
        "shapes": [[name, *value.shape] for name, value in matrices.items()],
        "weights": base64.b64encode(numbers).decode(),
    }
