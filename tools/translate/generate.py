"""What is made of the sources and their PO files: Korean notebooks and pages, the library's texts, and the site's own.

Nothing of this is edited. A message that is open stands there in English.
"""

import json
from collections import defaultdict
from pathlib import Path

import nbformat
import polib

from tools import address, minutes, notebooks, run_notebook
from tools.translate import catalogue
from tools.translate.messages import (
    MINUTES,
    WITH_SCRIPTS,
    all_sources,
    alternative_text,
    blocks,
    config,
    is_message,
    of_scripts,
    text_of_cell,
    yaml_of,
)

LANGUAGE = "ko"
# Notebooks for JupyterLab and Colab, and pages beside them, which they link to: committed, because Colab opens what git has.
TREE = notebooks.ROOT / LANGUAGE
# The texts that the library says, for whoever runs a Korean notebook.
TEXTS = notebooks.ROOT / "transformer_lib" / "locales" / f"{LANGUAGE}.json"
# What both sites read.
SHARED = ["book/_ext", "book/_static", "book/_templates", "book/references.bib", "transformer_lib", "tests", "locales"]
MINUTES_LINE = "*읽는 데 약 {}분, 연습 문제 {}분. 워크숍까지 읽으면 {}분이 더 걸립니다.*"
SETTING = """\
# @title 이 강의의 언어: 실행 결과로 나오는 안내를 한국어로
import os

os.environ["TRANSFORMER_LIB_LANGUAGE"] = "ko"
"""


def korean(name, context, text):
    return catalogue.translations(name).get((context, text), text)


def cell_text(name, cell):
    """Return the Korean text of a Markdown cell, with the numbers of its line of minutes."""
    counted = minutes.LINE.search(cell.source)
    text = korean(name, cell.id, text_of_cell(cell))
    if not counted:
        return text
    translated = text != text_of_cell(cell)
    return text.replace(MINUTES, MINUTES_LINE.format(*counted.groups()) if translated else counted[0])


def badge(path):
    """Return the Korean text of the cell that `tools.address` stamps."""
    repository, branch = address.stored_address()
    text = address.cells_for(path, repository, branch)["colab-badge"]
    text = text.replace("/notebooks/", f"/{LANGUAGE}/notebooks/")
    for context, english in [key for key in catalogue.translations("site") if key[0] == "badge"]:
        text = text.replace(english, korean("site", context, english))
    return text


def setting():
    """Return the one cell that only a Korean notebook has: it says in which language the library answers."""
    cell = nbformat.v4.new_code_cell(SETTING.rstrip("\n"), id="language", metadata={"tags": ["remove-cell"]})
    cell.metadata.update(notebooks.folding(cell))
    return cell


def notebook(path, with_outputs):
    """Return the Korean notebook of a chapter: its code as it is, and one cell more, which names the language.

    With outputs it is what the site shows; without them, what a reader runs.
    """
    name = path.stem
    made = notebooks.read(path)
    cells = []
    for cell in made.cells:
        if is_message(cell):
            cell.source = cell_text(name, cell)
        elif cell.cell_type == "markdown":
            cell.source = badge(path)
        elif not with_outputs:
            cell.outputs, cell.execution_count = [], None
        else:
            show_in_korean(name, cell)
        cells.append(cell)
        if cell.id == "set-up":
            cells.append(setting())
    made.cells = cells
    return notebooks.as_text(made)


def show_in_korean(name, cell):
    """Put Korean texts into a cell's outputs: what stands in for figures, and what the library draws alone."""
    for output in cell.outputs:
        if text := alternative_text(output):
            output.data["text/plain"] = korean(name, f"{cell.id}/alt", text)
        if output.output_type == "execute_result" and (drawing := run_notebook.drawn_alone(cell.source)) is not None:
            output.data = nbformat.from_dict({"text/html": drawing._repr_html_(), "text/plain": repr(drawing)})


def page(name, path):
    """Return the Korean text of a page."""
    parts = blocks(path.read_text(encoding="utf-8"))
    return "\n".join(korean(name, part.context, part.text) if part.translatable else part.text for part in parts)


