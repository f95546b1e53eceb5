"""How often S2's two most frequent words stand in IMDB, by its line for cleaning the text: as printed, and as meant.

    python -m benchmarks.imdb_words [--data FOLDER]

Without a folder the reviews are fetched. It takes seconds.
"""

import argparse
import re
from collections import Counter
from pathlib import Path

from benchmarks.imdb_reviews import BYTES, reviews_of, starts
from benchmarks.records import write_record
from transformer_lib.text import Review

NAME = "imdb_words"
WORDS = ("the", "a")
# The line as S2 prints it, and as its text says: without the ^ inside the bracket it takes one character off the start.
PATTERNS = ("^[a-zA-Z']", "[^a-zA-Z']")


def counted(reviews: list[Review], pattern: str) -> dict[str, int]:
    """Return how often WORDS stand in the texts, cleaned with `pattern` and cut at spaces as in S2."""
    counts = Counter()
    for one in reviews:
        counts.update(re.sub(pattern, " ", re.sub(r"<br\s*/?>", " ", one.text)).split())
    return {word: counts[word] for word in WORDS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("imdb"), metavar="FOLDER")
    reviews = starts(reviews_of(parser.parse_args().data)[0])
    counts = {pattern: counted(reviews, pattern) for pattern in PATTERNS}
    for pattern, words in counts.items():
        print(f"{pattern:12}", words)
    write_record(NAME, seeds=[], settings={"training": len(reviews), "bytes": BYTES}, numbers=counts)


if __name__ == "__main__":
    main()
