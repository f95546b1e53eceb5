"""The built site, a server for it, and its pages opened in the browser."""

import gzip
import threading
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest
from built_site import HTML


@pytest.fixture(scope="session")
def html():
    """The folder of the built site."""
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
