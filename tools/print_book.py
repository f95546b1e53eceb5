"""Print the built pages as one PDF for each language into _build/print (make print)."""

import sys

from sphinx_external_toc.parsing import parse_toc_yaml

from tools.browser import NO_CHROMIUM, find_chromium, open_chromium
from tools.notebooks import ROOT

STYLES = """<style>
  @page { size: A4; margin: 18mm 16mm; @bottom-center { content: counter(page); } }
  html { font-size: 75%; }
  article { break-before: page; }
  .tl-translator form, .tl-translator :is(.looked, .hint), .tl-explorer, .tl-controls, .narrow-window { display: none; }
  .wide-window { display: block; }
</style>"""
# Turns a page into a chapter: links inside the book name places in it, so an id holds the page's name; no script runs.
CHAPTER = """pages => {
  const article = document.querySelector("article")
  const place = ({pathname, hash}) => {
    const page = pathname.split("/").slice(-2).join("/").replace(".html", "")
    return pages.includes(page) && page + decodeURIComponent(hash).replace("#", "--")
  }
  for (const node of article.querySelectorAll("script, noscript, .headerlink, .viewcode-link, .printed-book")) node.remove()
  for (const node of article.querySelectorAll("[id]:not(svg *, .tl-translator *)")) node.id = `${place(location)}--${node.id}`
  for (const node of article.querySelectorAll("a[href^='file:'], a[href]:not([href*=':'])")) {
    const target = place(new URL(node.getAttribute("href"), location))
    if (target) node.setAttribute("href", `#${target}`)
    else node.removeAttribute("href")
  }
  for (const node of article.querySelectorAll("details")) { node.removeAttribute("name"); node.open = true }
  for (const node of article.querySelectorAll("img")) node.loading = "eager"
  article.id = place(location)
  const files = [...document.querySelectorAll("head > link[rel=stylesheet], head > script[src]")]
  for (const node of [...files, ...article.querySelectorAll("img")]) node[node.href ? "href" : "src"] += "" // from every folder
  const head = files.map(node => node.outerHTML)
  const needed = head.filter(text => /^<link|mathjax/i.test(text)).map(text => text.replace(/\\?\\w+=\\w+"/, '"'))
  return [article.querySelector("h1").textContent, article.outerHTML, needed]
}"""


def print_book(browser, site, pages, path, language, contents):
    """Write the built `pages` of the folder `site` to `path`, in their order, under a list of `contents`."""
    window = browser.new_page(java_script_enabled=False)
    chapters, head = {}, {}
    for page in pages:
        window.goto((site / f"{page}.html").as_uri())
        *chapters[page], parts = window.evaluate(CHAPTER, pages)
        head |= dict.fromkeys(parts)
    items = "".join(f'<li><a href="#{page}">{title}</a></li>' for page, (title, _) in chapters.items())
    body = "".join(article for _, article in chapters.values())
    joined = site / "book" / "joined.html"  # beside the pages, so that addresses in them stay right
    joined.write_text(
        f'<!doctype html><html lang="{language}" data-theme="light"><meta charset="utf-8"><title>{path.stem}</title>'
        f"{''.join(head)}{STYLES}<h1>{contents}</h1><ul>{items}</ul>{body}</html>",
        encoding="utf-8",
    )
    window = browser.new_page()
    window.goto(joined.as_uri())
    window.evaluate("async () => { await window.MathJax?.startup?.promise }")
    path.parent.mkdir(exist_ok=True)
    window.pdf(path=path, prefer_css_page_size=True, print_background=True)
    joined.unlink()


if __name__ == "__main__":
    chromium = find_chromium() or sys.exit(NO_CHROMIUM)
    pages = list(parse_toc_yaml(ROOT / "_toc.yml"))
    with open_chromium(chromium) as browser:
        for folder, ending, language, contents in (("", "", "en", "Contents"), ("ko", "-ko", "ko", "차례")):
            path = ROOT / "_build" / "print" / f"building-the-transformer{ending}.pdf"
            print_book(browser, ROOT / "_build" / "html" / folder, pages, path, language, contents)
            print(f"wrote {path.name}, {path.stat().st_size / 1e6:.1f} MB")
