"""The directive `{role-colours}`: the colour of each role, read from the library's figure style."""

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from transformer_lib.teaching.figures import COLOURS

SWATCH = (
    '<span aria-hidden="true" style="display: inline-block; width: 3em; height: 1em; vertical-align: middle; '
    'border: 1px solid currentColor; background: {colour}"></span>'
)


class RoleColours(SphinxDirective):
    """Insert a table of the roles and their colours."""

    def run(self):
        self.env.note_reread()
        rows = "".join(
            f'<tr><th scope="row">{role}</th><td>{SWATCH.format(colour=colour)} <code>{colour}</code></td></tr>'
            for role, colour in COLOURS.items()
        )
        head = '<thead><tr><th scope="col">role</th><th scope="col">colour</th></tr></thead>'
        return [nodes.raw("", f'<table class="table">{head}<tbody>{rows}</tbody></table>', format="html")]


def setup(app):
    app.add_directive("role-colours", RoleColours)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
