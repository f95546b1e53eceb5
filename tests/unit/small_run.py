"""A small data set, the arguments of a small `transformer-train`, and what two runs must have in common."""

import json

import torch

WORDS = {
    "the": "le", "a": "un", "one": "seul", "my": "mon", "your": "ton", "cat": "chat", "dog": "chien", "bird": "oiseau",
    "horse": "cheval", "sees": "voit", "finds": "trouve", "likes": "aime",
}  # fmt: skip
KINDS = [list(WORDS)[:5], list(WORDS)[5:9], list(WORDS)[9:], list(WORDS)[:5], list(WORDS)[5:9]]
SMALL = "--vocab-size 60 --d-model 16 --num-layers 1 --num-heads 2 --d-ff 16 --max-tokens 90 --every 4 --average 2 --steps 10"


def sentences(count, seed):
    """Return pairs of two or five words."""
    generator = torch.Generator().manual_seed(seed)
    one = lambda words: words[int(torch.randint(len(words), (), generator=generator))]
    english = [[one(words) for words in KINDS[: 2 if number % 3 == 0 else 5]] for number in range(count)]
    return [(" ".join(words), " ".join(WORDS[word] for word in words)) for words in english]


def write_pairs(folder, name, pairs, ending="", encode=str.encode):
    folder.mkdir(exist_ok=True)
    for side, language in enumerate(("en", "fr")):
        (folder / f"{name}.{language}{ending}").write_bytes(encode("".join(f"{pair[side]}\n" for pair in pairs)))


def write_data(folder):
    write_pairs(folder, "train", sentences(60, seed=0))
    write_pairs(folder, "val", sentences(6, seed=1))
    return folder


def arguments(data, out, more=""):
    return ["--data", str(data), "--out", str(out), "--device", "cpu", *SMALL.split(), *more.split()]


def curve(out):
    return json.loads((out / "run.json").read_text(encoding="utf-8"))["curve"]


def weights(path):
    return torch.load(path, weights_only=True)["model"]


def assert_same_bits(one, other):
    for name in ("last.pt", "best.pt", "averaged.pt"):
        ours, theirs = weights(one / name), weights(other / name)
        assert all(ours[key].equal(theirs[key]) for key in theirs), name
    for name in ("losses", "learning_rates", "validation_losses", "tokens"):
        assert curve(one)[name] == curve(other)[name], name
