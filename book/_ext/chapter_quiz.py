"""The directive `{chapter-quiz}`: the cards of a quiz of the library, on a page that is no notebook."""

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from transformer_lib.teaching.quizzes import chapter_quiz


class ChapterQuiz(SphinxDirective):
    """Insert the quiz whose name is the argument."""

    required_arguments = 1

    def run(self):
        self.env.note_reread()
        return [nodes.raw("", chapter_quiz(self.arguments[0])._repr_html_(), format="html")]


def setup(app):
    app.add_directive("chapter-quiz", ChapterQuiz)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