def library_texts():
    """Return the library's texts in Korean, by the English ones, and those of each script, as JSON.

    Raises `ValueError` where one English text has two translations.
    """
    texts, scripts = {}, defaultdict(dict)
    for name, source in all_sources().items():
        if not name.startswith("teaching/") and name not in ("folds", "site"):
            continue
        for (context, english), translated in catalogue.translations(name).items():
            if texts.setdefault(english, translated) != translated:
                raise ValueError(f"{name}, {context}: {english!r} is translated as {texts[english]!r} elsewhere")
        if name in WITH_SCRIPTS:
            for message in of_scripts(source.path):
                if message.text in texts:
                    scripts[message.context.removeprefix("figure ")][message.text] = texts[message.text]
    made = {"texts": dict(sorted(texts.items())), "scripts": dict(sorted(scripts.items()))}
    return json.dumps(made, ensure_ascii=False, indent=0) + "\n"


def generated():
    """Return the text of each file that is generated and committed, by its path. What is open in whole is not generated."""
    left_out = set(catalogue.open_names())
    files = {TEXTS: library_texts()}
    for name, source in all_sources().items():
        if name in left_out or source.path.suffix not in (".md", ".ipynb"):
            continue
        target = TREE / source.path.relative_to(notebooks.ROOT)
        is_notebook = source.path.suffix == ".ipynb"
        files[target] = notebook(source.path, with_outputs=False) if is_notebook else page(name, source.path)
    return files


def stale():
    """Return the paths of generated files that are not what their sources give, or should not be there."""
    files = generated()
    wrong = [path for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    return wrong + [path for path in TREE.glob("**/*") if path.is_file() and path not in files]


def write_all():
    """Write the generated files that are committed; return the paths that changed."""
    files = generated()
    changed = stale()
    for path in changed:
        if path in files:
            write(path, files[path])
        else:
            path.unlink()
    return changed


def write(path, text):
    """Write a file only where it changes, so that a build takes it as it was."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        notebooks.write_text(path, text)


# The site


def site_config():
    """Return what is different in the Korean site's configuration."""
    made = config()
    made["title"] = korean("site", "course title", made["title"])
    settings = made["sphinx"]["config"]
    settings["language"] = LANGUAGE
    settings["project"] = made["title"]
    options = settings["html_theme_options"]
    options["search_bar_text"] = korean("site", "theme", options["search_bar_text"])
    options["path_to_docs"] = ""
    return made


def site_toc():
    made = yaml_of(notebooks.ROOT / "_toc.yml")
    for part in made["parts"]:
        part["caption"] = korean("site", "part of the course", part["caption"])
    return made


def write_site(folder):
    """Write the sources of the Korean site into `folder`: its pages, its settings, and links to what both sites share."""
    folder = Path(folder)
    for source in all_sources().values():
        if source.path.suffix == ".ipynb":
            write(folder / "notebooks" / source.path.name, notebook(source.path, with_outputs=True))
        elif source.path.parent.name == "book":
            write(folder / "book" / source.path.name, page(source.name, source.path))
    for shared in SHARED:
        link = folder / shared
        if not link.is_symlink():
            link.symlink_to(notebooks.ROOT / shared)
    write(folder / "_config.yml", json.dumps(site_config(), ensure_ascii=False, indent=1) + "\n")
    write(folder / "_toc.yml", json.dumps(site_toc(), ensure_ascii=False, indent=1) + "\n")
    write_theme_words(folder / "words" / LANGUAGE / "LC_MESSAGES")


def write_theme_words(folder):
    """Write the theme's words where Sphinx finds them: the two themes and the button for folds have a catalogue each."""
    words = {english: text for (context, english), text in catalogue.translations("site").items() if context == "theme"}
    folder.mkdir(parents=True, exist_ok=True)
    for domain in ("sphinx", "booktheme", "togglebutton"):
        file = polib.POFile()
        file.metadata = {"Language": LANGUAGE, "Content-Type": "text/plain; charset=UTF-8"}
        file.extend(polib.POEntry(msgid=english, msgstr=text) for english, text in words.items())
        file.save_as_mofile(folder / f"{domain}.mo")
