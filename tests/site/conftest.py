"""The built site, a server for it, and its pages opened in the browser."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

HTML = Path(__file__).resolve().parents[2] / "_build" / "html"


@pytest.fixture(scope="session")
def html():
    """The folder of the built site."""
    if not (HTML / "index.html").exists():
        pytest.fail("the site is not built: run `make book`", pytrace=False)
    return HTML


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="session")
def server(html):
    """The address of a server of the site, on this machine only."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=html)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def visit(browser):
    """A function that opens an address in a new window, and notes what the page asks for and complains about."""

    def open_page(url, width=1280, colour_scheme="light"):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=colour_scheme, reduced_motion="reduce")
        seen = SimpleNamespace(page=page, requests=[], complaints=[])
        page.on("request", lambda request: seen.requests.append(request.url))
        page.on("requestfailed", lambda request: seen.complaints.append(f"not loaded: {request.url}"))
        page.on("pageerror", lambda error: seen.complaints.append(f"script error: {error}"))
        page.on("console", lambda said: said.type in ("error", "warning") and seen.complaints.append(said.text))
        page.goto(url)
        page.evaluate("async () => { await window.MathJax?.startup?.promise }")
        return seen

    return open_page
