"""The EPUB 3: one XHTML file for each chapter, zipped with its pictures, its styles and its table of contents."""

import io
import mimetypes
import uuid
from datetime import UTC, datetime
from html import escape
from itertools import groupby
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ebooklib import epub
from lxml import etree
from PIL import Image
from tqdm import tqdm

from transformer_lib._language import language, say

PAGE = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="{language}" xml:lang="{language}">
<head><title>{title}</title><link rel="stylesheet" href="book.css"/></head>
<body>{body}</body>
</html>
"""


def table_of_contents(chapters):
    """Return parts, chapters and sections, as EbookLib takes them. A part leads to its first chapter."""

    def entry(chapter):
        file = f"{chapter.id}.xhtml"
        sections = [epub.Link(f"{file}#{section['id']}", section["title"], section["id"]) for section in chapter.sections]
        return (epub.Section(chapter.title, file), sections) if sections else epub.Link(file, chapter.title, chapter.id)

    entries = []
    for part, members in groupby(chapters, key=lambda chapter: chapter.part):
        members = list(members)
        listed = [entry(chapter) for chapter in members]
        entries += [(epub.Section(part, f"{members[0].id}.xhtml"), listed)] if part else listed
    return entries


def set_links(trees):
    """Let each link inside the book name the file that it leads to; a link that leads nowhere is a `ValueError`."""
    file_of = {node.get("id"): name for name, tree in trees.items() for node in tree.iter() if node.get("id")}
    for name, tree in trees.items():
        for link in tree.iter("{*}a"):
            target = link.get("href", "")
            if target.startswith("#"):
                if target[1:] not in file_of:
                    raise ValueError(f"{name} links to {target[1:]}, which is nowhere in the book")
                link.set("href", f"{file_of[target[1:]]}.xhtml{target}")


def as_png(path):
    """Return the picture at `path` as PNG: not every e-reader knows WebP."""
    file = io.BytesIO()
    with Image.open(path) as picture:
        picture.save(file, "png", optimize=True)
    return file.getvalue()


def set_pictures(trees):
    """Let each picture be named as in the book, and return the pictures by these names."""
    pictures = {}
    for tree in tqdm(trees.values(), desc="EPUB"):
        for image in tree.iter("{*}img"):
            path = Path(unquote(urlsplit(image.get("src")).path))
            name = path.name if path.suffix == ".svg" else f"{path.stem}.png"
            if name not in pictures:
                pictures[name] = path.read_bytes() if path.suffix == ".svg" else as_png(path)
            image.set("src", name)
    return pictures


def write_epub(chapters, styles, about, cover, author, path):
    """Write the book to `path`; `about` is the page before the contents, `cover` the PNG on its front."""
    title = chapters[0].title
    trees = {chapter.id: etree.fromstring(chapter.screen) for chapter in chapters}
    set_links(trees)
    book = epub.EpubBook()
    book.set_identifier(f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, title)}")
    book.set_title(title)
    book.set_language(language())
    book.add_author(author)
    book.add_metadata("DC", "rights", say("Text and figures: CC BY 4.0. Code: MIT."))
    book.add_item(epub.EpubItem("styles", "book.css", "text/css", styles))
    book.set_cover("cover.png", cover, create_page=False)
    for name, content in set_pictures(trees).items():
        book.add_item(epub.EpubItem(file_name=name, media_type=mimetypes.guess_type(name)[0], content=content))
    bodies = {
        "cover": (say("Cover"), f'<p><img src="cover.png" alt="{escape(title)}"/></p>'),
        "about": (say("About this edition"), about),
    } | {chapter.id: (chapter.title, etree.tostring(trees[chapter.id], encoding="unicode")) for chapter in chapters}
    for name, (heading, body) in bodies.items():
        # Not an EpubHtml: that writes its body anew, as HTML.
        content = PAGE.format(language=language(), title=escape(heading), body=body)
        page = epub.EpubItem(name, f"{name}.xhtml", "application/xhtml+xml", content)
        page.properties = [kind for kind, tag in {"svg": "<svg", "mathml": "<math"}.items() if tag in body]
        book.add_item(page)
    contents = epub.EpubNav("contents", "contents.xhtml", title=say("Contents"))
    contents.add_link(href="book.css", rel="stylesheet", type="text/css")
    book.add_item(contents)
    book.add_item(epub.EpubNcx())
    book.toc = table_of_contents(chapters)
    book.spine = ["cover", "about", contents, *(chapter.id for chapter in chapters)]
    epub.write_epub(path, book, {"mtime": datetime.now(UTC), "raise_exceptions": True})
