"""MathJax, served from the site itself: `sphinx.ext.mathjax` loads it from `mathjax_path`, and this copies it there.

Of the package `sphinx-mathjax-offline` (24 MB) a page needs one script, its fonts and the TeX extensions that it loads by name.
"""

import shutil
from importlib.metadata import files
from pathlib import Path

PACKAGE = "sphinx-mathjax-offline"  # its folder has hyphens and cannot be imported
NEEDED = ("tex-chtml.js", "input/tex/extensions/boldsymbol.js", "output/chtml/fonts/woff-v2/")


def copy_mathjax(app):
    if app.builder.format != "html":
        return
    for file in files(PACKAGE):
        name = file.as_posix().partition("/static/mathjax/")[2]
        if name.startswith(NEEDED):
            target = Path(app.outdir, "_static", "mathjax", name)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file.locate(), target)


def setup(app):
    app.connect("builder-inited", copy_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
