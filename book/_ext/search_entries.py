"""Keep the terms of the glossary in the search, however often the book is built.

Sphinx keeps the search's words and titles from one build to the next, but not its index entries: those of a page that is
not written again are lost. So each build writes the pages again that have entries.
"""


def pages_with_entries(app, env):
    return [page for page, entries in env.get_domain("index").entries.items() if entries]


def setup(app):
    app.connect("env-updated", pages_with_entries)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
