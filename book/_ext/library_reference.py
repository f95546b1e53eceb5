"""List the library's modules on the page `book/api`, so that a new chapter appears there by itself."""

import re
from importlib.util import find_spec

PAGE = "book/api"
PLACE = "<!-- One section for each chapter's module is put here. -->"
SECTION = """## {stem}

Chapter [](../{page}.ipynb) builds `transformer_lib.{stem}`.

```{{eval-rst}}
.. automodule:: transformer_lib.{stem}
```
"""


def insert_modules(app, page, source):
    if page != PAGE:
        return
    if PLACE not in source[0]:
        raise ValueError(f"{PAGE} must hold the line {PLACE!r}")
    app.env.note_reread()
    chapters = (re.fullmatch(r"notebooks/\d\d_(\w+)", name) for name in sorted(app.env.found_docs))
    sections = [
        SECTION.format(page=chapter[0], stem=chapter[1])
        for chapter in chapters
        if chapter and find_spec(f"transformer_lib.{chapter[1]}")
    ]
    source[0] = source[0].replace(PLACE, "\n".join(sections))


def setup(app):
    app.connect("source-read", insert_modules)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
