"""The Korean edition: beside each English notebook and page a file of Korean in ko/, joined with it only where it is built.

    python -m tools.korean                    what is missing or stale, and where code, numbers, links or formulas differ
    python -m tools.korean --open NAME        the texts of one page that have no Korean, as they belong into its file
    python -m tools.korean --join CONFIG      the Korean book into _build/ko: notebooks, pages, settings (make book)

In ko/06_attention.md stands, for each Markdown cell, a heading with the cell's id and a hash of its English, and below it the
Korean; for a code cell the title of its fold and what its pictures show. A page of book/ is cut at its headings.
"""

import hashlib
import re
import shutil
import sys
from collections import Counter
from html import escape
from itertools import pairwise
from pathlib import Path

import nbformat
import yaml

from tools import messages, notebooks

ROOT, FOLDER, BUILT = notebooks.ROOT, notebooks.ROOT / "ko", notebooks.ROOT / "_build" / "ko"
EVERYWHERE = FOLDER / "everywhere.md"  # what stands in all notebooks
TITLE = re.compile(r"^# @title (.+)\n", re.MULTILINE)
HEADING = re.compile(r"^###### (\S+) · ([0-9a-f]{7})\n", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^()\s#]*)#([^()\s]+)\)")
KEPT = {
    "code": r"(?ms)^```(?!\{(?:page-figure|glossary)).*?^```$|(?<!`)`[^`]+`(?!`)",
    "formula": r"(?s)\$\$.+?\$\$|\$[^$]+\$",
    "link": r"\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*\)|https?://[^\s)>]+",
    "number": r"\d+(?:[.,]\d+)*",
}
MARK = "> *아직 한국어로 옮기지 않은 부분이어서 영어로 싣습니다.*\n\n"
LANGUAGE = 'import os\n\nos.environ["TRANSFORMER_LIB_LANGUAGE"] = "ko"  # 퀴즈, 연습 문제, 움직이는 그림의 글을 한국어로\n\n'


def pages():
    """Return the path of each English notebook and page."""
    book = sorted((ROOT / "book").glob("*.md"))
    return notebooks.all_notebooks() + notebooks.deeper_notebooks() + [notebooks.FOLDER / "README.md"] + book


def korean_path(path):
    """Return where the Korean of a page stands."""
    place = path.relative_to(ROOT)
    place = place.relative_to("notebooks") if place.parts[0] == "notebooks" else place
    return FOLDER / ("start.md" if place.name == "README.md" else place.with_suffix(".md"))


def pictures(cell):
    """Return the outputs of a code cell that are pictures; beside each stands in plain text what it shows."""
    return [out for out in cell.get("outputs", []) if any(kind.startswith("image/") for kind in out.get("data", {}))]


def anchors(text):
    """Return the anchors of a text's headings, in their order, as MyST makes them."""
    titles = re.findall(r"^#{1,3} (.+)$", FENCE.sub("", text), re.MULTILINE)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).strip().lower() for title in titles)
    return [re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in plain]


def english(path):
    """Return the English texts of a page by their names: those of a notebook's cells, a page's parts by their headings."""
    if path.suffix == ".md":
        page = path.read_text(encoding="utf-8")
        outside = FENCE.sub(lambda fence: "x" * len(fence[0]), page)
        starts = [match.start() for match in re.finditer(r"^#{1,3} ", outside, re.MULTILINE)]
        return {anchors(part)[0]: part for a, b in pairwise([0, *starts[1:], len(page)]) if (part := page[a:b].strip("\n"))}
    found = {}
    for cell in notebooks.read(path).cells:
        shown = [" ".join(out.data["text/plain"].split()) for out in pictures(cell)]
        found[cell.id] = cell.source if cell.cell_type == "markdown" else "\n\n".join(TITLE.findall(cell.source)[:1] + shown)
    return {name: text for name, text in found.items() if text}


def mark(text):
    """Return the short hash of an English text."""
    return hashlib.sha256(text.encode()).hexdigest()[:7]


def korean(*files):
    """Return the Korean texts of files by their names, each with the hash of its English."""
    found = {}
    for file in filter(Path.exists, files):
        _, *parts = HEADING.split(file.read_text(encoding="utf-8"))
        found |= {name: (of, text.strip("\n")) for name, of, text in zip(parts[::3], parts[1::3], parts[2::3])}
    return found


def texts(path):
    """Return the texts of a page by their names: the English, and the Korean or nothing where that is missing or stale."""
    known = korean(EVERYWHERE, korean_path(path))
    return {name: (text, dict([known.get(name, ("", ""))]).get(mark(text), "")) for name, text in english(path).items()}


def faults(path):
    """Say what is missing, stale or different in the Korean of a page."""
    yield from (f"{name}: is not in the English" for name in korean(korean_path(path)).keys() - texts(path).keys())
    for name, (text, translated) in texts(path).items():
        if not translated:
            yield f"{name}: {'stale' if name in korean(korean_path(path)) else 'missing'}, for the English {mark(text)}"
            continue
        for kind, pattern in KEPT.items():
            here, there = (Counter(re.sub(r"[,\s]", "", it) for it in re.findall(pattern, both)) for both in (text, translated))
            if kind != "number":
                here, there = here.keys(), there.keys()
            if here - there or (there - here and kind != "number"):  # Korean may write a figure for a word
                yield f"{name}: {kind}: missing {sorted(here - there)}, added {sorted(there - here)}"
            text, translated = (re.sub(pattern, " ", one) for one in (text, translated))


