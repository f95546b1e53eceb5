"""What every chapter has. The committed notebooks are read as they are; nothing is executed."""

import ast
import re

import pytest
from nbval.plugin import get_sanitize_patterns
from reading import (
    CHAPTERS,
    PAGES,
    PYTHON_BLOCK,
    cells_of,
    exercises,
    is_exported,
    output_texts,
    prose,
    solution_code,
    tags,
    tree,
)

from tools import notebooks
from transformer_lib.teaching import chapter_quiz

EXEMPT = {"nbval-ignore-output", "nbval-skip", "skip-execution"}


@pytest.fixture(params=PAGES, ids=lambda path: path.stem + "-deeper" * (path.parent.name == "deeper"))
def path(request):
    return request.param


@pytest.fixture(params=CHAPTERS, ids=lambda path: path.stem)
def chapter(request):
    return request.param


@pytest.fixture
def notebook(path):
    return notebooks.read(path)


@pytest.fixture
def code(notebook):
    return cells_of(notebook, "code")


def test_one_clean_run_from_top_to_bottom(notebook, code):
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1)), "run it with `make run`"
    failed = [cell.id for cell in code if any(output.output_type == "error" for output in cell.outputs)]
    assert failed == [cell.id for cell in code if "raises-exception" in tags(cell)]
    assert notebook.metadata == notebooks.METADATA


def test_cell_ids_are_words(notebook):
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert not [i for i in ids if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", i) or re.fullmatch(r"[0-9a-f-]{6,}", i)]


def test_title_and_the_same_set_up_come_first(path, notebook):
    title, badge, set_up = notebook.cells[:3]
    name = "Going deeper" if path.parent.name == "deeper" else f"{int(path.stem[:2])}"
    assert re.match(rf"# {name} · .+ \(.*[가-힣].*\)\n\n> [^\n]+", title.source)
    assert (badge.id, tags(badge), set_up.id, tags(set_up)) == ("colab-badge", ["remove-cell"], "set-up", ["remove-cell"])
    _, same_badge, same_set_up = notebooks.read(CHAPTERS[0]).cells[:3]
    module = "" if path.parent.name == "deeper" else f"#| default_exp {notebooks.module_name(path)}\n"
    assert badge.source == same_badge.source
    assert set_up.source == module + same_set_up.source.partition("\n")[2]


def test_the_page_that_make_lab_opens_lists_the_chapters():
    page = (notebooks.FOLDER / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((\d\d_\w+\.ipynb)\)", page) == [path.name for path in CHAPTERS]


def test_nearly_every_output_is_compared(code):
    exempt = sum(len(cell.outputs) for cell in code if EXEMPT & set(tags(cell)))
    assert exempt <= 0.2 * sum(len(cell.outputs) for cell in code)
    assert not [cell.id for cell in code if re.search(r"NBVAL_(IGNORE_OUTPUT|SKIP)", cell.source)]


def sanitized(text):
    rules = (notebooks.ROOT / "tests" / "nbval_sanitize.cfg").read_text(encoding="utf-8")
    for pattern, replacement in get_sanitize_patterns(rules):
        text = re.sub(pattern, replacement, text)
    return text


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a    ≈ 9.75  b", "a   ≈ 10.25  b", True),
        ("≈ 1,234 and ≈ -1.5e-07", "≈ 998 and ≈ 2e-6", True),
        ("right ≈ 3 of 36 words", "right ≈ 12 of 36 words", True),
        ("loss 0.98", "loss 0.97", False),
        ("loss ≈ nan", "loss ≈ 0.98", False),
        ("≈ 1 of 3, 5 left", "≈ 1 of 3, 6 left", False),
    ],
)
def test_only_the_number_after_the_sign_may_differ(one, other, same):
    assert (sanitized(one) == sanitized(other)) is same


def test_a_measured_number_is_held_by_an_assert(code):
    """In the cell that writes it; what a function of `teaching` prints is held there."""
    measured = [cell for cell in code if any("≈" in text for _, text in output_texts(cell)) and "≈" in cell.source]
    assert not [cell.id for cell in measured if not re.search(r"^\s*assert |assert_close\(", cell.source, re.MULTILINE)]


def test_folded_code_is_folded_everywhere(code):
    """On the site by its tag, in JupyterLab and Colab by metadata."""
    for cell in code:
        assert {key: value for key, value in cell.metadata.items() if key != "tags"} == notebooks.folding(cell), cell.id


def test_plain_markdown(notebook):
    """Colab shows MyST's directives, roles and labels as raw text."""
    myst = re.compile(r"^\s*(`{3,}|:{3,}|~{3,})\{|\{[a-z][\w:.-]*\}`|^\([\w-]+\)=\s*$|^\+\+\+", re.MULTILINE)
    for cell in cells_of(notebook, "markdown"):
        assert not myst.search(cell.source) and "```" not in prose(cell), cell.id


def test_nothing_needs_another_host(notebook, code):
    loads = re.compile(
        r"<(iframe|object|embed|link)\b|@import|\b(src|srcset|data|xlink:href)\s*=\s*[\"']?\s*(https?:)?//|url\(\W*https?:"
    )
    texts = [(cell.id, text) for cell in code for _, text in output_texts(cell)]
    texts += [(cell.id, cell.source) for cell in cells_of(notebook, "markdown")]
    assert not [i for i, text in texts if loads.search(text) or re.search(r"!\[[^\]]*\]\(\s*(https?:)?//", text)]


def test_outputs_name_no_path_and_no_object(code):
    leftover = re.compile(
        r"0x[0-9a-f]{6,}|<matplotlib|^<(Axes|Figure)\b|^(Text|Axes)\(|site-packages|(?<=[\s\"'(])/\w+/\w+", re.M
    )
    shown = [(cell.id, kind, text) for cell in code for kind, text in output_texts(cell)]
    assert not [i for i, kind, text in shown if kind in ("text/plain", "stdout", "stderr") and leftover.search(text)]


def test_images_say_what_they_show(code):
    """The text beside an image is its alt text on the site."""
    images = [output.data for cell in code for output in cell.outputs if "image/png" in output.get("data", {})]
    assert not [data["text/plain"] for data in images if len(data["text/plain"]) < 30 or "<" in data["text/plain"]]


def test_code_fits_the_page(notebook, code):
    blocks = [cell.source for cell in code]
    blocks += [block for cell in cells_of(notebook, "markdown") for block in PYTHON_BLOCK.findall(cell.source)]
    assert not [line for block in blocks for line in block.splitlines() if len(line) > 88]


def test_one_class_or_function_family_in_an_exported_cell(path, notebook):
    for cell in filter(is_exported, notebook.cells):
        assert cell.source.startswith("#| export\n") and tree(cell).body, cell.id


def test_exercises(chapter):
    found = exercises(notebooks.read(chapter))
    assert len(found) >= 3
    for name, stub, after in found:
        assert "NotImplementedError" in stub.source, name
        assert any("not attempted yet" in text for _, text in output_texts(stub)), name
        (solution,) = solution_code(after)
        assert name in [node.name for node in ast.parse(solution).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]


def test_quiz(chapter):
    """One cell shows the chapter's quiz; its questions stand outside, where the answers are not above the cards."""
    name, code = notebooks.module_name(chapter), cells_of(notebooks.read(chapter), "code")
    assert [cell.source for cell in code if "chapter_quiz(" in cell.source] == [f'# @title The quiz\nchapter_quiz("{name}")']
    assert len(chapter_quiz(name).questions) >= 3
