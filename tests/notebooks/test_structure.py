"""The shape that every chapter has. Each test reads the committed notebooks as they are; nothing is executed."""

import ast
import configparser
import re

import nbformat
import pytest
from comparisons import bare_comparisons
from nbval.plugin import get_sanitize_patterns
from reading import (
    CHAPTERS,
    PYTHON_BLOCK,
    WITHOUT_MODULE,
    cells_of,
    exercises,
    headings,
    holds_only_imports,
    is_exported,
    output_texts,
    prose,
    solution_code,
    tags,
    tree,
)

from tools import minutes, notebooks
from transformer_lib.teaching import chapter_quiz
from transformer_lib.teaching.figures import live

LONGEST_CODE_LINE = 88
MOST_EXEMPT = 0.20
# Of a chapter that is not yet in two parts.
EARLIER_ARC = [
    "Where we are",
    "What breaks without it",
    "The idea by hand",
    "The naive version",
    "The component",
    "Proof",
    "See it",
    "What it buys",
    "Exercises",
    "Quiz",
    "What to remember",
]

EXEMPTING_TAGS = {"nbval-ignore-output", "nbval-skip", "skip-execution"}
EXEMPTING_COMMENT = re.compile(r"^\s*#+\s*(NBVAL_IGNORE_OUTPUT|NBVAL_SKIP|PYTEST_VALIDATE_IGNORE_OUTPUT)\s*$", re.M)


@pytest.fixture(params=CHAPTERS, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture
def notebook(path):
    return notebooks.read(path)


def test_there_is_a_notebook():
    assert CHAPTERS
    stray = set(notebooks.FOLDER.glob("*.ipynb")) - set(CHAPTERS)
    assert not stray, f"a chapter's name is NN_stem.ipynb, and these are not: {stray}"


def test_file_is_laid_out_as_the_tools_write_it(path, notebook):
    assert path.read_text(encoding="utf-8") == notebooks.as_text(notebook), "run `make tidy NB=...`"
    assert notebook.metadata == notebooks.METADATA
    known = {"tags", "jupyter", "cellView"}
    extra = {cell.id: sorted(cell.metadata) for cell in notebook.cells if set(cell.metadata) - known}
    assert not extra, "`make tidy` keeps no cell metadata but the tags and what folds the cell"


def test_one_clean_run_from_top_to_bottom(notebook):
    counts = [cell.execution_count for cell in cells_of(notebook, "code") if cell.source.strip()]
    assert counts == list(range(1, len(counts) + 1)), "run it with `make run`"


def test_no_cell_failed(notebook):
    failed = [
        cell.id
        for cell in cells_of(notebook, "code")
        if "raises-exception" not in tags(cell) and any(output.output_type == "error" for output in cell.outputs)
    ]
    assert not failed


def test_cell_ids_are_words(notebook):
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    random = [i for i in ids if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", i) or re.fullmatch(r"[0-9a-f-]{6,}", i)]
    # Eight characters with a digit among letters are what an editor makes up.
    random += [i for i in ids if len(i) == 8 and re.search(r"[a-z]\d+[a-z]|\d[a-z]+\d", i)]
    assert not random, "a cell's id is words joined by hyphens, such as causal-mask"
    assert all(re.search(r"[a-z]{2}", i) for i in ids)


def test_title_and_summary(path, notebook):
    assert len(headings(notebook, 1)) == 1
    title = notebook.cells[0]
    assert title.id == "title" and title.cell_type == "markdown"
    form = rf"# {int(path.stem[:2])} · .+ \(.*[가-힣].*\)\n\n> [^\n]+"
    assert re.fullmatch(form, title.source.strip()), "the form: `# 5 · Title (한국어)`, an empty line, `> summary`"


@pytest.mark.parametrize("edition", ["", "ko"])
def test_the_page_that_make_lab_opens_lists_the_chapters(edition):
    """In their order, each with its title and its line, as its own first cell has them."""
    chapters = [path.parents[1] / edition / "notebooks" / path.name for path in CHAPTERS]
    page = (chapters[0].parent / "README.md").read_text(encoding="utf-8")
    rows = []
    for path in chapters:
        title, line = nbformat.read(path, 4).cells[0].source.split("\n\n")[:2]
        number, name = title.removeprefix("# ").split(" · ", 1)
        rows.append(f"| {number} | [{name}]({path.name}) | {line.removeprefix('> ')} |\n")
    assert "".join(rows) in page
    assert "notebooks/README.md" in (CHAPTERS[0].parents[1] / "Makefile").read_text(encoding="utf-8")


def test_address_cells_come_second_and_third(notebook):
    badge, set_up = notebook.cells[1:3]
    assert (badge.id, badge.cell_type, tags(badge)) == ("colab-badge", "markdown", ["remove-cell"])
    assert (set_up.id, set_up.cell_type, tags(set_up)) == ("set-up", "code", ["remove-cell"])
    assert not set_up.outputs


def test_chapter_arc(notebook):
    found = [heading.split(":")[0] for heading in headings(notebook, 2)]
    assert found == (ARC if found[-1] == "Workshop" else EARLIER_ARC)


def test_the_minutes_under_the_title_are_counted(notebook):
    (line,) = (found for cell in cells_of(notebook, "markdown") if (found := minutes.LINE.search(cell.source)))
    if line[3]:
        assert tuple(map(int, line.groups())) == minutes.chapter_minutes(notebook), "run `make tidy NB=...`"


@pytest.mark.pitfall(33)
def test_no_bare_comparison(notebook):
    """A printed `True` does not stop anything when it turns `False`."""
    found = {cell.id: lines for cell in cells_of(notebook, "code") if (lines := bare_comparisons(tree(cell)))}
    for cell in cells_of(notebook, "markdown"):
        for code in PYTHON_BLOCK.findall(cell.source):
            if lines := bare_comparisons(ast.parse(code)):
                found[cell.id] = lines
    assert not found, "use `assert` or `torch.testing.assert_close`"


@pytest.mark.pitfall(33)
def test_no_output_is_only_a_truth_value(notebook):
    """The same for the ways of printing one that the syntax does not show."""
    answer = re.compile(r"^\W*(tensor\()?\W*(True|False)\W*$", re.MULTILINE)
    found = {cell.id for cell in cells_of(notebook, "code") for _, text in output_texts(cell) if answer.search(text)}
    assert not found


def test_nearly_every_output_is_compared(notebook):
    outputs = exempt = 0
    for cell in cells_of(notebook, "code"):
        outputs += len(cell.outputs)
        if EXEMPTING_TAGS & set(tags(cell)) or EXEMPTING_COMMENT.search(cell.source):
            exempt += len(cell.outputs)
    assert outputs
    assert exempt <= MOST_EXEMPT * outputs


def sanitized(text):
    """Return `text` as nbval compares it."""
    rules = (notebooks.ROOT / "tests" / "nbval_sanitize.cfg").read_text(encoding="utf-8")
    for pattern, replacement in get_sanitize_patterns(rules):
        text = re.sub(pattern, replacement, text)
    return text


@pytest.mark.pitfall(34)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("loss ≈ 0.98", "loss ≈ 1.02"),
        ("right ≈ 3 of 36 words", "right ≈ 12 of 36 words"),
        ("≈ -1.5e-07", "≈ 2e-6"),
        ("a    ≈ 9.75  b", "a   ≈ 10.25  b"),
        ("≈ 1,234 and ≈ 7", "≈ 998 and ≈ 12"),
        ("≈    9.75 nats", "≈ -110.25 nats"),
        ("≈ 9 of 10, then", "≈ 10 of 11, then"),
    ],
)
def test_a_measured_number_may_differ(one, other):
    assert sanitized(one) == sanitized(other)


