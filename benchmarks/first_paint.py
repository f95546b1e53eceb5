"""When a reader first sees something, and how far it moves afterwards: each page of the built site, on a slowed processor.

The site comes from this machine, with an empty cache each time, and Chromium is slowed down four times. A page of one line is
measured beside them: what it takes is the browser's and the machine's share. Build the site first: `make book`. The first paint
is the median of the visits, and the fastest says what the page takes where nothing else runs.
"""

import threading
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
TIMES = 5
ONE_LINE = "one line"
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


def visit(browser, url: str, *, scroll: bool) -> tuple[float, float]:
    """Return the first paint in seconds, and the layout shift; if asked, scroll to the end before it is read."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(WATCH)
    page = context.new_page()
    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.goto(url, wait_until="load" if scroll else "commit")
    page.wait_for_function(f"{PAINT} !== undefined")
    paint = page.evaluate(PAINT) / 1000
    if scroll:
        page.evaluate(SCROLL)
    shift = page.evaluate("window.shift")
    context.close()
    return paint, shift


def main() -> None:
    if not (HTML / "index.html").exists():
        raise SystemExit("the site is not built: run `make book`")
    if not (chromium := find_chromium()):
        raise SystemExit(NO_CHROMIUM)
    pages = {page: f"/{page}.html" for page in parse_toc_yaml(Path(ROOT, "_toc.yml"))}
    numbers = {}
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=HTML)) as server, open_chromium(chromium) as browser:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        visit(browser, f"http://127.0.0.1:{server.server_port}/one-line", scroll=False)  # the browser's own first time
        for page, path in {ONE_LINE: "/one-line", **pages}.items():
            address = f"http://127.0.0.1:{server.server_port}{path}"
            paints, shifts = zip(*(visit(browser, address, scroll=time == 0) for time in range(TIMES)), strict=True)
            paint, fastest, shift = round(median(paints), 2), round(min(paints), 2), round(max(shifts), 4)
            numbers[page] = {"first_paint_s": paint, "fastest_s": fastest, "layout_shift": shift}
            print(f"{page:32}{paint:6.2f} s, fastest {fastest:.2f} s{shift:9.4f}", flush=True)
        server.shutdown()
    write_record("first_paint", seeds=[], settings={"slower": SLOWER, "times": TIMES, "width": 1280}, numbers=numbers)


if __name__ == "__main__":
    main()
