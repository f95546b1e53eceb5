"""Read sentence pairs and reviews from text files, and fetch the data sets that have a name."""

import csv
import gzip
import os
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from transformer_lib.validation import check_choice, check_not_empty

StrPath = str | os.PathLike
TextPairs = tuple[tuple[str, str], ...]


def find_file(folder: Path, name: str) -> Path:
    """Return the file `name` of `folder`, or `name.gz`."""
    found = [path for path in (folder / name, folder / f"{name}.gz") if path.is_file()]
    if not found:
        raise ValueError(f"there is no file {folder / name}, and no {name}.gz")
    return found[0]


def split_lines(data: bytes, name: StrPath) -> list[str]:
    """Return the lines of UTF-8 text, plain or gzipped, without their ends; an error calls the text `name`."""
    if data.startswith(b"\x1f\x8b"):  # how every gzip file begins
        try:
            data = gzip.decompress(data)
        except (EOFError, OSError, zlib.error) as error:
            raise ValueError(f"{name}: the gzip file is broken: {error}") from None
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data:
        raise ValueError(f"{name}: this is UTF-16, or no text: save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{name}, line {number}: this is not UTF-8 (older Korean files are often CP949)") from None
    lines = re.split(r"\r*\n|\r", text)  # splitlines() would break at other characters too
    return lines if lines[-1] else lines[:-1]


def read_lines(path: StrPath) -> list[str]:
    """Return the lines of a UTF-8 file, plain or gzipped, without their ends; at least one line has text."""
    lines = split_lines(Path(path).read_bytes(), path)
    if not any(map(str.strip, lines)):
        raise ValueError(f"{path}: the file is empty")
    return lines


def read_line_pairs(source: StrPath, target: StrPath) -> list[tuple[str, str]]:
    """Return line n of both files, for each n, without spaces at its ends; a side may be empty."""
    sources, targets = read_lines(source), read_lines(target)
    if len(sources) != len(targets):
        raise ValueError(f"{source} has {len(sources)} lines, but {target} has {len(targets)}")
    return [(one.strip(), other.strip()) for one, other in zip(sources, targets, strict=True)]


class SentencePairs(NamedTuple):
    """The pairs of two line-aligned files, and how many lines were left out because a side was empty."""

    pairs: TextPairs
    empty: int


def read_pairs(folder: Path, name: str, source: str, target: str) -> SentencePairs:
    """Return the pairs of `folder/name.source` and `folder/name.target`, each plain or with `.gz` behind it."""
    lines = read_line_pairs(*(find_file(folder, f"{name}.{language}") for language in (source, target)))
    from transformer_lib.translation import normalise_text  # here: that module imports this one
    pairs = tuple(pair for pair in lines if all(map(normalise_text, pair)))
    check_not_empty(f"{folder / name}.* (lines with two sides)", pairs)
    return SentencePairs(pairs, len(lines) - len(pairs))


class Review(NamedTuple):
    """The text of a review, and its label: 1 for positive, 0 for negative."""

    text: str
    label: int


def read_reviews(path: StrPath) -> list[Review]:
    """Return all reviews of a folder in IMDB's layout, or of a table in NSMC's; the files may be gzipped.

    A folder holds `pos` and `neg`, with one `.txt` file for each review. A table has tabs between its columns, a first line
    that names them, `document` and `label` among them, and labels 0 and 1.
    """
    return (_reviews_of_folder if Path(path).is_dir() else _reviews_of_table)(Path(path))


def _reviews_of_folder(path: Path) -> list[Review]:
    reviews = []
    for label, name in enumerate(("neg", "pos")):
        files = sorted((path / name).glob("[!.]*.txt")) + sorted((path / name).glob("[!.]*.txt.gz"))
        if not files:
            raise ValueError(f"{path}: expected folders pos and neg with .txt files, but {name} has none")
        reviews += [Review("\n".join(split_lines(file.read_bytes(), file)), label) for file in files]
    return reviews


def _reviews_of_table(path: Path) -> list[Review]:
    table, reviews = csv.DictReader(read_lines(path), delimiter="\t", quoting=csv.QUOTE_NONE), []
    if not {"document", "label"} <= {*table.fieldnames}:
        raise ValueError(f"{path}, line 1: expected columns 'document' and 'label', but got {table.fieldnames}")
    for row in table:
        if None in (*row, *row.values()) or row["label"] not in ("0", "1"):  # None stands for a field too many or too few
            raise ValueError(
                f"{path}, line {table.line_num}: expected a label of 0 or 1 and all fields of line 1, but got {row}"
            )
        reviews.append(Review(row["document"], int(row["label"])))
    check_not_empty(f"{path} (reviews)", reviews)
    return reviews


# The captions that Elliott et al. (2016 and 2017) published, at one commit, with the SHA-256 of each file.
MULTI30K_ADDRESS = "https://raw.githubusercontent.com/multi30k/dataset/c9be912dc05a3ebf9ae5bb5f7f58c1791cda43ab/data/task1/raw/"
MULTI30K = {
    "train.de.gz": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    "train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    "train.fr.gz": "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c",
    "val.de.gz": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    "val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    "val.fr.gz": "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9",
}


def translation_folder(data: Path, languages: Sequence[str]) -> Path:
    """Return the folder `data`, or the one that keeps the files of multi30k in these languages; fetch what is not there."""
    if data.is_dir():
        return data
    if str(data) != "multi30k":
        raise ValueError(f"--data must be a folder or multi30k, but {data} is neither")
    for language in languages:
        check_choice(["de", "en", "fr"], language=language)
    files = {name: sha256 for name, sha256 in MULTI30K.items() if name.split(".")[1] in languages}
    return fetch("multi30k", MULTI30K_ADDRESS, files)


def fetch(name: str, address: str, files: dict[str, str], unpack: bool = False) -> Path:
    """Return the folder, in TRANSFORMER_LIB_DATA or the system's cache, that keeps the files; fetch what is missing."""
    import pooch  # imported here, because it takes time and few need it

    folder = Path(os.environ.get("TRANSFORMER_LIB_DATA") or pooch.os_cache("transformer-lib")).expanduser() / name
    store = pooch.create(folder, address, registry=files)
    for file in files:
        try:
            store.fetch(file, processor=pooch.Untar() if unpack else None)
        except (ValueError, OSError) as error:
            raise OSError(f"{file} could not be fetched from {address} into {folder}: {error}; call again, or use --data") from error
    return folder
