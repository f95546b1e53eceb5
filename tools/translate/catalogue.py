"""The PO files: read, brought up to date with the English sources, and written."""

from collections import defaultdict
from difflib import SequenceMatcher
from functools import cache

import polib

from tools import notebooks
from tools.translate.messages import FOLDER, all_sources

# No date and no tool's name: the same sources give the same file.
HEADER = {
    "Language": "ko",
    "MIME-Version": "1.0",
    "Content-Type": "text/plain; charset=UTF-8",
    "Content-Transfer-Encoding": "8bit",
}
ALIKE = 0.5  # from here on a new sentence is taken for an old one that was changed
# The names of the files that are not translated yet, one a line.
OPEN = FOLDER / "OPEN"


def read(source):
    """Return the PO file of a source; an empty one where there is none yet."""
    file = polib.pofile(source.catalogue, wrapwidth=0) if source.catalogue.exists() else polib.POFile(wrapwidth=0)
    file.metadata = dict(HEADER)
    return file


def key(entry):
    return entry.msgctxt, entry.msgid


def updated(source, file):
    """Return the PO file as the English of today asks for it.

    A text that was changed keeps its translation and the English of before, marked as fuzzy; what is no longer asked for is
    kept as obsolete, as long as somebody translated it.
    """
    known = {key(entry): entry for entry in file}
    messages = source.messages()
    asked = {message.key for message in messages}
    old = defaultdict(list)
    for entry in file:
        if key(entry) not in asked and entry.msgstr:
            old[entry.msgctxt].append(entry)

    new = polib.POFile(wrapwidth=0)
    new.metadata = dict(HEADER)
    for message in messages:
        entry = known.get(message.key) or polib.POEntry(msgctxt=message.context, msgid=message.text)
        if message.key not in known and (before := most_like(message.text, old[message.context])):
            old[message.context].remove(before)
            entry = changed(before, message)
        entry.obsolete, entry.comment = False, message.where
        new.append(entry)
    for entry in [entry for entries in old.values() for entry in entries]:
        entry.obsolete = True
        if not any(key(entry) == key(other) for other in new):
            new.append(entry)
    return new


def most_like(text, entries):
    """Return the entry whose English is most like `text`, if it is like it at all."""
    likeness = {id(entry): SequenceMatcher(None, entry.msgid, text, autojunk=False).ratio() for entry in entries}
    best = max(entries, key=lambda entry: likeness[id(entry)], default=None)
    return best if best is not None and likeness[id(best)] >= ALIKE else None


def changed(before, message):
    """Return the entry of a text that has changed: the old translation, marked, and the English that it was made from."""
    entry = polib.POEntry(msgctxt=message.context, msgid=message.text, msgstr=before.msgstr, tcomment=before.tcomment)
    entry.previous_msgctxt, entry.previous_msgid = None, before.previous_msgid or before.msgid
    entry.flags = ["fuzzy"]
    return entry


def text_of(file):
    """Return the text of a PO file."""
    return str(file).rstrip("\n") + "\n"


def write(source, file):
    source.catalogue.parent.mkdir(parents=True, exist_ok=True)
    notebooks.write_text(source.catalogue, text_of(file))


def is_open(entry):
    return not entry.msgstr or entry.fuzzy


def open_names():
    """Return the names of the sources that stand in the list `OPEN`."""
    return OPEN.read_text(encoding="utf-8").split() if OPEN.exists() else []


@cache
def translations(name):
    """Return the Korean of each finished message of a source, by its context and its English."""
    return {key(entry): entry.msgstr for entry in read(all_sources()[name]) if not entry.obsolete and not is_open(entry)}
