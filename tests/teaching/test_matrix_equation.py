"""Matrix equations: to scale, numbers written, shapes beside them, learned ones dashed."""

import numpy as np
import pytest
import torch
from matplotlib.patches import Rectangle

from transformer_lib.teaching.figures import Matrix, matrix_equation
from transformer_lib.teaching.figures.plots import png

pytestmark = pytest.mark.usefixtures("close_figures")


def parts(figure):
    (axes,) = figure.axes
    rectangles = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    borders = [patch for patch in rectangles if not patch.get_fill()]
    squares = [patch for patch in rectangles if patch.get_fill()]
    return borders, squares, [text.get_text() for text in axes.texts]


X = Matrix("X", [[1.0, 2.0, -3.04], [0.0, -0.04, 6.0]])
W = Matrix("W", torch.ones(3, 4, requires_grad=True), learnable=True)


def test_every_number_is_one_square_of_the_same_size():
    figure = matrix_equation([[X, "·", W], ["=", Matrix("Y", np.zeros((2, 4)))]], title="Scale", cell=0.3)
    borders, squares, _ = parts(figure)
    assert len(squares) == 2 * 3 + 3 * 4 + 2 * 4
    assert {(round(s.get_width(), 9), round(s.get_height(), 9)) for s in squares} == {(0.3, 0.3)}
    assert [(round(b.get_width() / 0.3), round(b.get_height() / 0.3)) for b in borders] == [(3, 2), (4, 3), (4, 2)]
    (axes,) = figure.axes
    # One unit of the axes is one inch of the figure, so a square has the same size in each figure.
    assert axes.get_position().bounds == (0, 0, 1, 1)
    assert np.allclose(figure.get_size_inches(), (axes.get_xlim()[1], axes.get_ylim()[0]))


def test_squares_lie_inside_the_border_of_their_matrix_row_by_row():
    figure = matrix_equation([[X]], title="One")
    (border,), squares, _ = parts(figure)
    left, top = border.get_xy()
    assert np.allclose(squares[0].get_xy(), (left, top))
    assert np.allclose(squares[1].get_xy(), (left + 0.3, top))
    assert np.allclose(squares[-1].get_xy(), (left + 2 * 0.3, top + 0.3))


def test_only_learnable_matrices_are_dashed():
    borders, _, _ = parts(matrix_equation([[X, "·", W]], title="Border"))
    assert [border.get_linestyle() != "-" and border._dash_pattern[1] is not None for border in borders] == [False, True]


def test_names_shapes_numbers_and_signs_are_written():
    _, _, texts = parts(matrix_equation([[X, "·", W]], title="The title"))
    for text in ("The title", "X", "(2, 3)", "W", "(3, 4)", "·", "1.0", "–3.0", "6.0"):
        assert text in texts
    assert texts.count("0.0") == 2, "-0.04 is 0.0, without a minus sign"
    _, _, texts = parts(matrix_equation([[X]], title="Digits", digits=2))
    assert "–3.04" in texts


def test_a_vector_is_one_row_and_says_its_own_shape():
    borders, squares, texts = parts(matrix_equation([[Matrix("b", [1.0, 2.0, 3.0])]], title="Vector"))
    assert len(squares) == 3
    assert borders[0].get_width() == pytest.approx(3 * borders[0].get_height())
    assert "(3,)" in texts


def test_without_numbers_only_outlines_to_scale():
    borders, squares, texts = parts(
        matrix_equation([[Matrix("W", np.ones((512, 2048)), True)]], title="Large", numbers=False, cell=0.001)
    )
    assert (borders[0].get_width(), borders[0].get_height()) == pytest.approx((2.048, 0.512))
    assert len(squares) == 1
    assert set(texts) == {"Large", "W", "(512, 2048)"}


def test_nothing_is_drawn_over_its_neighbour():
    borders, _, _ = parts(matrix_equation([[X, "·", W], [W, "+", X]], title="Apart"))
    for index, one in enumerate(borders):
        for other in borders[index + 1 :]:
            assert not one.get_bbox().overlaps(other.get_bbox())


def test_a_row_too_wide_for_a_phone_goes_on_below_from_a_sign():
    wide = Matrix("A", np.ones((2, 8)))
    figure = matrix_equation([[wide, "+", wide, "=", Matrix("B", np.ones((2, 2)))]], title="A title that is long" * 4)
    (axes,) = figure.axes
    signs = {text.get_text(): text.get_position() for text in axes.texts if text.get_text() in "+="}
    first, second, third = (border.get_xy() for border in parts(figure)[0])
    assert first[1] < second[1] == third[1]
    assert signs["+"][0] < second[0] and signs["+"][1] > second[1]
    assert second[0] < signs["="][0] < third[0]
    assert figure.get_figwidth() <= 4.7
    (title,) = (text for text in axes.texts if text.get_weight() == "bold")
    assert title.get_window_extent(figure.canvas.get_renderer()).x1 <= figure.bbox.x1
    sizes = {text.get_size() for text in axes.texts}
    png(figure)
    assert {text.get_size() for text in axes.texts} == sizes, "each text can be read on a phone as it is"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "rows is empty"),
        ([[]], "rows is empty"),
        ([[Matrix("T", np.zeros((2, 2, 2)))]], r"T has shape \(2, 2, 2\)"),
        ([[Matrix("E", np.zeros((0, 2)))]], r"E has shape \(0, 2\)"),
        ([[Matrix("S", 1.0)]], r"S has shape \(\)"),
    ],
)
def test_what_cannot_be_drawn_is_refused(rows, message):
    with pytest.raises(ValueError, match=message):
        matrix_equation(rows, title="Wrong")
