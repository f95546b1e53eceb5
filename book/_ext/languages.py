"""Two languages: a switch that keeps the place, anchors that are the same in both, and a search that knows Korean particles."""

import gettext
import os
import pickle
import re
from pathlib import Path

from docutils import nodes
from docutils.transforms import Transform
from sphinx.locale import get_translator, translators
from sphinx.search.en import SearchEnglish
from sphinx.util import logging

logger = logging.getLogger(__name__)

NAMES = {"en": "English", "ko": "한국어"}
DOMAINS = ("sphinx", "booktheme", "togglebutton")
COPY = "Copy", "Copy to clipboard", "Copied!", "Failed to copy"  # the copy button's words
FOLDER = "ko"  # of the Korean site, in the English one

# What may stand behind a Korean noun; the first list behind a last consonant, the second behind a vowel (or ㄹ, for 로).
BEHIND_CONSONANT = "은 을 이 과 으로 이란 이라는 이라 이나 이며 이고 이다 이든 으로는 으로도 으로써 으로서 이라고 이므로 이면"
BEHIND_VOWEL = "는 를 가 와 로 란 라는 라 나 며 고 다 든 로는 로도 로써 로서 라고 므로 면"
BEHIND_BOTH = (
    "의 도 만 에 에서 에게 까지 부터 보다 처럼 마다 조차 들 들은 들을 들이 들의 에는 에도 에서는 에서의 에서도 만의 만을 만이 "
    "까지의 입니다 이었습니다 였습니다 입니까 일까요 인가요 하고 하는 한 할 합니다 됩니다 된 되는 하면 하지"
)


def endings():
    """Return each ending with what it needs before it: True a consonant, False a vowel, None either; the longest first."""
    kinds = [(BEHIND_CONSONANT, True), (BEHIND_VOWEL, False), (BEHIND_BOTH, None)]
    return sorted(((word, kind) for words, kind in kinds for word in words.split()), key=lambda pair: -len(pair[0]))


ENDINGS = endings()


def final(syllable):
    """Return the number of a syllable's last consonant, 0 where it ends in a vowel, and None for what is no Korean syllable."""
    return (ord(syllable) - 0xAC00) % 28 if "가" <= syllable <= "힣" else None


def without_particles(word):
    """Return a Korean word without the particles and endings behind it: 어텐션을, 어텐션은 → 어텐션."""
    while final(word[-1:] or " ") is not None:
        for ending, consonant in ENDINGS:
            stem = word[: -len(ending)]
            if not word.endswith(ending) or not stem:
                continue
            # A single syllable would often lose what belongs to it.
            if final(stem[-1]) is not None and len(stem) < 2 and (consonant is None or len(ending) > 1):
                continue
            ends = final(stem[-1])
            behind_l = ending.startswith("로") and ends == 8
            if consonant is not None and ends is not None and bool(ends) != consonant and not behind_l:
                continue
            word = stem
            break
        else:
            break
    return word


class SearchKorean(SearchEnglish):
    """Korean words without their particles; English ones as in the English site."""

    lang = "ko"
    language_name = "Korean"
    js_stemmer_code = f"""{SearchEnglish.js_stemmer_code}
const English = Stemmer;
const ENDINGS = [{", ".join(f'["{word}", {"null" if kind is None else str(kind).lower()}]' for word, kind in ENDINGS)}];
const final = (syllable) => (syllable >= "가" && syllable <= "힣" ? (syllable.charCodeAt(0) - 0xac00) % 28 : null);

function without_particles(word) {{
  for (;;) {{
    if (!word || final(word.at(-1)) === null) return word;
    const ending = ENDINGS.find(([ending, consonant]) => {{
      const stem = word.slice(0, -ending.length);
      if (!word.endsWith(ending) || !stem) return false;
      const ends = final(stem.at(-1));
      if (ends !== null && stem.length < 2 && (consonant === null || ending.length > 1)) return false;
      return consonant === null || ends === null || Boolean(ends) === consonant || (ending.startsWith("로") && ends === 8);
    }});
    if (!ending) return word;
    word = word.slice(0, -ending[0].length);
  }}
}}

Stemmer = function () {{
  const english = new English();
  this.stemWord = (word) => {{
    const bare = without_particles(word);
    return /^[\\w-]+$/.test(bare) ? english.stemWord(bare) : bare;
  }};
}};
"""

    def stem(self, word):
        bare = without_particles(word)
        return super().stem(bare) if re.fullmatch(r"[\w-]+", bare, re.ASCII) else bare.lower()


