"""Set the course's address: `python -m tools.address https://github.com/OWNER/REPOSITORY [--branch main]`.

The address is kept in pyproject.toml and copied from there to _config.yml and to two cells of every notebook.
An empty address takes it out again; `--stamp` copies the address that pyproject.toml holds.
"""

import argparse
import re
import tomllib
from io import StringIO

import tomlkit
from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import DoubleQuotedScalarString as Quoted

from tools import notebooks

COLAB = "https://colab.research.google.com"
ADDRESS = re.compile(r"https://github\.com/(?P<owner>[A-Za-z0-9][A-Za-z0-9-]*)/(?P<name>[A-Za-z0-9._-]+)")
WITHOUT_COLAB = "Run the cells from the top, one after the other (Shift+Enter). A folded cell opens with a click on its dots."
BRANCH = re.compile(r"[A-Za-z][\w.-]*(/[\w.-]+)*")

SET_UP = """\
#| default_exp {stem}
# @title Set-up: install the course's library where it is missing
# Where the course's library is not installed, as in Colab, this cell installs it.
import importlib.util

REPOSITORY = "{repository}"
BRANCH = "{branch}"

if importlib.util.find_spec("transformer_lib") is None:
    if not REPOSITORY:
        raise RuntimeError(
            "The course's library, transformer_lib, is not installed here, "
            "and nothing was installed now.\\n"
            "On your own computer, in the course's folder: run `make book` and start "
            ".venv/bin/jupyter lab, or run `pip install -e .`\\n"
            "In Colab: set the line\\n"
            '    REPOSITORY = ""\\n'
            "of this cell to the course's own GitHub address, such as "
            "https://github.com/OWNER/REPOSITORY, and run the cell again."
        )
    %pip install --quiet "transformer-lib @ git+{{REPOSITORY}}@{{BRANCH}}"
    importlib.invalidate_caches()
"""


def check_address(repository, branch):
    """Return the address without a closing slash or `.git`.

    Raises `ValueError` where it is neither empty nor `https://github.com/OWNER/REPOSITORY`, the only kind that Colab
    opens, or where the branch has a character that an address or YAML would read in another way.
    """
    tidy = repository.strip().removesuffix("/").removesuffix(".git")
    if (tidy and not (match := ADDRESS.fullmatch(tidy))) or (tidy and match["name"] in (".", "..")):
        raise ValueError(f"the address must look like https://github.com/OWNER/REPOSITORY, and this came: {repository!r}")
    if not BRANCH.fullmatch(branch) or ".." in branch:
        raise ValueError(f"the branch must be a name such as main or course/2026, and this came: {branch!r}")
    return tidy


def cells_for(path, repository, branch):
    """Return the text of the two cells of a notebook that hold the address, by the id of the cell."""
    if repository:
        link = f"{COLAB}/github/{repository.removeprefix('https://github.com/')}/blob/{branch}/{path.relative_to(notebooks.ROOT).as_posix()}"
        badge = f"[Open in Colab]({link}): run this chapter in your browser, with nothing to install."
    else:
        badge = WITHOUT_COLAB
    set_up = SET_UP.format(stem=notebooks.module_name(path), repository=repository, branch=branch)
    if path.parent.name == "deeper":  # it exports nothing
        set_up = set_up.partition("\n")[2]
    return {"colab-badge": badge, "set-up": set_up.rstrip("\n")}


def stored_address():
    """Return the repository and the branch that pyproject.toml holds."""
    course = tomllib.loads((notebooks.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["course"]
    return course["repository"], course["branch"]


def with_address(pyproject, config, repository, branch):
    """Return the texts of pyproject.toml and _config.yml with the address; comments and layout stay."""
    project = tomlkit.parse(pyproject)
    project["tool"]["course"].update(repository=repository, branch=branch)

    yaml = YAML()
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.preserve_quotes, yaml.width = True, 1000
    book = yaml.load(config)
    book["repository"].update(url=Quoted(repository), branch=branch)
    book["launch_buttons"]["colab_url"] = Quoted(COLAB if repository else "")
    file = StringIO()
    yaml.dump(book, file)
    return tomlkit.dumps(project), file.getvalue()


def stamp(repository, branch):
    """Write the address everywhere it stands."""
    paths = notebooks.ROOT / "pyproject.toml", notebooks.ROOT / "_config.yml"
    files = dict(zip(paths, with_address(*(path.read_text(encoding="utf-8") for path in paths), repository, branch)))

    for path in notebooks.all_notebooks() + notebooks.deeper_notebooks():
        notebook = notebooks.read(path)
        cells = {cell.id: cell for cell in notebook.cells}
        for identifier, source in cells_for(path, repository, branch).items():
            if identifier not in cells:
                raise ValueError(f"{path.name} has no cell with the id `{identifier}`")
            cells[identifier].source = source
        notebooks.write(path, notebook)

    for path, text in files.items():
        path.write_text(text, encoding="utf-8", newline="\n")


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tools.address", description=__doc__.splitlines()[0])
    parser.add_argument("repository", nargs="?", help='https://github.com/OWNER/REPOSITORY, or "" for none')
    parser.add_argument("--branch", default="main", help="the branch that Colab opens (main)")
    parser.add_argument("--stamp", action="store_true", help="copy the address that pyproject.toml holds")
    options = parser.parse_args(arguments)
    if options.stamp == (options.repository is not None):
        parser.error("give an address or --stamp")
    repository, branch = stored_address() if options.stamp else (options.repository, options.branch)
    try:
        stamp(check_address(repository, branch), branch)
    except ValueError as error:
        raise SystemExit(f"Nothing was changed: {error}") from None


if __name__ == "__main__":
    main()
