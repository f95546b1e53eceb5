"""The library's translators in the page: the directive `{translator}`, a box to type into, and the weights as scripts.

A page that is opened as a file may load scripts and nothing else. So the weights are scripts too: they are generated here
from the library's own translators, in the half precision in which these are stored, and a page loads one when it is first used.
"""

import json
from dataclasses import asdict
from functools import cache
from pathlib import Path

import jinja2
import torch
from docutils import nodes
from docutils.parsers.rst import directives
from markupsafe import Markup
from sphinx.util.docutils import SphinxDirective

from transformer_lib import teaching
from transformer_lib._language import _, script_words
from transformer_lib.seq2seq import EOS_ID, SOS_ID
from transformer_lib.teaching.corpora import english_french
from transformer_lib.teaching.figures.live import figure
from transformer_lib.teaching.figures.live.tensors import in_half_precision
from transformer_lib.teaching.figures.live.trained_attention import trained_attention
from transformer_lib.teaching.figures.theme import stylesheet
from transformer_lib.translation import pretrained_translator

TEMPLATES = Path(__file__).parents[1] / "_templates"
SCRIPTS = Path(__file__).parents[1] / "_static" / "translator"
WEIGHTS = {"translator": "weights.js", "captions": "captions.js"}
START = "/* Generated from transformer_lib/pretrained. */\n((globalThis.transformer_lib ??= {}).pretrained ??= {})."
MARK = "tl-translator"
PLACE = "<!-- the translator, with first words -->"
EXAMPLES = [
    "the white cow is big",  # it is translated before anything is loaded: each of its words has to be one token
    "I am a student",
    "she does not have a red car",
    "they often look for him because he is sad",
    "my sisters have arrived at the hotel",
]
FIRST_WORDS_EXAMPLES = [
    ("the white cow is tired", "le cheval"),
    ("the white horse is tired", "la vache"),
    ("I am a student", "tu"),
    ("she does not have a red car", "elle voit"),
]
CAPTIONS_EXAMPLES = [
    ("A man in a red shirt plays the guitar.", ""),
    ("Two dogs run on the beach.", ""),
    ("A young girl is jumping into the water.", "Un jeune"),
    ("People are sitting at a table in front of a house.", ""),
]

translator = cache(pretrained_translator)


@cache
def weights_script(name="translator"):
    """Return the script: sizes, tokenizer, words, and every weight once, in half precision, low byte first, as base64."""
    one = translator(name)
    tokenizer = json.loads(one.tokenizer.backend.to_str())
    pretrained = {
        "config": asdict(one.model.config),
        "tokenizer": {key: tokenizer[key] for key in ("normalizer", "pre_tokenizer", "model")},
        "words": " ".join(sorted(one.words)),
        # Matrices that are shared are the same parameter, and come once.
        **in_half_precision(dict(one.model.named_parameters())),
    }
    return f"{START}{name} = {json.dumps(pretrained, ensure_ascii=False, separators=(',', ':'))};\n"


def words_script():
    """Return the script with `_`, by which the other scripts say what they say."""
    words = figure.in_script(script_words("".join(path.read_text("utf-8") for path in SCRIPTS.glob("*.js"))))
    look_up = Path(figure.__file__).with_name("words.js").read_text("utf-8")
    return f"(() => {{\nconst words = {words}\n{look_up}(globalThis.transformer_lib ??= {{}})._ = _\n}})()\n"


def write_scripts(app):
    if app.builder.format == "html":
        folder = Path(app.outdir, "_static", "translator")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "words.js").write_text(words_script(), encoding="utf-8")
        for name, file in WEIGHTS.items():
            (folder / file).write_text(weights_script(name), encoding="utf-8")


@cache
@torch.no_grad()
def first_answer(text=EXAMPLES[0]):
    """Translate `text` as the page's script would."""
    model, tokenizer = translator().model.eval(), translator().tokenizer
    source, written = translator().read(text), tokenizer.encode(translator().translate(text))
    with teaching.capture_attention(model) as kept:
        model(torch.tensor([source]), torch.tensor([[SOS_ID, *written]]))
    last = kept[f"decoder.layers.{model.config.num_layers - 1}.cross_attention"][0].mean(dim=0)  # (written + 1, source)
    english, french = (
        [tokenizer.backend.id_to_token(index).removeprefix("▁") for index in ids] for ids in (source, [*written, EOS_ID])
    )
    looked_at = last.argmax(dim=1)[:-1]  # by the words, not by <eos>
    return {
        "chosen": int((looked_at - torch.arange(len(looked_at))).abs().argmax()),  # the word that looks farthest aside
        "source": english,
        "words": french,
        "text": " ".join(french[:-1]),
        "attention": [[round(weight, 3) for weight in row] for row in last.tolist()],
    }


