"""The course's colours can be read and told apart, in both themes and by colour-blind readers."""

import itertools
import re

import pytest

from transformer_lib.teaching.figures.theme import COLOURS, stylesheet

ROLES = sorted(set(COLOURS) - {"ink", "muted"})
PAGES = ['html[data-theme="dark"]', 'body[data-jp-theme-light="false"]', 'html[theme="dark"]', "body.vscode-dark"]


def variables(rule):
    return dict(re.findall(r"--tl-([\w-]+):(#\w{6})", rule))


@pytest.fixture
def themes():
    light, dark = re.findall(r"\{([^}]*--tl-[^}]*)\}", stylesheet("tl-test", ""))
    return {"light": variables(light), "dark": variables(dark)}


def test_every_role_of_the_course_has_a_colour():
    assert ROLES == ["decoder", "encoder", "key", "mask", "position", "query", "residual", "value"]


@pytest.mark.parametrize("role", COLOURS)
def test_a_role_stands_out_from_white(role, colour):
    assert colour.contrast(COLOURS[role], "#ffffff") >= 3


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(ROLES, 2)))
@pytest.mark.parametrize("sight", ["full", "protanopia", "deuteranopia"])
def test_two_roles_stay_apart(one, other, sight, colour):
    # A distance of 2.3 is just noticeable; ten times that is told apart in thin lines too.
    one_seen, other_seen = colour.lab(COLOURS[one], sight), colour.lab(COLOURS[other], sight)
    assert sum((one_seen - other_seen) ** 2) ** 0.5 >= 25


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("text", "background"),
    [
        *itertools.product(["ink", "muted", "accent", "right", "wrong", "encoder", "decoder"], ["surface", "card"]),
        ("on-accent", "accent"),
    ],
)
def test_text_can_be_read(theme, text, background, themes, colour):
    assert colour.contrast(themes[theme][text], themes[theme][background]) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("line", ["line", "residual", "position"])
def test_lines_can_be_seen(theme, line, themes, colour):
    assert colour.contrast(themes[theme][line], themes[theme]["surface"]) >= 3


def test_both_themes_define_the_same_colours(themes):
    assert themes["light"].keys() == themes["dark"].keys()


def test_the_dark_colours_hold_on_every_kind_of_dark_page():
    selectors = re.search(r"\}([^{}]*)\{color-scheme:dark", stylesheet("tl-test", ""))[1].split(",")
    assert selectors == [f"{page} .tl-test" for page in PAGES]
