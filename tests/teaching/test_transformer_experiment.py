"""Chapter 10's small models: the whole one, one piece taken out, and another start."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from transformer_lib.teaching.experiments.transformer import PIECES, TRAINING, glued, small, without
from transformer_lib.teaching.record import record

SOURCE = torch.tensor([[5, 12, 12, 3], [4, 6, 7, 8]])
TARGET = torch.tensor([[1, 5, 12], [1, 4, 6]])


def test_nothing_taken_out_is_the_small_model():
    assert_close(without(None, 3)(SOURCE, TARGET), small(3)(SOURCE, TARGET))


@pytest.mark.parametrize("piece", PIECES)
def test_each_piece_is_missed_and_the_rest_starts_alike(piece):
    whole, lacking = small(0), without(piece, 0)
    assert lacking(SOURCE, TARGET).shape == (2, 3, 13)
    assert (lacking(SOURCE, TARGET) - whole(SOURCE, TARGET)).abs().max() > 1e-3
    assert_close(lacking.source_embedding.weight, whole.source_embedding.weight)


def changed(model, *, source=False, target=False):
    """Return how far the first output moves when the source's first word or the target's last one is another."""
    other_source, other_target = SOURCE.clone(), TARGET.clone()
    other_source[:, 0] = 9 if source else other_source[:, 0]
    other_target[:, -1] = 9 if target else other_target[:, -1]
    return (model(other_source, other_target) - model(SOURCE, TARGET))[:, 0].abs().max().item()


def test_what_a_piece_was_for_is_gone():
    assert changed(small(0), source=True) > 1e-3 and changed(without("cross-attention", 0), source=True) == 0
    assert changed(small(0), target=True) == 0 and changed(without("causal mask", 0), target=True) > 1e-3
    nowhere = without("positions", 0)
    assert_close(nowhere(SOURCE.flip(1), TARGET), nowhere(SOURCE, TARGET))
    alone = without("decoder's own attention", 0)
    assert_close(alone(SOURCE, TARGET[:, [1, 0, 2]])[:, 2], alone(SOURCE, TARGET)[:, 2])


def test_the_encoder_without_attention_takes_each_word_alone():
    lacking = without("encoder's attention", 0)
    other = SOURCE.clone()
    other[:, 0] = 9
    moved = (lacking.start(other).memory - lacking.start(SOURCE).memory).abs().amax(dim=(0, 2))
    assert moved[0] > 1e-3 and moved[1:].eq(0).all()


def test_the_frame_without_its_plus_or_its_norm():
    x = torch.randn(1, 4, 32)
    no_plus, no_norm = (without(piece, 0).encoder.layers[0].attention_residual for piece in ("plus", "norm"))
    assert_close(no_plus(x, lambda x: 2 * x), nn.functional.layer_norm(2 * x, (32,)))
    assert_close(no_norm(x, lambda x: 2 * x), 3 * x)


def test_an_unknown_piece_is_refused():
    with pytest.raises(ValueError, match="expected None or one of positions"):
        without("wheels", 0)


def test_the_glued_start_is_large_and_tied():
    model = glued(0)
    assert model.output.weight is model.source_embedding.weight is model.target_embedding.weight
    assert abs(model.output.weight.std() - 1) < 0.1
    assert_close(model.source_embedding(SOURCE), model.output.weight[SOURCE])
    assert model(SOURCE, TARGET).shape == (2, 3, 13)


def test_the_record_is_of_these_models():
    made = record("copy_pieces")
    assert made["settings"]["training"] == TRAINING
    assert list(made["numbers"]) == ["whole", *(f"without: {piece}" for piece in PIECES), "glued"]
