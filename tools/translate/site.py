"""Build the Korean site into the English one: `python -m tools.translate.site [--output _build]`.

The English site has to be built before, because the Korean pages take the anchors of its headings.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools import notebooks
from tools.translate import generate


def build(output):
    """Write and build the Korean site, and put it into the folder `ko` of the English one."""
    output = Path(output).resolve()
    # What is drawn while the sources are written is drawn in Korean, too.
    os.environ["TRANSFORMER_LIB_LANGUAGE"] = generate.LANGUAGE
    os.environ["ENGLISH_DOCTREES"] = str(output / ".doctrees")
    source = output / generate.LANGUAGE
    generate.write_site(source)
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", str(source), "-W", "--keep-going"]
    subprocess.run(command, cwd=notebooks.ROOT, check=True)
    site = output / "html" / generate.LANGUAGE
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(source / "_build" / "html", site, copy_function=os.link)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tools.translate.site", description=__doc__.splitlines()[0])
    parser.add_argument("--output", default=str(notebooks.ROOT / "_build"), help="the folder with the English site's `html`")
    given = parser.parse_args(arguments)
    try:
        build(given.output)
    except subprocess.CalledProcessError as error:
        raise SystemExit(error.returncode) from None


if __name__ == "__main__":
    main()