@pytest.mark.pitfall(34)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("loss 0.98", "loss 0.97"),
        ("loss ≈ 0.98 nats", "loss ≈ 0.98 bits"),
        ("loss ≈ nan", "loss ≈ 0.98"),
        ("loss ≈ 0.98\n", "loss ≈ 0.98"),
        ("≈ 1 of 3, 5 left", "≈ 1 of 3, 6 left"),
        ("≈ 1 5", "≈ 1 6"),
        ("≈ 1,5", "≈ 1,6"),
        ("≈ 3, then", "≈ 3 then"),
        ("≈ 3 of 36", "≈ 3"),
        ("≈ 3 of 36", "≈ 3 of them"),
        ("≈ 98 %", "≈ 98"),
        ("≈ few", "≈ many"),
        ("≈\n1", "≈ 1"),
        ("1 ≈ 2", "3 ≈ 2"),
    ],
)
def test_everything_else_is_compared(one, other):
    assert sanitized(one) != sanitized(other)


def test_one_rule_blots_out():
    rules = configparser.ConfigParser()
    assert rules.read(notebooks.ROOT / "tests" / "nbval_sanitize.cfg")
    assert rules.sections() == ["measured number"]


def test_a_measured_number_is_held_by_an_assert(notebook):
    """Its digits are not compared, so the cell that prints it must hold it."""
    loose = [
        cell.id
        for cell in cells_of(notebook, "code")
        if any("≈" in text for _, text in output_texts(cell))
        and "chapter_quiz(" not in cell.source
        and not re.search(r"^\s*assert |assert_close\(", cell.source, re.MULTILINE)
    ]
    assert not loose


