"""A published course knows its address, which the tree does not."""

import pytest
from reading import PAGES

from tools import notebooks
from tools.publish import settings, write_notebooks


def test_a_published_notebook_finds_its_library_and_colab_the_notebook(tmp_path):
    write_notebooks("somebody/course", "2026", tmp_path)
    for path in PAGES:
        place = path.relative_to(notebooks.ROOT).as_posix()
        source, published = notebooks.read(path).cells, notebooks.read(tmp_path / place).cells
        assert '\nREPOSITORY = ""\nBRANCH = "main"\n' in source[2].source
        assert '\nREPOSITORY = "https://github.com/somebody/course"\nBRANCH = "2026"\n' in published[2].source
        assert f"(https://colab.research.google.com/github/somebody/course/blob/published/{place})" in published[1].source
        assert [cell.get("outputs") for cell in published] == [cell.get("outputs") for cell in source]


@pytest.mark.parametrize(("name", "prefix"), [("course", "/course/"), ("Somebody.github.io", "/")])
def test_the_site_knows_where_it_stands(name, prefix):
    config = settings(f"Somebody/{name}", "main")["sphinx"]["config"]
    assert (config["html_baseurl"], config["notfound_urls_prefix"]) == (f"https://somebody.github.io{prefix}", prefix)
