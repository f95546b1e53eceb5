"""Say where lines may break, and where not, in what a browser would break anywhere or nowhere."""

import re

from docutils import nodes

# Code in a table: after a sign that parts names, and before the next word of a name such as TokenEmbedding.
PLACES = re.compile(r"(?<=[/_.(,=:])(?=[^\s/_.(,=:<&])|(?<=[a-z])(?=[A-Z])")
LONG = 16  # shorter code stays in one piece
CODE_WIDTH = 88  # characters that fit beside each other, as course.css has it
GAP = re.compile(r"(?<=\S) {2,}(?=\S)")  # between two columns


def break_code_in_tables(app, page, template, context, doctree):
    def in_word(word):
        return word[0] if len(word[1]) < LONG else f'<span class="pre">{PLACES.sub("<wbr>", word[1])}</span>'

    def in_table(table):
        return re.sub(r'<span class="pre">([^<]*)</span>', in_word, table[0])

    context["body"] = re.sub(r"<table.*?</table>", in_table, context.get("body") or "", flags=re.DOTALL)


def is_output(node):
    return isinstance(node, nodes.container) and "cell_output" in node["classes"]


def mark_wide_columns(app, doctree):
    """Mark printed tables that are too wide, so that their columns stay columns."""
    for output in doctree.findall(is_output):
        for text in output.findall(nodes.literal_block):
            wide = [line for line in text.astext().splitlines() if len(line) > CODE_WIDTH]
            if 2 * sum(bool(GAP.search(line)) for line in wide) > len(wide):
                text["classes"].append("wide-columns")


def glue_punctuation(app, doctree):
    """Keep the sign after a formula on the formula's line."""
    for formula in list(doctree.findall(nodes.math)):
        line, after = formula.parent, formula.next_node(descend=False, siblings=True)
        sign = re.match(r"[.,;:!?)]+", after.astext()) if isinstance(after, nodes.Text) else None
        if sign is None or isinstance(line, nodes.title):
            continue
        place = line.index(formula)
        rest = after.astext()[sign.end() :]
        glued = nodes.inline("", "", formula, nodes.Text(sign[0]), classes=["glued"])
        line[place : place + 2] = [glued, nodes.Text(rest)] if rest else [glued]


def setup(app):
    app.connect("doctree-read", mark_wide_columns)
    app.connect("doctree-read", glue_punctuation)
    app.connect("html-page-context", break_code_in_tables)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