def test_folded_code_is_folded_everywhere(notebook):
    """On the site by its tag, in JupyterLab and Colab by metadata; Colab folds a cell only if it has a title."""
    wrong = {
        cell.id: dict(cell.metadata)
        for cell in cells_of(notebook, "code")
        if {key: value for key, value in cell.metadata.items() if key != "tags"} != notebooks.folding(cell)
    }
    assert not wrong, "run `make tidy NB=...`"
    untitled = [
        cell.id
        for cell in cells_of(notebook, "code")
        if {"hide-input", "remove-input"} & set(tags(cell)) and not cell.source.startswith(("# @title ", "#| export"))
    ]
    assert not untitled, "the first line of a folded cell is `# @title` and what it draws or does"


def test_maps_keep_their_white(notebook):
    """In the dark theme figures are turned over: where the brightest is the largest, it would then be the smallest."""
    drawing = re.compile(r"\b(heatmap|attention_map|imshow)\(")
    named = re.compile(r"\b(bright|dark)", re.IGNORECASE)
    turned = []
    for cell in cells_of(notebook, "code"):
        figures = [output for output in cell.outputs if "image/png" in output.get("data", {})]
        alt = " ".join(output.data.get("text/plain", "") for output in figures)
        if figures and (drawing.search(cell.source) or named.search(alt)) and "keep-white" not in tags(cell):
            turned.append(cell.id)
    assert not turned, "these need the tag `keep-white`"


def is_plumbing(cell):
    """Whether a cell defines no component: names for types, helpers that begin with `_`, Protocols, dataclasses of settings."""

    def plumbing(node):
        said = map(ast.unparse, [*node.decorator_list, *getattr(node, "bases", [])])
        settings = any("dataclass" in word or "Protocol" in word for word in said)
        return settings if isinstance(node, ast.ClassDef) else node.name.startswith("_")

    return all(map(plumbing, (node for node in tree(cell).body if isinstance(node, ast.ClassDef | ast.FunctionDef))))


def test_the_component_is_not_folded_in_silence(notebook):
    """What says nothing new may be folded, where the text before it says so: `Name` (folded …)."""
    said, silent = "", []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            said = cell.source
        elif is_exported(cell) and not is_plumbing(cell) and notebooks.FOLDED & set(tags(cell)):
            names = (node.name for node in tree(cell).body if isinstance(node, ast.ClassDef | ast.FunctionDef))
            silent += [name for name in names if not name.startswith("_") and not re.search(rf"`{name}`\s\(folded\b", said)]
    assert not silent


def test_plain_markdown(notebook):
    """Colab shows MyST's directives and roles as raw text."""
    myst = re.compile(
        r"^\s*(`{3,}|:{3,}|~{3,})\{"  # ```{note}
        r"|\{[a-z][\w:.-]*\}`"  # {doc}`...`
        r"|^\([\w-]+\)=\s*$"  # (label)=
        r"|\$\$[ ]*\([\w:.-]+\)"  # $$ ... $$ (label)
        r"|^\+\+\+"
        r"|^:{3,}",
        re.MULTILINE,
    )
    found = {cell.id: m[0] for cell in cells_of(notebook, "markdown") if (m := myst.search(cell.source))}
    assert not found


def without_our_script(cell, text):
    """Return the text of an output; that of a figure which answers, as the library makes it now, without its `<script>`."""
    figure = re.search(r"^live\.\w+\(.*\)$", cell.source, re.MULTILINE)
    if figure and text == eval(figure[0], {"live": live})._repr_html_():
        return text.replace("<script>", "", 1)
    return text


def test_no_output_needs_another_host_or_a_script(notebook):
    loads = re.compile(
        r"<script|<iframe|<object|<embed|<link\b|@import"
        r"|\b(src|srcset|poster|data|xlink:href)\s*=\s*[\"']?\s*(https?:)?//"
        r"|url\(\s*[\"']?(https?:)?//",
        re.IGNORECASE,
    )
    found = {}
    for cell in cells_of(notebook, "code"):
        for kind, text in output_texts(cell):
            if "widget" in kind or "javascript" in kind or (hit := loads.search(without_our_script(cell, text))):
                found[cell.id] = kind if "widget" in kind or "javascript" in kind else hit[0]
    for cell in cells_of(notebook, "markdown"):
        if (hit := loads.search(cell.source)) or (hit := re.search(r"!\[[^\]]*\]\(\s*(https?:)?//", cell.source)):
            found[cell.id] = hit[0]
    assert not found


