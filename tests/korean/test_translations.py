"""The Korean edition is in step with the English course: each message translated as it has to be, and what is made of it new.

What is not translated yet stands in `locales/ko/OPEN`, by name. The list can only get shorter.
"""

import pytest

from tools import notebooks
from tools.translate import __main__ as translate
from tools.translate import catalogue, generate
from tools.translate.messages import all_sources, blocks

SOURCES = all_sources()
OPEN = catalogue.open_names()


@pytest.mark.parametrize("name", SOURCES)
def test_each_message_is_translated_as_it_has_to_be(name):
    problems = translate.problems(SOURCES[name])
    if name in OPEN:
        assert problems, f"{name} is complete: take it out of locales/ko/OPEN, and run `make translate`"
    else:
        assert problems == []


def test_what_is_open_has_a_name():
    assert sorted(OPEN) == sorted(set(OPEN) & set(SOURCES)), "locales/ko/OPEN names what is no source, or one of them twice"


def test_there_is_no_file_without_a_source():
    files = {path.relative_to(catalogue.FOLDER).with_suffix("").as_posix() for path in catalogue.FOLDER.glob("**/*.po")}
    assert files <= set(SOURCES)


def test_what_is_generated_is_what_its_sources_give():
    assert [str(path.relative_to(notebooks.ROOT)) for path in generate.stale()] == [], "run `make translate`"


@pytest.mark.parametrize("name", [path.stem for path in notebooks.all_notebooks()])
def test_a_korean_notebook_has_the_cells_of_the_english_one(name):
    path = SOURCES[name].path
    english = notebooks.read(path).cells
    korean = generate.nbformat.reads(generate.notebook(path, with_outputs=False), as_version=4).cells
    (added,) = [cell for cell in korean if cell.id not in {cell.id for cell in english}]
    assert added.id == "language" and 'os.environ["TRANSFORMER_LIB_LANGUAGE"] = "ko"' in added.source
    korean.remove(added)
    assert [(cell.id, cell.cell_type) for cell in korean] == [(cell.id, cell.cell_type) for cell in english]
    code = [[cell.source for cell in cells if cell.cell_type == "code"] for cells in (english, korean)]
    assert code[0] == code[1]


@pytest.mark.parametrize("name", [name for name in SOURCES if SOURCES[name].path.suffix == ".md"])
def test_the_blocks_of_a_page_are_the_page(name):
    text = SOURCES[name].path.read_text(encoding="utf-8")
    assert "\n".join(block.text for block in blocks(text)) == text
