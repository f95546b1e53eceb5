"""Bring translations up to date and check them: `python -m tools.translate [NAME ...] [--check | --open | --take FILE]`.

Without an option the PO files are brought up to date with the English sources, and what is open is counted. NAME is `06`,
`06_attention`, a page such as `glossary`, or `teaching/attention`; without one, everything.

--open prints the open messages in a form that can be filled in: `%%% context`, notes for the check in lines with #, the English
after `<<<`, the Korean after `>>>`.
--take reads such a file into the PO file. --check compares each translation with its English. --generate writes what is made
of the translations and committed: Korean notebooks and pages in `ko/`, and the library's texts.
"""

import argparse
import re
import sys
from pathlib import Path

from tools import notebooks
from tools.translate import catalogue, compare, generate
from tools.translate.messages import all_sources, find


def update(source):
    """Bring the PO file of a source up to date; return its entries that are asked for."""
    file = catalogue.updated(source, catalogue.read(source))
    catalogue.write(source, file)
    return [entry for entry in file if not entry.obsolete]


def problems(source):
    """Return what is wrong with the translations of a source, one line for each: what is open first, then what differs."""
    file = catalogue.read(source)
    entries = {catalogue.key(entry): entry for entry in file if not entry.obsolete}
    found = []
    for message in source.messages():
        entry = entries.pop(message.key, None)
        if entry is None:
            found.append(f"{message.context}: the English is new or has changed; run `make translate NAME={source.name}`")
        elif not entry.msgstr:
            found.append(f"{message.context}: not translated")
        elif entry.fuzzy:
            found.append(f"{message.context}: the English has changed; correct the Korean and take the mark `fuzzy` away")
        else:
            said = compare.complaints(entry.msgid, entry.msgstr, entry.msgctxt, entry.tcomment)
            found.extend(f"{message.context}: {one}" for one in said)
    found.extend(f"{context}: no longer in the English; run `make translate NAME={source.name}`" for context, _ in entries)
    return found


def as_form(entries):
    """Return messages as a form to fill in; what was translated before its English changed stands in it."""
    parts = []
    for entry in entries:
        notes = "".join(f"# {line}\n" for line in entry.tcomment.splitlines())
        parts.append(f"%%% {entry.msgctxt}\n{notes}<<<\n{entry.msgid}\n>>>\n{entry.msgstr}\n")
    return "\n".join(parts)


def parts_of(form):
    """Return context, notes, English and Korean of each part of a form."""
    found = []
    for part in re.split(r"^%%% ", form, flags=re.MULTILINE)[1:]:
        head, begins, rest = part.partition("<<<\n")
        english, ends, korean = rest.partition("\n>>>")
        if not (begins and ends):
            raise SystemExit(f"This part has not both lines, <<< and >>>:\n{part}")
        context, *notes = head.rstrip("\n").split("\n")
        found.append((context, "\n".join(note.lstrip("# ") for note in notes), english, korean.strip("\n")))
    return found


def take(source, text):
    """Put the translations of a form, and the notes, into the PO file; return the contexts of parts that fit no message."""
    file = catalogue.updated(source, catalogue.read(source))
    entries = {catalogue.key(entry): entry for entry in file if not entry.obsolete}
    strange = []
    for context, notes, english, korean in parts_of(text):
        entry = entries.get((context, english))
        if entry is None:
            strange.append(context)
        elif korean.strip():
            entry.msgstr, entry.tcomment = korean, notes
            entry.flags, entry.previous_msgid = [flag for flag in entry.flags if flag != "fuzzy"], None
    catalogue.write(source, file)
    return strange


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m tools.translate", description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="*", help="06, 06_attention, glossary, teaching/attention; none: everything")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--check", action="store_true", help="compare each translation with its English")
    kind.add_argument("--open", action="store_true", help="print what is open, as a form to fill in")
    kind.add_argument("--take", type=Path, metavar="FILE", help="read a form that was filled in; NAME says for what")
    kind.add_argument("--generate", action="store_true", help="write what is made of all translations")
    given = parser.parse_args(arguments)
    if given.generate:
        print(*(f"wrote {path.relative_to(notebooks.ROOT)}" for path in generate.write_all()), sep="\n")
        return
    sources = [find(name) for name in given.name] or list(all_sources().values())
    if given.take and len(given.name) != 1:
        parser.error("--take needs one NAME")
    failed = False
    for source in sources:
        if given.check:
            found = problems(source)
            failed |= bool(found)
            print(*(f"{source.name}: {one}" for one in found), f"{source.name}: {len(found)} complaints", sep="\n")
        elif given.take:
            for context in take(source, given.take.read_text(encoding="utf-8")):
                failed = True
                print(f"{source.name}: no message {context!r} with this English; take the form anew with --open")
            failed |= bool(problems(source))
            print(*(f"{source.name}: {one}" for one in problems(source) if "not translated" not in one), sep="\n")
        elif given.open:
            print(as_form([entry for entry in update(source) if catalogue.is_open(entry)]))
        else:
            entries = update(source)
            left = [entry for entry in entries if catalogue.is_open(entry)]
            print(f"{source.name}: {len(left)} of {len(entries)} open")
            if given.name:
                print(*(f"  {entry.msgctxt}{' (fuzzy)' if entry.fuzzy else ''}" for entry in left), sep="\n")
    sys.exit(failed)


if __name__ == "__main__":
    main()
