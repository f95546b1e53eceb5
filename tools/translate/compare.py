"""What has to be the same in a message and its translation, and what must not: one line for each complaint."""

import re
from collections import Counter
from functools import cache

from tools.translate.messages import FOLDER, MARKDOWN, WITH_TEXT, all_sources

HANGUL = re.compile(r"[가-힣]")
KOREAN = re.compile(r"[가-힣]+")
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
ENGLISH_WORD = re.compile(r"[A-Za-z][A-Za-z'’]*")
# English that goes on for so many words is a sentence that was left over, unless it stands in italics or between quotes.
LEFT_OVER = re.compile(r"(?:[A-Za-z][A-Za-z'’]*[ ,;:-]+){4}[A-Za-z'’]+")
QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"|‘[^’]*’")
# Numbers that English writes as a word, and Korean often as a figure.
NUMBER_WORDS = {
    0: "zero nothing no",
    1: "one once first single",
    2: "two twice both second half pair pairs double doubles doubled weekend",
    3: "three third",
    4: "four fourth quarter",
    5: "five fifth",
    6: "six sixth",
    7: "seven seventh",
    8: "eight eighth",
    9: "nine ninth",
    10: "ten tenth billion",
    11: "eleven",
    12: "twelve dozen",
    13: "thirteen",
    14: "fourteen",
    15: "fifteen",
    16: "sixteen",
    17: "seventeen",
    18: "eighteen",
    19: "nineteen",
    20: "twenty",
    30: "thirty",
    40: "forty",
    50: "fifty",
    100: "hundred hundreds million",
    1000: "thousand thousands",
}
WORDS = {word: str(number) for number, words in NUMBER_WORDS.items() for word in words.split()}
# What STYLE.md forbids: a pattern, and what to write.
STYLE = [
    (r"당신", "the reader is not 당신: leave the pronoun out"),
    (r"(?:[해줘봐아어여네죠지]|이에|예)요(?=[.!?]|$)", "해요체: write 합니다체, and -하세요 to the reader"),
    (r"(?<![니시])다(?=[.!](?:\s|$|\*|\)))", "plain style: write 합니다체"),
    (r"하는 것이 가능", "translationese: -할 수 있습니다"),
    (r"에 의해서?(?![가-힣])", "translationese: make it active, or -로, -가"),
    (r"되어지|보여지|여지게 되", "double passive"),
    (r"에 있어서?(?![가-힣])", "translationese: -에서, -을 할 때"),
    (r"[가-힣]에 대한 [가-힣]+에 대한", "translationese: two 에 대한 in a row"),
]


def complaints(english, korean, context="", notes=""):
    """Return what is wrong with a translation.

    `notes` are the entry's comments: `term: head` lets a term go, `number: 3` a figure, `left out: {are}` what is put
    in for the English grammar alone, `english` a message that stays.
    """
    if not korean.strip():
        return ["not translated"]
    if english.startswith("\n") != korean.startswith("\n") or english.endswith("\n") != korean.endswith("\n"):
        return ["begins or ends with another line break than the English"]
    if is_plain(context):
        return [*placeholders(english, korean, notes), *of_words(english, korean, notes, plain=True)]
    if english.split("\n")[0] == context:  # an entry of the glossary
        names = [[line for line in text.split("\n") if not line.startswith(" ")] for text in (english, korean)]
        if names[0] != names[1]:
            return [f"the names of the term have to stay as they are: {', '.join(names[0])}"]
    return [*of_structure(english, korean, notes), *of_words(english, korean, notes)]


PLAIN = {"badge", "course title", "fold", "part of the course", "printed book", "theme"}
PLAIN_KINDS = ("command ", "exercise ", "extension ", "figure ", "quiz ")


def is_plain(context):
    """Whether a message is no Markdown: a text of the library, or what stands in for a figure."""
    return context.endswith("/alt") or context in PLAIN or context.startswith(PLAIN_KINDS)


def numbers_in(text):
    """Return the figures of a text as Korean writes them: *63 million* is 6,300만, and the 1 of 분의 1 is none."""
    return NUMBER.findall(re.sub(r"(\d+(?:\.\d+)?) million", in_myriads, text).replace("분의 1", "분의"))