def join_cell(cell, translated):
    """Put the Korean into a code cell: its title, what its pictures show, the quiz, and the words of a live figure."""
    from transformer_lib.teaching.figures.live.figure import in_language
    from transformer_lib.teaching.quizzes import chapter_quiz  # torch takes seconds, and no check of texts needs it

    paragraphs = translated.split("\n\n") if translated else []
    if paragraphs and TITLE.search(cell.source):
        cell.source = TITLE.sub(f"# @title {paragraphs.pop(0)}\n", cell.source, count=1)
    if cell.id in ("imports", "lesson-imports"):
        cell.source = re.sub(r"\A(# @title .+\n)?", lambda title: title[0] + LANGUAGE, cell.source)
    for out, shown in zip(pictures(cell), paragraphs):
        out.data["text/plain"] = shown
    quiz = re.search(r'chapter_quiz\("(\w+)"\)', cell.source)
    for data in [out.data for out in cell.outputs if "text/html" in out.get("data", {})]:
        data["text/html"] = chapter_quiz(quiz[1])._repr_html_() if quiz else in_language(data["text/html"])


def join(path, found):
    """Write one page of the Korean book; `found` has the Korean anchor of each English one of all pages."""

    def linked(text, translated):
        def link(match):
            known = found.get((path.parent / match[1]).resolve() if match[1] else path, {})
            return f"]({match[1]}#{known.get(match[2], match[2])})"

        return LINK.sub(link, translated or MARK + text)

    target, known = BUILT / path.relative_to(ROOT), texts(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".md":
        page = "\n\n".join(linked(*both) for both in known.values())
        target.write_text(page + "\n", encoding="utf-8", newline="\n")
        return
    notebook = notebooks.read(path)
    for cell in list(notebook.cells):
        if cell.cell_type == "markdown":
            cell.source = linked(*known[cell.id])
            continue
        join_cell(cell, known.get(cell.id, ("", ""))[1])
        if shown := [f"<small>{escape(out.data['text/plain'], quote=False)}</small>" for out in pictures(cell)]:
            caption = nbformat.v4.new_markdown_cell("\n\n".join(shown), id=f"{cell.id}-caption")
            notebook.cells.insert(notebook.cells.index(cell) + 1, caption)
    notebooks.write(target, notebook)


def write_book(config):
    """Write the whole Korean book into _build/ko, with the settings that the file `config` has for the English one."""
    for part in ("book", "tests/examples", "transformer_lib/teaching"):  # pages quote the last two
        shutil.rmtree(BUILT / part, ignore_errors=True)
        shutil.copytree(ROOT / part, BUILT / part, ignore=shutil.ignore_patterns("*.md", "_ext", "__pycache__"))
    pairs = {path: [map(anchors, both) for both in texts(path).values() if both[1]] for path in pages()}
    found = {path: {old: new for both in pairs[path] for old, new in zip(*both, strict=True)} for path in pairs}
    for path in pages():
        join(path, found)
    files = (config, FOLDER / "settings.yml", ROOT / "_toc.yml")
    book, ours, toc = (yaml.safe_load(Path(file).read_text(encoding="utf-8")) for file in files)
    for part, caption in zip(toc["parts"], ours["captions"], strict=True):
        part["caption"] = caption
    sphinx, settings = book["sphinx"], book["sphinx"]["config"]
    sphinx["local_extensions"] = {name: str(ROOT / "book" / "_ext") for name in (*sphinx["local_extensions"], "korean")}
    addresses = {name: f"{settings[name]}ko/" for name in ("html_baseurl", "ogp_site_url") if name in settings}
    merged = {name: settings[name] | ours["config"][name] for name in ("html_theme_options", "html_context")}
    settings |= ours["config"] | addresses | merged | {"extensions": [*settings["extensions"], "korean"]}
    if edit := settings["html_context"].get("edit_page_url_template"):
        place = "ko/{{ file_name.replace('notebooks/', '').replace('.ipynb', '.md') }}"
        settings["html_context"]["edit_page_url_template"] = edit.replace("{{ file_name }}", place)
    for name, content in (("_toc.yml", toc), ("_config.yml", book | {"title": ours["title"]})):
        (BUILT / name).write_text(yaml.safe_dump(content, allow_unicode=True, sort_keys=False), encoding="utf-8")


def main(*given):
    if given[:1] == ("--join",):
        write_book(*given[1:])
    elif given[:1] == ("--open",):
        path = next(path for path in pages() if str(korean_path(path).relative_to(FOLDER)).startswith(given[1]))
        missing = ((name, text) for name, (text, translated) in texts(path).items() if not translated)
        print("\n".join(f"###### {name} · {mark(text)}\n\n{text}\n" for name, text in missing))
    else:
        found = [f"{korean_path(path).relative_to(FOLDER)}: {fault}" for path in pages() for fault in faults(path)]
        print(*(found := found + messages.missing()), sep="\n")
        raise SystemExit(bool(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
