"""Chapter 19: each part is torch's, a model in pieces is the model at once, and a small Llama of another library is ours."""

import math

import pytest
import torch
from torch.testing import assert_close

from transformer_lib.language_model import (
    DecoderOnly,
    GroupedQueryAttention,
    LanguageModel,
    LanguageModelConfig,
    RMSNorm,
    SwiGLU,
    continue_text,
    our_name,
    rotate,
)
from transformer_lib.masks import assert_causal
from transformer_lib.teaching import record, smollm2
from transformer_lib.teaching.experiments import language_model as experiment
from transformer_lib.transformer import TransformerConfig

SIZES = {"target_vocab_size": 20, "d_model": 24, "num_layers": 2, "num_heads": 6, "d_ff": 48}
MODELS = {
    "2018": lambda: DecoderOnly(TransformerConfig(**SIZES)),
    "today": lambda: LanguageModel(experiment.SMALL),
    **{name: lambda n=n: experiment.changed(n + 1, experiment.SMALL) for n, name in enumerate(experiment.DIFFERENCES)},
}


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def test_each_part_is_torchs(capsys):
    experiment.compare_with_torch(RMSNorm, rotate, GroupedQueryAttention, SwiGLU)
    assert capsys.readouterr().out.count("equal: output and gradients") == 4


def test_a_rotation_by_hand():
    """Of four numbers the first two turn by 1 a place, the others by 1 / 100."""
    turned = rotate(torch.tensor([1.0, 0.0, 0.0, 1.0]).expand(1, 1, 3, 4), first=1)
    expected = [[math.cos(t), math.sin(t), -math.sin(t / 100), math.cos(t / 100)] for t in (1, 2, 3)]
    assert_close(turned[0, 0], torch.tensor(expected))
    x = torch.randn(1, 1, 400, 8)  # in half precision the angles are as fine as ever
    assert_close(rotate(x.bfloat16(), base=1e5).float(), rotate(x, base=1e5), rtol=0, atol=0.06)


def test_a_small_llama_of_another_library_gives_the_same_logits():
    """The other library computes its norms and its angles in float32, whatever the weights are in."""
    found = record("smollm2")["numbers"]["small llama"]
    model = LanguageModel(experiment.SMALL).double()
    model.load_state_dict(experiment.small_weights(model))
    assert_close(model(torch.tensor(found["tokens"])), torch.tensor(found["logits"], dtype=torch.float64), rtol=0, atol=2e-6)


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_no_token_sees_a_later_one(make):
    assert_causal(make().eval(), torch.randint(20, (2, 6)), run=None)


def test_in_pieces_as_at_once():
    model, tokens = LanguageModel(experiment.SMALL).double(), torch.randint(20, (2, 9))
    caches = model.start()
    pieces = [model.decode(piece, caches) for piece in tokens.split([4, 1, 1, 3], dim=1)]
    assert_close(torch.cat(pieces, dim=1), model(tokens))
    greedy = continue_text(model, tokens, 5, experiment.best)
    assert torch.equal(greedy[:, 9:], model(greedy)[:, 8:-1].argmax(dim=-1))


def test_ids_outside_the_vocabulary_are_refused():
    with pytest.raises(ValueError, match="tokens must hold ids in 0 … 19"):
        LanguageModel(experiment.SMALL)(torch.tensor([[20]]))


def test_each_weight_of_the_file_has_a_place():
    with torch.device("meta"):
        ours = LanguageModel(LanguageModelConfig()).state_dict()
    theirs = experiment.tensors_of_the_file()
    assert {our_name(name): shape for name, shape in theirs.items()} == {n: tuple(w.shape) for n, w in ours.items()}


def test_another_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TRANSFORMER_LIB_DATA", raising=False)
    assert smollm2.find_wheel() is None
    (tmp_path / smollm2.WHEEL).write_bytes(b"another")
    with pytest.raises(ValueError, match="is not the file that this chapter was made with"):
        smollm2.read_wheel(smollm2.find_wheel())