def in_myriads(match):
    """Return what stands before 만 or 억, as 6,300 for 63 million."""
    myriads = round(100 * float(match[1]))
    return f"{myriads:,}" if myriads % 10_000 else str(myriads // 10_000)


def placeholders(english, korean, notes):
    """Compare what stands in braces, and code."""
    patterns = {"code": r"`[^`]+`", "what is put in": r"\{[^{}]*\}", "italics": r"(?<!\w)\*\S[^*]*\*"}
    for what, pattern in patterns.items():
        found = [re.findall(pattern, text) for text in (english, korean)]
        if what == "italics":
            found = [["*"] * len(one) for one in found]
        counts = [Counter(one) for one in found]
        if what == "what is put in":
            for one in re.findall(pattern, " ".join(re.findall("left out: (.+)", notes))):
                counts[0].pop(one, None)
        yield from difference(what, *counts)
    allowed = number_words(english) | set(re.findall(r"number: (\S+)", notes))
    yield from difference("numbers", *(Counter(numbers_in(text)) for text in (english, korean)), allowed=allowed)
    yield from difference("≈", Counter(re.findall("≈", english)), Counter(re.findall("≈", korean)))


def difference(what, english, korean, allowed=()):
    missing, extra = english - korean, korean - english
    for one in allowed:
        extra.pop(one, None)
    if missing:
        yield f"{what} missing: {shown(missing)}"
    if extra:
        yield f"{what} not in the English: {shown(extra)}"


def shown(counter):
    return ", ".join(str(one) for one in counter.elements())[:200]


def number_words(english):
    return {WORDS[word] for word in map(str.lower, ENGLISH_WORD.findall(english)) if word in WORDS}


# Structure: what the parser of the site finds


@cache
def parsed(text):
    """Return what a message is made of, by kind. Text of a page that stands in a directive is parsed as text."""
    lines = text.split("\n")
    parts = {"frame": Counter(), "flow": []}
    if WITH_TEXT.match(lines[0]):
        parts["frame"].update([lines[0], lines[-1]])
        text = "\n".join(lines[1:-1])
    elif text.startswith("|"):
        text = "\n".join([text, re.sub(r"(?<!\\)(?:`[^`]*`|[^|`])+", "---", text)])  # a row alone is no table: make it its head
    for name in ("headings", "blocks", "items", "code", "formulas", "links", "pictures", "tags", "cells"):
        parts[name] = Counter()
    parts |= {"prose": [], "italics": [], "bold": 0, "sloped": 0}
    walk(MARKDOWN.parse(text), parts)
    return parts


KINDS = ("paragraph", "bullet_list", "ordered_list", "blockquote", "dl", "dt", "dd", "fence", "hr", "table", "tr", "html_block")


def walk(tokens, parts):
    sloped = 0
    for token in tokens:
        kind = token.type.removesuffix("_open")
        if token.type == "heading_open":
            parts["headings"][token.tag] += 1
        elif kind == "list_item":
            parts["items"]["item"] += 1
        elif kind in ("th", "td"):
            parts["cells"]["cell"] += 1
        elif token.type in ("fence", "code_block", "colon_fence"):
            parts["code"][f"{token.info}\n{token.content}"] += 1
        elif token.type in ("math_block", "math_inline", "math_inline_double", "amsmath"):
            parts["formulas"][token.content.strip()] += 1
        elif token.type == "code_inline":
            parts["code"][token.content] += 1
        elif token.type == "myst_role":
            parts["code"][f"{{{token.meta['name']}}}{token.content}"] += 1
        elif token.type == "link_open":
            parts["links"][token.attrs["href"]] += 1
        elif token.type == "image":
            parts["pictures"][token.attrs["src"]] += 1
        elif token.type in ("html_inline", "html_block"):
            parts["tags"].update(re.findall(r"<[^>]+>", token.content))
            parts["prose"].append(re.sub(r"<[^>]+>", " ", token.content))
        elif token.type == "strong_open":
            parts["bold"] += 1
        elif token.type == "em_open":
            parts["sloped"] += 1
            sloped += 1
        elif token.type == "em_close":
            sloped -= 1
        elif token.type == "text":
            parts["italics" if sloped else "prose"].append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            parts["prose"].append("\n")
        if (token.type.endswith("_open") and kind in KINDS) or token.type in ("hr",):
            parts["flow"].append(kind)
        if token.type == "inline":
            parts["prose"].append("\n")
        if token.children and token.type != "image":
            walk(token.children, parts)


def of_structure(english, korean, notes):
    theirs, ours = parsed(english), parsed(korean)
    names = {
        "frame": "line of the directive", "headings": "headings", "items": "items of a list", "code": "code",
        "formulas": "formulas", "links": "links", "pictures": "pictures", "tags": "tags", "cells": "cells of the table",
    }  # fmt: skip
    for part, what in names.items():
        yield from difference(what, theirs[part], ours[part])
    if theirs["flow"] != ours["flow"] and not [part for part in names if theirs[part] != ours[part]]:
        yield f"paragraphs, lists and tables are not in the order of the English: {' '.join(ours['flow'])}"
    for part, what in (("bold", "bold"), ("sloped", "italics")):
        if theirs[part] != ours[part]:
            yield (
                f"{what}: {theirs[part]} times in English, {ours[part]} here "
                "(before a particle a star needs a letter: **마스크**(mask)는, not **마스크(mask)**는)"
            )
    texts = ["".join(parts["prose"] + parts["italics"]) for parts in (theirs, ours)]
    stray = re.findall(r"\*\*?|(?<!\w)_(?!\w)", texts[1])
    if len(stray) > len(re.findall(r"\*\*?|(?<!\w)_(?!\w)", texts[0])):
        yield "a star stands in the text: the emphasis is not closed"
    allowed = number_words(english) | set(re.findall(r"number: (\S+)", notes))
    yield from difference("numbers", *(Counter(numbers_in(text)) for text in texts), allowed=allowed)
    yield from difference("≈", *(Counter(re.findall("≈", text)) for text in texts))
    for line in korean.split("\n"):
        if re.match(r"#{1,6} .*[.]$", line):
            yield f"a heading ends with a full stop: {line}"


# Words


def prose_of(text, is_plain=False):
    """Return the text outside code, formulas, tags, addresses and italics."""
    return re.sub(r"`[^`]*`|\{[^{}]*\}|(?<!\w)\*\S[^*]*\*", " ", text) if is_plain else "".join(parsed(text)["prose"])


@cache
def glossary():
    """Return, for each English term in small letters, the Korean words that may stand for it, the course's own first."""
    found = {}
    for message in all_sources()["glossary"].messages():
        names = [line for line in message.text.split("\n") if not line.startswith(" ")]
        if names[0] == message.context:
            found[names[0].lower()] = [name for name in names if HANGUL.search(name)]
    for line in (FOLDER / "TERMS").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            english, _, words = line.partition(":")
            found.setdefault(english.strip().lower(), []).extend(word.strip() for word in words.split(",") if word.strip())
            if not words.strip():
                found.pop(english.strip().lower())
    return found


@cache
def term_pattern():
    # The longest name first: in "self-attention" it is not "attention" that is meant.
    names = sorted(glossary(), key=len, reverse=True)
    return re.compile(r"(?<![\w-])(" + "|".join(map(re.escape, names)) + r")(?:e?s)?(?![\w-])", re.IGNORECASE)


def of_words(english, korean, notes, plain=False):
    prose, ours = prose_of(english, plain), prose_of(korean, plain)
    squeezed = re.sub(r"[\s·-]+", "", korean)

    excused = {word.strip().lower() for line in re.findall(r"term: (.+)", notes) for word in line.split(",")}
    for term in dict.fromkeys(match[1].lower() for match in term_pattern().finditer(prose)):
        words = glossary()[term]
        if term in excused or re.search(rf"(?i)(?<![A-Za-z]){re.escape(term)}", korean):
            continue
        if not any(re.sub(r"[\s·-]+", "", word) in squeezed for word in words):
            yield f"term: for {term!r} write {' or '.join(words)} (or note `# term: {term}` where it is not the term)"

    for word in dict.fromkeys(KOREAN.findall(english)):
        if word not in korean:
            yield f"the English has the Korean word {word!r}, and the translation does not"

    letters = len(re.findall(r"[A-Za-z]", ours))
    hangul = len(HANGUL.findall(ours))
    words_there = [word for word in ENGLISH_WORD.findall(prose) if len(word) > 1]
    if "english" not in notes.lower().split():
        if not hangul and len(words_there) > 1:
            yield "no Korean in it (note `# english` where it has to stay)"
        elif hangul and letters > 1.5 * hangul and letters > 60:
            yield f"more English letters ({letters}) than Korean ones ({hangul})"
        for left in LEFT_OVER.findall(re.sub(QUOTED, " ", re.sub(r"\([^()]*\)", " ", ours))):
            yield f"English left over: {left!r} (examples stand in *italics* or in quotes)"

    for pattern, why in STYLE:
        for line in re.sub(QUOTED, " ", ours).split("\n"):
            if found := re.search(pattern, line):
                yield f"{why}: …{line[max(0, found.start() - 12) : found.end() + 2]}"
