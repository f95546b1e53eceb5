"""Serve MathJax from the site itself.

The script and its fonts come from the package `sphinx-mathjax-offline`. Its folder cannot be imported (the name has
hyphens) and holds every build of MathJax; this takes the one that the pages load, the fonts, and the small files that
MathJax fetches when a formula uses a rarer command, such as `\\boldsymbol` or `\\color`.
"""

import shutil
from importlib.metadata import files
from pathlib import Path

PACKAGE = "sphinx-mathjax-offline"
WANTED = ("tex-chtml.js", "input/tex/extensions/*.js", "output/chtml/fonts/woff-v2/*.woff")
UNWANTED = "all-packages.js"


def copy_mathjax(app):
    if app.builder.format != "html":
        return
    target = Path(app.outdir, "_static", "mathjax")
    copied = 0
    for file in files(PACKAGE):
        root, _, name = file.as_posix().partition("/static/mathjax/")
        if root != PACKAGE or file.name == UNWANTED or not any(Path(name).match(wanted) for wanted in WANTED):
            continue
        destination = target / name
        destination.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file.locate(), destination)
        copied += 1
    if not copied:
        raise FileNotFoundError(f"the package {PACKAGE} holds none of {', '.join(WANTED)}")


def setup(app):
    app.config.mathjax_path = "mathjax/tex-chtml.js"
    app.connect("builder-inited", copy_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
