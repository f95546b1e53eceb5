"""The EPUB 3: one XHTML file for each chapter, zipped with its pictures, its styles and its table of contents."""

import io
import mimetypes
import uuid
import zipfile
from datetime import UTC, datetime
from html import escape
from itertools import groupby
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lxml import etree
from PIL import Image
from tqdm import tqdm

CONTAINER = """<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="book/package.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>
"""
PAGE = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="en" xml:lang="en">
<head><title>{title}</title><link rel="stylesheet" href="book.css"/></head>
<body>{body}</body>
</html>
"""
PACKAGE = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:uuid:{identifier}</dc:identifier>
<dc:title>{title}</dc:title>
<dc:creator>{author}</dc:creator>
<dc:language>en</dc:language>
<dc:rights>Text and figures: CC BY 4.0. Code: MIT.</dc:rights>
<meta property="dcterms:modified">{modified}</meta>
</metadata>
<manifest>
{manifest}
</manifest>
<spine>
{spine}
</spine>
</package>
"""


def contents_page(chapters):
    """Return the table of contents: parts, chapters and sections."""

    def entry(target, title, below=""):
        return f'<li><a href="{target}">{escape(title)}</a>{below and f"<ol>{below}</ol>"}</li>'

    entries = []
    for part, members in groupby(chapters, key=lambda chapter: chapter.part):
        listed = ""
        for chapter in members:
            file = f"{chapter.id}.xhtml"
            sections = (entry(f"{file}#{section['id']}", section["title"]) for section in chapter.sections)
            listed += entry(file, chapter.title, "".join(sections))
        entries.append(f"<li><span>{escape(part)}</span><ol>{listed}</ol></li>" if part else listed)
    return f'<nav epub:type="toc"><h1>Contents</h1><ol>{"".join(entries)}</ol></nav>'


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


def package(title, author, files, pages):
    """Return the list of what the book is made of; `files` are its files by name, `pages` the names of those to be read."""
    items = []
    for index, (name, content) in enumerate(files.items()):
        found = {"contents.xhtml": ["nav"], "cover.png": ["cover-image"]}.get(name, [])
        if name in pages:
            found += [kind for kind, tag in {"svg": "<svg", "mathml": "<math"}.items() if tag in content]
        properties = f' properties="{" ".join(found)}"' if found else ""
        kind = mimetypes.guess_type(name)[0]
        items.append(f'<item id="item-{index}" href="{name}" media-type="{kind}"{properties}/>')
    return PACKAGE.format(
        identifier=uuid.uuid5(uuid.NAMESPACE_URL, title),
        title=escape(title),
        author=escape(author),
        modified=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        manifest="\n".join(items),
        spine="\n".join(f'<itemref idref="item-{list(files).index(name)}"/>' for name in pages),
    )


def write_epub(chapters, styles, about, cover, author, path):
    """Write the book to `path`; `about` is the page before the contents, `cover` the PNG on its front."""
    title = chapters[0].title
    trees = {chapter.id: etree.fromstring(chapter.screen) for chapter in chapters}
    set_links(trees)
    others = {"book.css": styles, "cover.png": cover} | set_pictures(trees)
    bodies = {
        "cover": ("Cover", f'<p><img src="cover.png" alt="{escape(title)}"/></p>'),
        "about": ("About this edition", about),
        "contents": ("Contents", contents_page(chapters)),
    } | {chapter.id: (chapter.title, etree.tostring(trees[chapter.id], encoding="unicode")) for chapter in chapters}
    pages = {f"{name}.xhtml": PAGE.format(title=escape(heading), body=body) for name, (heading, body) in bodies.items()}
    files = pages | others
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)  # first, and not packed, as the format asks
        book.writestr("META-INF/container.xml", CONTAINER)
        book.writestr("book/package.opf", package(title, author, files, pages))
        for name, content in files.items():
            book.writestr(f"book/{name}", content)