def known_words():
    """Return some English words that the training sentences hold, by kind."""
    words = english_french
    return {
        _("people and animals"): [noun.english[0] for noun in words.NOUNS if noun.kind in ("person", "animal")],
        _("things"): [noun.english[0] for noun in words.NOUNS if noun.kind not in ("person", "animal")],
        _("professions"): [profession.english[0] for profession in words.PROFESSIONS],
        _("places"): [f"{place.preposition} the {place.english}" for place in words.PLACES],
        _("what they are"): [adjective.english for adjective in words.ADJECTIVES],
        _("what they do"): [verb.english for verb in words.TRANSITIVE + words.INTRANSITIVE],
        _("what they have done"): [f"have {participle.english}" for participle in words.PARTICIPLES],
        _("small words"): "I you he she we they the a my his her this these not".split()
        + [*words.OFTEN, *words.AT_THE_END, *words.JOINED_BY],
    }


def box(name, with_first_words=False, with_captions=False):
    """Return the box; ids in it begin with `name`. It may have a field for first words, and a choice of models."""
    examples = {"translator": FIRST_WORDS_EXAMPLES if with_first_words else [(text, "") for text in EXAMPLES]}
    if with_captions:
        examples["captions"] = CAPTIONS_EXAMPLES
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True)
    environment.globals["_"] = _
    html = environment.get_template("translator-box.html").render(
        name=name,
        stylesheet=Markup(stylesheet(MARK, "")),
        answer=first_answer(),
        example=EXAMPLES[0],
        examples=examples,
        known_words=known_words(),
        with_first_words=with_first_words,
        with_captions=with_captions,
        megabytes=round(len(weights_script("captions").encode()) / 1e6),
    )
    return nodes.raw("", html, format="html")


class TranslatorBox(SphinxDirective):
    """`{translator}`: the box; `prefix` adds the field for first words, `captions` the choice of models."""

    option_spec = {"prefix": directives.flag, "captions": directives.flag}  # noqa: RUF012

    def run(self):
        name = f"translator-{self.env.new_serialno('translator')}"
        return [box(name, "prefix" in self.options, "captions" in self.options)]


def put_box_in_notebooks(app, doctree):
    """Put a box where a notebook has the comment `PLACE`: a directive would stand as plain text in Jupyter and Colab."""
    for index, node in enumerate([node for node in doctree.findall(nodes.raw) if node.astext().strip() == PLACE]):
        node.replace_self(box(f"place-{index}", with_first_words=True))


class TranslatorPart(SphinxDirective):
    """`{translator-part}`: a part of the explorer, of the sentence in the page's box; `numbers` is the figure of attention."""

    required_arguments = 1

    def run(self):
        part = directives.choice(self.arguments[0], ("maps", "numbers", "heads", "layer", "probabilities", "beam"))
        if part == "numbers":
            return [nodes.raw("", trained_attention(translator(), EXAMPLES[0])._repr_html_(), format="html")]
        text = _("The sentence of the box above is shown here, once the translator is loaded.")
        html = f'{stylesheet(MARK, "")}<div class="{MARK} tl-explorer" data-explorer="{part}"><p>{text}</p></div>'
        return [nodes.raw("", html, format="html")]


def add_files(app, page, template, context, doctree):
    """Let only those pages load the box's files that have a box."""
    body = context.get("body", "")
    if f'class="{MARK}' in body:
        app.add_css_file("translator.css")
        for name in ["words", "client", "box", *(["explorer"] if "data-explorer=" in body else [])]:
            app.add_js_file(f"translator/{name}.js", loading_method="defer")


def setup(app):
    app.add_directive("translator", TranslatorBox)
    app.add_directive("translator-part", TranslatorPart)
    app.connect("builder-inited", write_scripts)
    app.connect("doctree-read", put_box_in_notebooks)
    app.connect("html-page-context", add_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
