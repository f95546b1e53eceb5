"""`make check` takes what belongs to one chapter, and nothing of another."""

import pytest
from reading import CHAPTERS

from tools import notebooks
from tools.check_chapter import OF_EVERY_CHAPTER, commands


def test_a_chapter_is_checked_with_its_own_tests():
    path = notebooks.find("08")
    lint, layout, test = commands(path)
    files = ["notebooks/08_masks.ipynb", "tests/test_masks.py", "tests/teaching/test_exercises_masks.py"]
    assert lint[-3:] == layout[-3:] == files
    assert test[-len(files) - len(OF_EVERY_CHAPTER) :] == [*files, *OF_EVERY_CHAPTER]
    assert all((notebooks.ROOT / test.partition("::")[0]).is_file() for test in OF_EVERY_CHAPTER)
    left_out = test[test.index("-k") + 1].removeprefix("not (").removesuffix(")").split(" or ")
    assert left_out == [path.stem for path in CHAPTERS if path.stem != "08_masks"]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_every_file_that_is_named_is_there(path):
    lint, *_ = commands(path)
    assert all((notebooks.ROOT / file).is_file() for file in lint[2:])
