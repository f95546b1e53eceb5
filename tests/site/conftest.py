"""The built site, a server for it, and its pages opened in the browser; and books of a page or two, built for one test."""

import gzip
import os
import sys
import threading
import time
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
from built_site import HTML, ROOT
from sphinx.cmd.build import build_main

CONFIGURATION = """
extensions = ["myst_parser", "course_directives", "page_passes", "typeset_formulas", "webp_figures"]
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "typeset"
# What is missing here, Sphinx would write into its own default, where the next book in this process would find it.
source_suffix = {".md": "markdown"}
"""

sys.path.insert(0, str(ROOT / "book" / "_ext"))


@pytest.fixture(scope="session")
def html():
    """The folder of the built site; `make test` is still building it when its first tests run."""
    if built := os.environ.get("BUILT"):
        while not Path(built).exists() or not Path(built).read_text():
            time.sleep(0.5)
        if int(Path(built).read_text()):
            pytest.fail("the site could not be built: see _build/book.log", pytrace=False)
    if not (HTML / "index.html").exists():
        pytest.fail("the site is not built: run `make book`", pytrace=False)
    return HTML


@cache
def compressed(path):
    return gzip.compress(path.read_bytes())


class Handler(SimpleHTTPRequestHandler):
    """Serves as a web host does: what is text comes compressed."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        if path.suffix not in (".html", ".css", ".js", ".svg") or not path.is_file():
            return super().do_GET()
        content = compressed(path)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="session")
def server(html):
    """The address of a server of the site, on this machine only."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=html)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def visit(browser):
    """A function that opens an address in a new window and notes what the page asks for and complains about."""

    def open_page(url, width=1280, colour_scheme="light"):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=colour_scheme)
        seen = SimpleNamespace(page=page, url=url, requests=[], complaints=[])
        page.on("request", lambda request: seen.requests.append(request.url))
        page.on("requestfailed", lambda request: seen.complaints.append(f"not loaded: {request.url}"))
        page.on("pageerror", lambda error: seen.complaints.append(f"script error: {error}"))
        page.on("response", lambda answer: answer.status >= 400 and seen.complaints.append(f"{answer.status}: {answer.url}"))
        page.on(
            "console",
            lambda message: message.type in ("error", "warning") and seen.complaints.append(f"console: {message.text}"),
        )
        page.goto(url)
        return seen

    return open_page


@pytest.fixture
def build(tmp_path, capsys):
    """A function that writes pages and builds the book of all pages so far with our extensions, where a warning is an error.

    It returns the site, whether the build succeeded and what it said.
    """
    source, site = tmp_path / "source", tmp_path / "html"
    source.mkdir()
    (source / "conf.py").write_text(CONFIGURATION, encoding="utf-8")

    def build_pages(**pages):
        for name, text in pages.items():
            (source / f"{name}.md").write_text(f"---\norphan: true\n---\n# A page\n\n{text}\n", encoding="utf-8")
        failed = build_main(["-W", "--keep-going", "-q", str(source), str(site)])
        return SimpleNamespace(site=site, succeeded=not failed, said=capsys.readouterr().err)

    return build_pages
