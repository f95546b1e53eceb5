"""Mark the cells of a notebook that go into the library, and say where."""

from pathlib import PurePosixPath

from docutils import nodes


def mark(app, doctree):
    name = PurePosixPath(app.env.docname).name
    if not app.env.docname.startswith("notebooks/"):
        return
    module = f"transformer_lib/{name.partition('_')[2]}.py"
    for code in list(doctree.findall(nodes.literal_block)):
        cell = code.parent.parent
        if not code.astext().startswith("#| export\n") or "tag_hide-input" in cell["classes"]:
            continue
        cell["classes"].append("exported")
        cell.insert(0, nodes.paragraph("", "Part of the library: ", nodes.literal("", module), classes=["exported-to"]))


def setup(app):
    app.connect("doctree-read", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
