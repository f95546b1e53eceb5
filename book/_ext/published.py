"""What a site needs once it has an address: each page's own (canonical) address, and a map of the site for search engines.

With and without an address it gets a page that stands in for those that do not exist.
"""

import re
from pathlib import Path
from xml.etree import ElementTree


def site_address(repository):
    """Return where GitHub Pages shows the site of `repository`, or an empty string where there is no address yet."""
    match = re.fullmatch(r"https://github\.com/([^/]+)/([^/]+)", repository or "")
    if not match:
        return ""
    host, name = f"{match[1].lower()}.github.io", match[2]
    return f"https://{host}/" if name.lower() == host else f"https://{host}/{name}/"


def set_address(app, config):
    address = site_address(config.html_theme_options.get("repository_url"))
    if address and config.language != "en":
        address += f"{config.language}/"
    config.html_baseurl = config.html_baseurl or address
    config.html_context = {**config.html_context, "site_address": config.html_baseurl}
    config.html_additional_pages = {**config.html_additional_pages, "404": "404.html"}


def write_sitemap(app, exception):
    if exception or app.builder.format != "html" or not app.config.html_baseurl:
        return
    root = ElementTree.Element("urlset", xmlns="http://www.sitemaps.org/schemas/sitemap/0.9")
    for page in sorted(app.env.found_docs):
        address = app.config.html_baseurl + app.builder.get_target_uri(page)
        ElementTree.SubElement(ElementTree.SubElement(root, "url"), "loc").text = address
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(Path(app.outdir, "sitemap.xml"), encoding="utf-8", xml_declaration=True)


def setup(app):
    app.connect("config-inited", set_address)
    app.connect("build-finished", write_sitemap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
