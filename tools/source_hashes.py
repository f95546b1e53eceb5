"""Write the hashes by which `tests/notebooks/test_no_copies.py` finds a sentence of the five documents in the course.

    python -m tools.source_hashes FOLDER

FOLDER holds the documents as text files; they are not part of the course. The hashes go to `tests/notebooks/source_hashes.txt`.
Every eighth window of a document is kept. So a copied run of 39 characters of Korean prose is always found, and one of 79
characters of anything else: code, formulas, English. Spaces and line ends count as one space.
"""

import hashlib
import sys
import unicodedata
from pathlib import Path

from tools import notebooks

HASHES = notebooks.ROOT / "tests" / "notebooks" / "source_hashes.txt"

# Shorter, and the documents' own titles would be found (31 characters), or a signature that a chapter corrects (67).
PROSE, OTHER = 32, 72
STEP = 8


def plain(text):
    """Return `text` with one space for each run of spaces, and each Korean syllable as one character."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def windows(text, step=1):
    """Yield the windows of a plain text that are compared: short ones of Korean prose, long ones of anything else."""
    korean = [0]  # how many Korean syllables stand before each place
    for character in text:
        korean.append(korean[-1] + ("가" <= character <= "힣"))
    for start in range(0, len(text) - PROSE + 1, step):
        if korean[start + PROSE] - korean[start] > PROSE // 4:
            yield text[start : start + PROSE]
        if start + OTHER <= len(text) and korean[start + OTHER] - korean[start] <= OTHER // 4:
            yield text[start : start + OTHER]


def hashed(window):
    return hashlib.blake2b(window.encode(), digest_size=6).hexdigest()


def main(folder):
    texts = [plain(path.read_text(encoding="utf-8")) for path in sorted(Path(folder).glob("*.txt"))]
    if not texts:
        raise SystemExit(f"There is no text file in {folder}.")
    hashes = sorted({hashed(window) for text in texts for window in windows(text, step=STEP)})
    HASHES.write_text("\n".join(hashes) + "\n", encoding="utf-8")
    print(f"{len(hashes)} hashes of {len(texts)} documents: {HASHES.relative_to(notebooks.ROOT)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
