"""Data that `--data` knows by name: fetched from its public address, checked, and kept for the next time."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from transformer_lib import _checks as check
from transformer_lib._lines import find_file

FOLDER_VARIABLE = "TRANSFORMER_LIB_DATA"  # a folder to keep the data in, in place of the system's own


@dataclass(frozen=True)
class NamedData:
    """Where files lie, and the SHA-256 of each that there is."""

    address: str
    files: dict[str, str]


# The captions that Elliott et al. (2016 and 2017) published, at one commit: what lies there does not change.
NAMED_DATA = {
    "multi30k": NamedData(
        "https://raw.githubusercontent.com/multi30k/dataset/c9be912dc05a3ebf9ae5bb5f7f58c1791cda43ab/data/task1/raw/",
        {
            "train.de.gz": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
            "train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
            "train.fr.gz": "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c",
            "val.de.gz": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
            "val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
            "val.fr.gz": "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9",
        },
    )
}


# The reviews of films that Maas et al. (2011) published: folders `train` and `test` with `pos` and `neg`.
IMDB = NamedData(
    "https://ai.stanford.edu/~amaas/data/sentiment/",
    {"aclImdb_v1.tar.gz": "c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe"},
)


def folder_of(data: Path, languages: Iterable[str]) -> Path:
    """Return the folder `data`, or one with the files of the data that has this name; fetch those that are not there yet.

    Raises: `ValueError` if it is neither a folder nor a name, if a language is not in it, or if a file that was fetched
    is another one; `OSError` if a file cannot be fetched. What was fetched before it stays.
    """
    if data.is_dir():
        return data
    if str(data) not in NAMED_DATA:
        raise ValueError(f"--data must be a folder or one of {', '.join(NAMED_DATA)}, but {data} is neither")
    named = NAMED_DATA[str(data)]
    there = sorted({name.split(".")[1] for name in named.files})
    for language in languages:
        check.one_of(there, **{f"a language of {data}": language})
    return _fetched(str(data), named, [f"{part}.{language}.gz" for language in languages for part in ("train", "val")])


def reviews_of(data: Path) -> tuple[Path, Path]:
    """Return where the training and the test reviews of the folder `data` lie, for `read_reviews`; fetch those named imdb.

    A folder holds folders `train` and `test`, as IMDB comes, or tables `train.tsv` and `test.tsv`, plain or with `.gz`.

    Raises: `ValueError` if it is neither a folder nor the name, lacks one of the two, or if what was fetched is another file;
    `OSError` if it cannot be fetched.
    """
    if not data.is_dir():
        if str(data) != "imdb":
            raise ValueError(f"--data must be a folder or imdb, but {data} is neither")
        data = _fetched("imdb", IMDB, list(IMDB.files), unpack=True) / "aclImdb_v1.tar.gz.untar" / "aclImdb"
    training, test = (data / name if (data / name).is_dir() else find_file(data, f"{name}.tsv") for name in ("train", "test"))
    return training, test


def _fetched(name: str, named: NamedData, files: list[str], unpack: bool = False) -> Path:
    import pooch  # only those who fetch need to wait for it

    kept = Path(os.environ.get(FOLDER_VARIABLE) or pooch.os_cache("transformer-lib")) / name
    store = pooch.create(kept, named.address, registry=named.files)
    for file in files:
        try:
            processor = pooch.Untar() if unpack else None  # unpacks again where a file of the archive is missing
            store.fetch(file, processor=processor, progressbar=os.environ.get("TRANSFORMER_LIB_QUIET") != "1")
        except (ValueError, OSError) as error:
            kind = ValueError if isinstance(error, ValueError) else OSError
            raise kind(
                f"{file} of {name} could not be fetched from {named.address} into {kept}: {error}. Call the command again "
                f"to go on, or name a folder of your own with --data"
            ) from error
    return kept