class EnglishAnchors(Transform):
    """Give the headings of a Korean page the anchors of the English ones, so that every link and every bookmark fits both."""

    default_priority = 10  # before links inside the page are followed

    def apply(self, **kwargs):
        env = self.document.settings.env
        path = Path(os.environ.get("ENGLISH_DOCTREES", ""), f"{env.docname}.doctree")
        if env.config.language != "ko" or not path.is_file():
            return
        theirs = list(pickle.loads(path.read_bytes()).findall(nodes.section))
        ours = list(self.document.findall(nodes.section))
        if len(theirs) != len(ours):
            logger.warning("has %d headings, and the English page %d", len(ours), len(theirs), location=env.docname)
            return
        slugs = {}
        for section, english in zip(ours, theirs):
            # The title's; others were put there by cells and modules.
            ids = [name for name in english["ids"] if not name.startswith("module-")][:1]
            for name in section["ids"]:
                self.document.ids.pop(name, None)
            for name in section["names"]:
                self.document.nameids[name] = ids[0]
            section["ids"] = ids
            if "slug" in english:
                section["slug"] = english["slug"]
                slugs[english["slug"]] = (section.line, ids[0], section[0].astext())
        for section in ours:
            self.document.ids.update(dict.fromkeys(section["ids"], section))
        self.document.myst_slugs = env.metadata[env.docname]["myst_slugs"] = slugs


def read_open_pages(app, config):
    """Take over the list of pages that are not translated yet. A new list writes all pages anew."""
    path = Path(app.confdir, "locales", "ko", "OPEN")
    config.open_pages = sorted(path.read_text(encoding="utf-8").split()) if path.exists() else []
    config.has_korean = path.parent.is_dir()


def is_open(app, page):
    return page.rpartition("/")[2] in app.config.open_pages


def other_page(app, page):
    """Return the address of the same page in the other language, seen from this one; None where there is none."""
    here = app.config.language
    if page == "404" or not app.config.has_korean or (here != "ko" and is_open(app, page)):
        return None
    up = "../" * page.count("/")
    return f"{up}../{page}.html" if here == "ko" else f"{up}{FOLDER}/{page}.html"


def offer_other_language(app, page, template, context, doctree):
    here = app.config.language
    other = other_page(app, page)
    in_english = here == "ko" and is_open(app, page)
    if in_english and "body" in context:
        context["body"] = f'<div lang="en">{context["body"]}</div>'
        context["metatags"] = context.get("metatags", "") + '<meta name="robots" content="noindex">'
    if other is None:
        return
    code = "en" if here == "ko" else "ko"
    context["other_language"] = {"code": code, "name": NAMES[code], "address": other}
    if in_english:
        return
    links = {here: f"{page}.html".rpartition("/")[2], code: other}
    if base := app.config.html_baseurl:
        root = base.removesuffix(f"{FOLDER}/") if here == "ko" else base
        links = {"en": f"{root}{page}.html", "ko": f"{root}{FOLDER}/{page}.html"}
    tags = (f'<link rel="alternate" hreflang="{language}" href="{address}">' for language, address in sorted(links.items()))
    context["metatags"] = context.get("metatags", "") + "".join(tags)


def add_words(app):
    """Let our Korean words come before those of Sphinx and of the theme.

    Sphinx's own "alias of" puts a syllable right behind what docutils takes for a reference only before a space.
    """
    words = Path(app.confdir, "words")
    if not words.is_dir():
        return
    for domain in DOMAINS:
        ours = gettext.translation(domain, words, ["ko"])
        ours.add_fallback(get_translator(domain))
        translators["general", domain] = ours
        if domain == "sphinx" and (templates := getattr(app.builder, "templates", None)):
            # The templates were made with the words of before.
            templates.environment.install_gettext_translations(ours)


def said(path):
    """Return a script; that of the copy button with its words in the site's language."""
    text = path.read_text(encoding="utf-8")
    for word in COPY if path.name == "copybutton.js" else ():
        text = text.replace(f"'{word}'", f"'{get_translator('sphinx').gettext(word)}'")
    return text


def say_labels(page):
    """Let the labels say in the site's language what the theme has in English only."""
    for name in ("title", "aria-label"):
        for tag in page.css(f".bd-header [{name}], .bd-header-article [{name}], nav[{name}]"):
            if label := tag.attributes[name]:  # of an empty text, gettext says what the catalogue is
                tag.attrs[name] = get_translator("sphinx").gettext(label)


def count_without_eval(app, exception):
    """Let no script make a function of a text, which no page allows: in Korean every number has the same plural."""
    script = Path(app.outdir, "_static", "doctools.js")
    if exception or app.config.language != "ko" or not script.exists():
        return
    code = script.read_text(encoding="utf-8")
    script.write_text(re.sub(r"new Function\([^;]*\)(?=;)", "() => 0", code), encoding="utf-8")


def setup(app):
    app.add_config_value("open_pages", [], "html")
    app.add_config_value("has_korean", False, "html")
    app.connect("config-inited", read_open_pages)
    app.connect("builder-inited", add_words)
    app.add_search_language(SearchKorean)
    app.add_transform(EnglishAnchors)
    app.connect("build-finished", count_without_eval)  # before the scripts are put together
    app.connect("html-page-context", offer_other_language, priority=100)  # before the theme drops what is empty
    return {"parallel_read_safe": True, "parallel_write_safe": True}
