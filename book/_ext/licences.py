"""What the site serves that others made, under which licences: the file `licences.txt`, with the text of each.

Each file that the site serves besides its pages belongs to one of these works, or is ours: a file that does not is a warning.
"""

import json
from fnmatch import fnmatch
from importlib.metadata import distribution
from pathlib import Path
from typing import NamedTuple

from languages import FOLDER
from sphinx.util import logging

logger = logging.getLogger(__name__)

LIST = "licences.txt"
HEAD = """What this site serves, and under which licences
===============================================

Text and figures are under CC BY 4.0, code is under the MIT license, © 2026 the authors of Building the Transformer.
The rest was made by others and keeps its own licences. Each work is named here with its files, and its licence follows.
`_static/site.css` and `_static/site.js` hold the sheets and the scripts that their first lines name.
"""


class Work(NamedTuple):
    """What somebody else made: its licence, the package that brings it, and its files, seen from `_static`."""

    licence: str
    package: str
    files: tuple[str, ...]


THEME_OF_SPHINX = "basic.css doctools.js documentation_options.js file.png language_data.js minus.png plus.png searchtools.js"
WORKS = {
    "Sphinx, with the Porter stemmer of Snowball": Work(
        "BSD-2-Clause",
        "Sphinx",
        (*THEME_OF_SPHINX.split(), "sphinx_highlight.js", "translations.js", "../searchindex.js", "../objects.inv"),
    ),
    "PyData Sphinx Theme": Work(
        "BSD-3-Clause",
        "pydata-sphinx-theme",
        ("scripts/pydata-sphinx-theme.js*", "styles/pydata-sphinx-theme.css*", "styles/theme.css", "webpack-macros.html"),
    ),
    "Sphinx Book Theme": Work(
        "BSD-3-Clause",
        "sphinx-book-theme",
        (
            "scripts/sphinx-book-theme.js*",
            "styles/sphinx-book-theme.css*",
            "images/logo_*",
            "locales/*",
            "sbt-webpack-macros.html",
        ),
    ),
    "Bootstrap, with Popper": Work("MIT", "pydata-sphinx-theme", ("scripts/bootstrap.js*",)),
    "Font Awesome Free": Work(
        "CC-BY-4.0 AND OFL-1.1 AND MIT", "pydata-sphinx-theme", ("scripts/fontawesome.js*", "vendor/fontawesome/*", "icons.css")
    ),
    "sphinx-copybutton, with icons of Tabler": Work(
        "MIT", "sphinx-copybutton", ("copybutton.css", "copybutton*.js", "copy-button.svg", "check-solid.svg")
    ),
    "clipboard.js": Work("MIT", "sphinx-copybutton", ("clipboard.min.js",)),
    "sphinx-design": Work("MIT", "sphinx-design", ("sphinx-design.min.css", "design-tabs.js")),
    "sphinx-togglebutton": Work("MIT", "sphinx-togglebutton", ("togglebutton.css", "togglebutton.js")),
    "MyST-NB": Work("BSD-3-Clause", "myst-nb", ("mystnb.*.css",)),
    "Pygments, with accessible-pygments": Work("BSD-2-Clause AND BSD-3-Clause", "Pygments", ("pygments.css",)),
    "MathJax and its fonts": Work("Apache-2.0", "sphinx-mathjax-offline", ("formulas.css", "formulas/*")),
}
# Works that come in another's package say themselves whose they are.
HOLDERS = {
    "Bootstrap, with Popper": "Copyright (c) 2011-2024 The Bootstrap Authors\nCopyright (c) 2019 Federico Zivolo",
    "clipboard.js": "Copyright (c) Zeno Rocha",
    "Font Awesome Free": "Copyright 2024 Fonticons, Inc.",
    "sphinx-copybutton, with icons of Tabler": "Copyright (c) 2020-2024 Paweł Kuna (the icons)",
}
# JupyterLab, which comes with the environment, holds the licences of what it is made of.
IN_JUPYTERLAB = {"MathJax and its fonts": "mathjax-full", "Font Awesome Free": "@fortawesome/fontawesome-free"}
OURS = ("site.css", "site.js", "search_terms.js", "translator/*", f"../{LIST}", "../.buildinfo", "../sitemap.xml")


def own_text(package):
    """Return the text of the package's own licence."""
    held = distribution(package)
    (file,) = [file for file in held.files if ".dist-info" in str(file) and file.name.startswith(("LICEN", "COPYING"))]
    return file.locate().read_text(encoding="utf-8")


def in_jupyterlab(name):
    file = next(file for file in distribution("jupyterlab").files if file.name == "third-party-licenses.json")
    works = json.loads(file.locate().read_text(encoding="utf-8"))["packages"]
    return next(work["extractedText"] for work in works if work["name"] == name)


def text_of(name):
    """Return the text of a work's licence, with whose it is."""
    work = WORKS[name]
    if name in IN_JUPYTERLAB:
        return f"{HOLDERS.get(name, '')}\n\n{in_jupyterlab(IN_JUPYTERLAB[name])}"
    if name in HOLDERS:
        title, holders, terms = own_text("sphinx-copybutton").split("\n\n", 2)
        mine = f"{holders}\n" if work.package == "sphinx-copybutton" and name != "clipboard.js" else ""
        return f"{title}\n\n{mine}{HOLDERS[name]}\n\n{terms}"
    if name.startswith("Pygments"):
        return f"{own_text('Pygments')}\n{own_text('accessible-pygments')}"
    return own_text(work.package)


def served(site):
    """Return the files of the site that are not its pages, nor what they show or were made from, seen from `_static`.

    The Korean site in it has a list of its own.
    """
    files = [path.relative_to(site).as_posix() for path in site.glob("**/*") if path.is_file()]
    files = [name for name in files if not name.startswith(f"{FOLDER}/")]
    pages = [
        name
        for name in files
        if name.startswith(("_sources/", "_images/")) or (name.endswith(".html") and "_static" not in name)
    ]
    return sorted(
        name.removeprefix("_static/") if name.startswith("_static/") else f"../{name}" for name in set(files) - set(pages)
    )


def owners(names):
    """Return the works and their files, and the files that are nobody's."""
    found = {work: [name for name in names if any(fnmatch(name, one) for one in WORKS[work].files)] for work in WORKS}
    return found, sorted(
        set(names) - set().union(*found.values()) - {name for name in names if any(fnmatch(name, one) for one in OURS)}
    )


def write_list(app, exception):
    if exception or app.builder.format != "html":
        return
    site = Path(app.outdir)
    own = {
        path.relative_to(folder).as_posix()
        # Extensions add folders of their own to the list, by their whole paths.
        for folder in (Path(app.confdir, name) for name in app.config.html_static_path if not Path(name).is_absolute())
        for path in folder.glob("**/*")
    }
    found, nobodys = owners([name for name in served(site) if name not in own])
    for name in nobodys:
        logger.warning("%s: who made this file, and under which licence? See book/_ext/licences.py", name)
    parts = [HEAD]
    for name, files in found.items():
        if files:
            places = "\n".join(
                f"  {file.removeprefix('../') if file.startswith('../') else f'_static/{file}'}" for file in files
            )
            title = f"{name} · {WORKS[name].licence}"
            parts.append(f"{title}\n{'-' * len(title)}\n\n{places}\n\n{text_of(name).strip()}\n")
    (site / LIST).write_text("\n\n".join(parts), encoding="utf-8")


def setup(app):
    app.connect("build-finished", write_list, priority=950)  # when all files are written
    return {"parallel_read_safe": True, "parallel_write_safe": True}
