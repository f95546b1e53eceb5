"""The library's translators in the page: the directive `{translator}`, a box to type into, and the weights as scripts.

A page that is opened as a file may load scripts and nothing else. So the weights are scripts too: they are generated here
from the library's own translators, in the half precision in which these are stored, and a page loads one when it is first used.
"""

import json
from dataclasses import asdict
from functools import cache
from html import escape
from pathlib import Path

import torch
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from transformer_lib import teaching
from transformer_lib._language import language, say
from transformer_lib.seq2seq import EOS_ID, SOS_ID
from transformer_lib.teaching.corpora import english_french
from transformer_lib.teaching.figures.live.figure import speaking_script
from transformer_lib.teaching.figures.live.tensors import in_half_precision
from transformer_lib.teaching.figures.live.trained_attention import trained_attention
from transformer_lib.teaching.figures.theme import stylesheet
from transformer_lib.translation import pretrained_translator

WEIGHTS = {"translator": "weights.js", "captions": "captions.js"}
START = "/* Generated from transformer_lib/pretrained. */\n((globalThis.transformer_lib ??= {}).pretrained ??= {})."
MARK = "tl-translator"
SPEAKING = ("box", "client", "explorer", "service")  # the scripts that put words into the page
PLACE = "<!-- the translator, with first words -->"
EXAMPLES = [
    "the white cow is big",
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
HINT = (
    "Point at a French word, or go to it with the Tab key: the lines show where the decoder looked when it wrote it "
    "(cross-attention of the last layer, the mean of its heads)."
)

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


def write_weights(app):
    if app.builder.format != "html":
        return
    folder = Path(app.outdir, "_static", "translator")
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in WEIGHTS.items():
        (folder / file).write_text(weights_script(name), encoding="utf-8")
    if language() != "en":
        each = f"document.querySelectorAll('.{MARK}').forEach(translateIn)"
        script = f"(() => {{\n{speaking_script(*SPEAKING)}{each}\n}})()\n" if speaking_script(*SPEAKING) else ""
        (folder / "language.js").write_text(script, encoding="utf-8")


@torch.no_grad()
def first_answer(text):
    """Translate `text` as the page's script would: written before anything is loaded. Only for words of one token each."""
    model, tokenizer = translator().model.eval(), translator().tokenizer
    source, written = translator().read(text), tokenizer.encode(translator().translate(text))
    with teaching.capture_attention(model) as kept:
        model(torch.tensor([source]), torch.tensor([[SOS_ID, *written]]))
    last = kept[f"decoder.layers.{model.config.num_layers - 1}.cross_attention"][0].mean(dim=0)  # (written + 1, source)
    words = [[tokenizer.backend.id_to_token(index) for index in ids] for ids in (source, [*written, EOS_ID])]
    if any(not token.startswith(("▁", "<")) for some in words for token in some):
        raise ValueError(f"the first example must be of words of one token each, but {text!r} is not")
    english, french = ([word.removeprefix("▁") for word in some] for some in words)
    looked_at = last.argmax(dim=1)[:-1]  # by the words, not by <eos>
    return {
        "chosen": int((looked_at - torch.arange(len(looked_at))).abs().argmax()),  # the word that looks farthest aside
        "source": english,
        "words": french,
        "text": " ".join(french[:-1]),
        "attention": [[round(weight, 3) for weight in row] for row in last.tolist()],
    }


def known_words():
    """Return some English words that the training sentences hold, one line for each kind."""
    lists = {
        say("people and animals"): [noun.english[0] for noun in english_french.NOUNS if noun.kind in ("person", "animal")],
        say("things"): [noun.english[0] for noun in english_french.NOUNS if noun.kind not in ("person", "animal")],
        say("professions"): [profession.english[0] for profession in english_french.PROFESSIONS],
        say("places"): [f"{place.preposition} the {place.english}" for place in english_french.PLACES],
        say("what they are"): [adjective.english for adjective in english_french.ADJECTIVES],
        say("what they do"): [verb.english for verb in english_french.TRANSITIVE + english_french.INTRANSITIVE],
        say("what they have done"): [f"have {participle.english}" for participle in english_french.PARTICIPLES],
        say("small words"): ["I", "you", "he", "she", "we", "they", "the", "a", "my", "his", "her", "this", "these", "not"]
        + [*english_french.OFTEN, *english_french.AT_THE_END, *english_french.JOINED_BY],
    }
    rows = (f"<dt>{kind}</dt><dd lang='en'>{', '.join(words)}</dd>" for kind, words in lists.items())
    return f"<details data-of='translator'><summary>{say('Words it knows')}</summary><dl>{''.join(rows)}</dl></details>"


def examples(name, model, sentences):
    """Return buttons with `sentences`, each with first words, for the translator `model`."""
    buttons = "".join(
        f'<li><button type="button" data-text="{escape(text)}" data-first-words="{escape(first_words)}">'
        f"{escape(text)}{f' · <i lang=fr>{escape(first_words)} …</i>' if first_words else ''}</button></li>"
        for text, first_words in sentences
    )
    hidden = "" if model == "translator" else " hidden"
    return f"""<div class="examples" data-of="{model}"{hidden}><p id="{name}-{model}">{say("Or choose one:")}</p>
<ul aria-labelledby="{name}-{model}">{buttons}</ul></div>"""


def choice_of_model():
    """Return the choice between the two translators."""
    megabytes = round(len(weights_script("captions").encode()) / 1e6)
    captions = say("chapter 16's, of real ones: captions of photographs ({megabytes} MB, loaded when you first use it)")
    return f"""<fieldset class="models"><legend>{say("Which translator?")}</legend>
<label><input type="radio" name="model" value="translator" checked> {say("chapter 14's, of made-up sentences")}</label>
<label><input type="radio" name="model" value="captions" data-megabytes="{megabytes}">
{captions.format(megabytes=megabytes)}</label></fieldset>"""


def box(name, with_first_words=False, with_captions=False):
    """Return the box; the ids in it begin with `name`. With first words it has a second field, for the decoder's; with
    captions a choice between the two translators.
    """
    answer = first_answer(EXAMPLES[0])
    buttons = examples(name, "translator", FIRST_WORDS_EXAMPLES if with_first_words else [(text, "") for text in EXAMPLES])
    if with_captions:
        buttons += examples(name, "captions", CAPTIONS_EXAMPLES)
    first_words = say("First words for the decoder, in French (may be empty)")
    second = f"""<div class="field"><label for="{name}-first-words">{first_words}</label>
        <input id="{name}-first-words" name="first_words" type="text" lang="fr" maxlength="1000"
        autocomplete="off" autocapitalize="off" spellcheck="false"></div>"""
    english = "".join(f"<li>{escape(word)}</li>" for word in answer["source"])
    french = "".join(f'<li><button type="button">{escape(word)}</button></li>' for word in answer["words"][:-1])
    html = f"""{stylesheet(MARK, "")}
<section class="{MARK}" aria-label="{say("Our translator")}" data-answer="{escape(json.dumps(answer, ensure_ascii=False))}">
<form>
{choice_of_model() if with_captions else ""}
<div class="field"><label for="{name}-text">{say("An English sentence")}</label><input id="{name}-text" name="text"
type="text" lang="en" value="{escape(EXAMPLES[0])}" maxlength="1000" autocomplete="off" autocapitalize="off" spellcheck="false"
aria-describedby="{name}-state"></div>
{second if with_first_words else ""}
<button type="submit">{say("Translate")}</button>
{buttons}
</form>
<p class="state" id="{name}-state" role="status"></p>
<div class="words">
<svg aria-hidden="true"></svg>
<ol class="source" lang="en" aria-label="{say("The words it read")}">{english}</ol>
<ol class="written" lang="fr" aria-label="{say("The words it wrote")}">{french}</ol>
</div>
<p class="looked" aria-live="polite"></p>
<p class="hint">{say(HINT)}</p>
{known_words()}
<noscript><p>{say("To try other sentences, allow scripts on this page. They are the course's own.")}</p></noscript>
</section>"""
    return nodes.raw("", html, format="html")


class TranslatorBox(SphinxDirective):
    """Insert a box with the translator. With `prefix` it has a second field: first words for the decoder; with `captions` one
    chooses which translator.
    """

    option_spec = {"prefix": directives.flag, "captions": directives.flag}  # noqa: RUF012

    def run(self):
        name = f"translator-{self.env.new_serialno('translator')}"
        return [box(name, "prefix" in self.options, "captions" in self.options)]


def put_box_in_notebooks(app, doctree):
    """Put a box where a notebook has the comment `PLACE`: a directive would stand as plain text in Jupyter and Colab."""
    for index, node in enumerate([node for node in doctree.findall(nodes.raw) if node.astext().strip() == PLACE]):
        node.replace_self(box(f"place-{index}", with_first_words=True))


class TranslatorPart(SphinxDirective):
    """Insert a part of the explorer, of the sentence in the page's box: `numbers` is the figure of attention."""

    required_arguments = 1

    def run(self):
        part = directives.choice(self.arguments[0], ("maps", "numbers", "heads", "layer", "probabilities", "beam"))
        if part == "numbers":
            return [nodes.raw("", trained_attention(translator(), EXAMPLES[0])._repr_html_(), format="html")]
        text = f"<p>{say('The sentence of the box above is shown here, once the translator is loaded.')}</p>"
        html = f'{stylesheet(MARK, "")}<div class="{MARK} tl-explorer" data-explorer="{part}">{text}</div>'
        return [nodes.raw("", html, format="html")]


def add_files(app, page, template, context, doctree):
    """Let only those pages load the box's files that have a box."""
    body = context.get("body", "")
    if f'class="{MARK}' in body:
        app.add_css_file("translator.css")
        names = ["client", "box", *(["explorer"] if "data-explorer=" in body else [])]
        for name in [*(["language"] if language() != "en" else []), *names]:
            app.add_js_file(f"translator/{name}.js", loading_method="defer")


def setup(app):
    app.add_directive("translator", TranslatorBox)
    app.add_directive("translator-part", TranslatorPart)
    app.connect("builder-inited", write_weights)
    app.connect("doctree-read", put_box_in_notebooks)
    app.connect("html-page-context", add_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
