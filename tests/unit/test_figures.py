"""Figures: shown once with words beside them, axes that cannot be mixed up, the course's map."""

import io
import json
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.text import Text
from PIL import Image
from torch import nn
from torch.testing import assert_close

from transformer_lib import _language
from transformer_lib.attention import MultiHeadAttention
from transformer_lib.decoding import attend, keys_and_values
from transformer_lib.teaching import capture_attention, figures
from transformer_lib.teaching.figures import live, plots
from transformer_lib.teaching.figures.live.figure import in_language

LABELS = {"title": "A map", "x_label": "column", "y_label": "row", "x_ticks": "ab", "y_ticks": "cd"}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_a_figure_is_shown_once_with_its_words_and_can_be_read_on_a_phone(monkeypatch):
    shown = []
    monkeypatch.setattr(plots, "display", lambda data, **settings: shown.append(SimpleNamespace(data=data, **settings)))
    for _ in range(2):
        figure, (left, right) = figures.subplots(columns=2, width=4.8)
        figures.heatmap(left, np.zeros((2, 2)), **LABELS)
        right.text(0, 0, "tiny", size=4)
        figures.show(figure, alt="A map\n  and a plot.")
    assert shown[0].data == shown[1].data  # the same bytes on every run
    assert shown[0].data["text/plain"] == "A map and a plot." and not plt.get_fignums()
    width = shown[0].metadata["image/png"]["width"]
    assert Image.open(io.BytesIO(shown[0].data["image/png"])).width == 2 * width
    # Nine CSS pixels, where a window of 390 leaves 340 to the figure.
    assert min(text.get_size() * 100 / 72 * 340 / width for text in figure.findobj(Text) if text.get_text()) >= 8.999
    with pytest.raises(ValueError, match="alt is empty"):
        figures.show(figures.subplots()[0], alt=" ")


def test_a_figure_that_answers_speaks_korean_made_so_or_from_its_stored_english(monkeypatch):
    english = live.attention_steps("cross")._repr_html_()
    assert "const words = {}\n" in english and in_language(english) == english
    title, note = "The target asks, the source answers", "The values come from the memory."
    korean = {title: "타깃이 묻고 소스가 답합니다", note: "값은 메모리에서 옵니다.", "back": "이전", "no such text": "없음"}
    korean |= {"${number} of ${values.length}": "${values.length} 중 ${number}", "mixture": "혼합", "vache": "소"}
    monkeypatch.setattr(_language, "catalogue", {"en": {}, "ko": korean}.get)
    monkeypatch.setenv("TRANSFORMER_LIB_LANGUAGE", "ko")
    figure = live.attention_steps("cross")._repr_html_()
    words = json.loads(figure.partition("const words = ")[2].partition("\n")[0])
    assert words == {note: korean[note], "back": "이전", "{} of {}": "{1} 중 {0}", "mixture": "혼합"}
    assert f"<figcaption>{korean[title]}</figcaption>" in figure and '"vache"' in figure
    assert in_language(english) == figure


class Backwards(MultiHeadAttention):
    """What it looks at is not what the projections say."""

    def look_up(self, q, k, v, mask):
        return super().look_up(q, k.flip(2), v, mask)


def test_it_keeps_the_masked_weights_that_each_layer_used():
    torch.manual_seed(0)
    model = nn.ModuleDict({"first": MultiHeadAttention(8, 2), "second": Backwards(8, 4)})
    x, memory, mask = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.tensor([[[[True, True, False, True, False]]]])
    with pytest.raises(KeyError), capture_attention(model) as kept:
        output = model["first"](x, memory, memory, mask)
        model["second"](x, memory, memory)
        raise KeyError
    assert_close(kept["first"], model["first"].weights)
    assert_close(kept["second"], model["second"].weights)
    assert not kept["first"].requires_grad and not kept["first"].masked_select(~mask).any()
    assert_close(output, model["first"](x, memory, memory, mask))
    before = {name: weights.clone() for name, weights in kept.items()}
    model["first"](x, x, x)
    assert_close(kept, before)  # the model is left as it was
    with capture_attention(model["first"]) as pieces:  # a model with a cache calls it in pieces
        attend(model["first"], x, keys_and_values(model["first"], memory), mask)
    assert_close(pieces[""], kept["first"])
    with pytest.raises(ValueError, match="must contain a MultiHeadAttention"), capture_attention(nn.Linear(2, 2)):
        pass
