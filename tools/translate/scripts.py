"""The texts in a script: its string literals, joined where it joins them, with `{…}` where it puts something in."""

import re

QUOTES = "\"'`"
# What may stand before a regular expression, and not before a division.
BEFORE_REGEX = re.compile(r"(?:^|[(,=:\[!&|?{};\n]|return)\s*$")
REGEX = re.compile(r"/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*")

ESCAPE = re.compile(r"\\(?:u\{([0-9A-Fa-f]+)\}|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|.)", re.DOTALL)


def literals(code):
    """Return the texts of a piece of JavaScript, each with what stands right before it in the code."""
    found, place, start = [], 0, 0
    while place < len(code):
        if code.startswith("//", place):
            place = end_of(code, "\n", place)
        elif code.startswith("/*", place):
            place = end_of(code, "*/", place)
        elif BEFORE_REGEX.search(code[max(0, place - 20) : place]) and (regex := REGEX.match(code, place)):
            place = regex.end()
        elif code[place] in QUOTES:
            start = place
            text, inner, place = literal(code, place)
            found.extend(inner)
            # "…" + "…", `…` + name
            while joined := re.compile(r"\s*\+(?![+=])\s*(?=(.))", re.DOTALL).match(code, place):
                if joined[1] not in QUOTES:
                    text += "{more}"
                    break
                more, inner, place = literal(code, joined.end())
                text += more
                found.extend(inner)
            before = code[max(0, start - 40) : start]
            if re.search(r"[\w)\]]\s*\+\s*$", before):
                text = "{before}" + text
            found.append((" ".join(text.split()), before))
        else:
            place += 1
    return found


def end_of(code, mark, place):
    found = code.find(mark, place)
    return len(code) if found < 0 else found + len(mark)


def literal(code, place):
    """Return the text of the literal that begins at `place`, those that stand inside it, and where it ends."""
    quote, text, inner = code[place], "", []
    place += 1
    while code[place] != quote:
        if code[place] == "\\":
            escape = ESCAPE.match(code, place)
            number = escape[1] or escape[2] or escape[3]
            text += chr(int(number, 16)) if number else {"n": "\n"}.get(escape[0][1], escape[0][1])
            place = escape.end()
        elif quote == "`" and code.startswith("${", place):
            end = end_of_hole(code, place + 2)
            expression = code[place + 2 : end]
            inner.extend(literals(expression))
            plain = " ".join(expression.split())
            text += "{" + (plain if re.fullmatch(r"[^{}`\"']{1,40}", plain) else "…") + "}"
            place = end + 1
        else:
            text += code[place]
            place += 1
    return text, inner, place + 1


def end_of_hole(code, place):
    depth = 0
    while depth or code[place] != "}":
        if code[place] in QUOTES:
            _, _, place = literal(code, place)
            continue
        depth += {"{": 1, "}": -1}.get(code[place], 0)
        place += 1
    return place
