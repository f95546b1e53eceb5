"""When a reader first sees something, and how far it moves afterwards: each page of the built site, on a slowed processor.

Of the Korean pages, which have the same code, three are measured.

The site comes from this machine, with an empty cache each time, and Chromium is slowed down four times. A page of one line is
measured beside them: what it takes is the browser's and the machine's share. Build the site first: `make book`. The first paint
is the median of the visits, and the fastest says what the page takes where nothing else runs.

A machine that also does other things measures itself. Then name the HTML of an earlier site, one of before the pages became
light (commit f0b4e51, built in a folder of its own): `python -m benchmarks.first_paint EARLIER/_build/html`. Its pages and
today's are visited in turns, and the ratio of their medians is recorded too.
"""

import argparse
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median

from sphinx_external_toc.parsing import parse_toc_yaml

from benchmarks.records import write_record
from tools.browser import NO_CHROMIUM, find_chromium, open_chromium
from tools.notebooks import ROOT

HTML = ROOT / "_build" / "html"
SLOWER = 4
TIMES = 7
ONE_LINE = "one line"
KOREAN = "ko/book/index", "ko/notebooks/06_attention", "ko/book/explorer"
# Shifts are noted from the beginning; one that a reader has caused is no surprise and does not count.
WATCH = """
    window.shift = 0
    new PerformanceObserver(list => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value
    }).observe({type: 'layout-shift', buffered: true})
"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
SCROLL = """async () => {
    for (let top = 0; top < document.documentElement.scrollHeight; top += 900) {
        scrollTo(0, top)
        await new Promise(resolve => requestAnimationFrame(resolve))
    }
    await new Promise(resolve => setTimeout(resolve, 500))
}"""


class Handler(SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path != "/one-line":
            return super().do_GET()
        content = b"<!doctype html><title>One line</title><p>One line."
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass


@contextmanager
def served(folder: Path):
    """Serve the folder from this machine while the block runs; gives the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def visit(browser, url: str, *, scroll: bool = False) -> tuple[float, float]:
    """Return the first paint in seconds, and the layout shift; if asked, scroll to the end before it is read."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(WATCH)
    page = context.new_page()
    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.goto(url, wait_until="load" if scroll else "commit")
    page.wait_for_function(f"() => {PAINT} !== undefined")
    paint = page.evaluate(PAINT) / 1000
    if scroll:
        page.evaluate(SCROLL)
    shift = page.evaluate("window.shift")
    context.close()
    return paint, shift


def measure(browser, today: str, earlier: str | None) -> dict[str, float]:
    """Visit a page, in turns with the earlier one where there is one; return what is recorded of it."""
    paints, shifts, earlier_paints = [], [], []
    for time in range(TIMES):
        paint, shift = visit(browser, today, scroll=time == 0)
        paints.append(paint)
        shifts.append(shift)
        if earlier:
            earlier_paints.append(visit(browser, earlier)[0])
    numbers = {"first_paint_s": round(median(paints), 2), "fastest_s": round(min(paints), 2)}
    if earlier:
        numbers |= {
            "earlier_s": round(median(earlier_paints), 2),
            "ratio": round(median(paints) / median(earlier_paints), 2),
        }
    return {**numbers, "layout_shift": round(max(shifts), 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("earlier", nargs="?", type=Path, help="the folder with the HTML of an earlier site")
    earlier = parser.parse_args().earlier
    for folder in (HTML, earlier):
        if folder and not (folder / "index.html").exists():
            parser.error(f"{folder.name}: no site is built there; run `make book`")
    if not (chromium := find_chromium()):
        raise SystemExit(NO_CHROMIUM)
    names = [*parse_toc_yaml(Path(ROOT, "_toc.yml")), *KOREAN]
    pages = {ONE_LINE: "/one-line", **{page: f"/{page}.html" for page in names}}
    numbers = {}
    with served(HTML) as today, served(earlier or HTML) as before, open_chromium(chromium) as browser:
        visit(browser, f"{today}/one-line")  # the browser's own first time
        for page, path in pages.items():
            compared = earlier and (earlier / f"{page}.html").exists()
            numbers[page] = measure(browser, f"{today}{path}", f"{before}{path}" if compared else None)
            print(f"{page:32}", *(f"{name} {number}" for name, number in numbers[page].items()), sep="  ", flush=True)
    settings = {"slower": SLOWER, "times": TIMES, "width": 1280}
    write_record("first_paint", seeds=[], settings=settings, numbers=numbers)


if __name__ == "__main__":
    main()