def test_no_path_of_a_machine(notebook):
    path = re.compile(r"(?:^|[\s\"'(=`])(/[A-Za-z][\w.-]*/[\w.-]+|[A-Z]:\\\w+)|site-packages", re.MULTILINE)
    found = {}
    for cell in notebook.cells:
        texts = [cell.source]
        if cell.cell_type == "code":
            texts += [text for _, text in output_texts(cell)]
            texts += ["\n".join(output.traceback) for output in cell.outputs if output.output_type == "error"]
        for text in texts:
            if hit := path.search(text):
                found[cell.id] = hit[0]
    assert not found


def test_outputs_show_no_object_by_its_address(notebook):
    leftover = re.compile(r"0x[0-9a-f]{6,}|^\[?<matplotlib|^<(Axes|Figure)\b|^(Text|Axes)\(", re.MULTILINE)
    found = {
        cell.id: hit[0]
        for cell in cells_of(notebook, "code")
        for kind, text in output_texts(cell)
        if kind in ("text/plain", "stdout", "stderr") and (hit := leftover.search(text))
    }
    assert not found, "end a plotting cell with a call that returns nothing, such as plt.show()"


def test_images_say_what_they_show(notebook):
    """The text beside an image is its alt text on the site, and the only part of it that nbval compares."""
    found = []
    for cell in cells_of(notebook, "code"):
        for output in cell.outputs:
            data = output.get("data", {})
            said = data.get("text/plain", "").strip("'\" \n")
            if {"image/png", "image/jpeg"} & set(data) and (len(said) < 30 or " " not in said or "<" in said):
                found.append((cell.id, said))
    assert not found


def test_code_fits_the_page(notebook):
    code = [(cell.id, cell.source) for cell in cells_of(notebook, "code")]
    code += [(c.id, block) for c in cells_of(notebook, "markdown") for block in PYTHON_BLOCK.findall(c.source)]
    long = [(i, line) for i, source in code for line in source.splitlines() if len(line) > LONGEST_CODE_LINE]
    assert not long


def exported_cells(path, notebook):
    exported = [cell for cell in notebook.cells if is_exported(cell)]
    if notebooks.module_name(path) in WITHOUT_MODULE:
        pytest.skip("this chapter exports nothing")
    assert exported
    return exported


def test_export_marks(path, notebook):
    exported = exported_cells(path, notebook)
    marked = [cell for cell in notebook.cells if re.search(r"^\s*#\s*\|\s*export", cell.source, re.MULTILINE)]
    assert marked == exported, "the mark is `#| export`, in the first line"
    assert holds_only_imports(exported[0]), "the first exported cell holds the module's imports"
    imports = [
        cell.id for cell in exported[1:] if any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree(cell)))
    ]
    assert not imports, "the first exported cell holds all of the module's imports"


def test_exercises(notebook):
    found = exercises(notebook)
    assert 3 <= len(found) <= 6
    for name, stub, after in found:
        (function,) = [node for node in tree(stub).body if isinstance(node, ast.FunctionDef)]
        assert function.name == name
        assert "NotImplementedError" in ast.unparse(function), f"the stub of {name} is not written yet by definition"
        (code,) = solution_code(after)
        assert name in [node.name for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)]
        assert "NotImplementedError" not in code

    text = "\n".join(cell.source for cell in cells_of(notebook, "markdown"))
    exercise_texts = re.findall(r"^### Exercise (\d+) · \S.*\n((?:(?!^##).*\n?)*)", text, re.MULTILINE)
    assert [int(number) for number, _ in exercise_texts] == list(range(1, len(found) + 1))
    for number, body in exercise_texts:
        form = r"^\W*Difficulty: .*\d+ minutes"
        assert re.search(form, body, re.MULTILINE), f"exercise {number} needs a line `Difficulty: easy · 10 minutes`"


def test_every_stub_says_not_attempted_yet(notebook):
    for name, stub, _ in exercises(notebook):
        (text,) = [text for _, text in output_texts(stub)]
        assert "not attempted yet" in text, name


def test_quiz(path, notebook):
    """One cell shows the chapter's quiz; its questions stand outside, where the answers are not above the cards."""
    calls = [cell.source for cell in cells_of(notebook, "code") if "chapter_quiz(" in cell.source]
    assert calls == [f'# @title The quiz\nchapter_quiz("{notebooks.module_name(path)}")']
    assert len(chapter_quiz(notebooks.module_name(path)).questions) >= 3


def test_code_fences_close(notebook):
    """An open fence would swallow the headings that the tests above look for."""
    for cell in cells_of(notebook, "markdown"):
        assert cell.source.count("```") % 2 == 0, cell.id
        assert "```" not in prose(cell), cell.id
