"""Chapter 13: a small model that tells stories, the same beginning under several rules, and what the cache saves."""

import itertools
import random
import time
from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode

from transformer_lib.decoding import (
    CachedTransformer,
    beam_search,
    greedy_decode,
    sample_decode,
)
from transformer_lib.progress import progress
from transformer_lib.seq2seq import EOS_ID, PAD_ID, SOS_ID
from transformer_lib.teaching.corpora.stories import NOUNS, is_a_story, stories
from transformer_lib.transformer import Transformer, TransformerConfig

# The story writer


class StoryWriter:
    """A model that continues the beginning of a story, the words of its ids, and the stories that it was trained on."""

    def __init__(self, model: Transformer, words: list[str], told: list[str]) -> None:
        self.model, self.words, self.stories = model, words, told

    def ids(self, text: str) -> Tensor:
        """Return the ids of the words of `text`, (1, words)."""
        return torch.tensor([[self.words.index(word) for word in text.split()]])

    def text(self, tokens: list[int]) -> str:
        """Return the words of the ids, without <PAD>, <SOS> and <EOS>."""
        return " ".join(self.words[token] for token in tokens if token > EOS_ID)


def story_writer(steps: int = 300, seed: int = 0) -> StoryWriter:
    """Train a Transformer of one layer to continue the stories of our grammar: ten seconds at most."""
    # In float64, so that every computer writes the same stories.
    told = [pair for pair in stories(6000, seed) if len(pair[1].split()) <= 60]
    words = ["<PAD>", "<SOS>", "<EOS>", *sorted({word for pair in told for text in pair for word in text.split()})]
    number = {word: n for n, word in enumerate(words)}
    sizes = {"d_model": 32, "num_layers": 1, "num_heads": 4, "d_ff": 128, "dropout": 0.0, "max_len": 128, "pre_norm": True}
    config = TransformerConfig(source_vocab_size=len(words), target_vocab_size=len(words), shared_vocabulary=True, **sizes)
    torch.manual_seed(seed)
    model, choose = CachedTransformer(config).double(), random.Random(seed)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.01, total_steps=steps, pct_start=0.1)

    def batch(texts: list[str], before: list[int], after: list[int]) -> Tensor:
        rows = [torch.tensor([*before, *(number[word] for word in text.split()), *after]) for text in texts]
        return pad_sequence(rows, batch_first=True, padding_value=PAD_ID)

    for _ in progress(range(steps), description="story writer"):
        beginnings, rests = zip(*choose.sample(told, 24), strict=True)
        target = batch(rests, [SOS_ID], [EOS_ID])
        logits = model(batch(beginnings, [], []), target[:, :-1])  # (batch, target, vocab)
        loss = cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=PAD_ID)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return StoryWriter(model.eval(), words, [rest for _, rest in told])


def flat_and_sharp(writer: StoryWriter, source: Tensor) -> dict[str, tuple[list[str], Tensor]]:
    """Return the next words and their probabilities at a place where many words fit, and at one where a single word does."""
    found = {}
    for prefix, fit in [("and then it found a", set(NOUNS["thing"])), ("and then it slept under a", {"tree"})]:
        target_in = torch.cat([torch.tensor([[SOS_ID]]), writer.ids(prefix)], dim=1)
        with torch.no_grad():
            chances, order = writer.model(source, target_in)[0, -1].softmax(dim=-1).sort(descending=True)
        words = [writer.words[token] for token in order.tolist()]
        assert set(words[: len(fit)]) == fit
        found["… " + " ".join(prefix.split()[3:])] = words, chances
    return found


def compare_rules(writer: StoryWriter, source: Tensor, rules: Mapping[str, dict]) -> dict[str, list[str]]:
    """Let the model write 300 stories by each rule; print how many are strange and how many differ; return the strange."""
    count, strange, different = 300, {}, {}
    print(f"{count} stories by each rule: how many are strange, how many different from each other")
    for name, rule in rules.items():
        generator = torch.Generator().manual_seed(0)
        drawn = sample_decode(writer.model, source.expand(count, -1), 120, generator=generator, **rule)
        told = [writer.text(row) for row in drawn.tolist()]
        strange[name] = [story for story in told if not is_a_story(story)]
        different[name] = len(set(told))
        print(f"{name:10}  strange: {len(strange[name]):3}   different: {different[name]:3}")
    few = [name for name, rule in rules.items() if rule.get("top_k") == 3 or rule.get("top_p") == 0.9]
    assert all(len(strange[name]) < 0.07 * count for name in few)
    assert 0.05 * count < len(strange["T = 1"]) < 0.3 * count < 0.8 * count < len(strange["T = 2"])
    assert different["top-k 3"] < different["top-p 0.9"] - 0.07 * count
    return strange


# The cache


def _untrained(vocab_size: int, positions: str = "sinusoidal", seed: int = 5) -> Transformer:
    torch.manual_seed(seed)
    sizes = {"d_model": 16, "num_layers": 2, "num_heads": 4, "d_ff": 32, "positions": positions}
    return Transformer(TransformerConfig(source_vocab_size=vocab_size, target_vocab_size=vocab_size, **sizes)).double().eval()


def with_cache(model: Transformer) -> CachedTransformer:
    """Return a `CachedTransformer` with the parameters of `model`."""
    cached = CachedTransformer(model.config).to(next(model.parameters()))
    cached.load_state_dict(model.state_dict())
    return cached.train(model.training)


def _scores(decode: Callable, model: Transformer, source: Tensor) -> tuple[Tensor, Tensor]:
    scores = []
    hook = model.output.register_forward_hook(lambda layer, given, logits: scores.append(logits[:, -1].clone()))
    written = decode(model, source, max_len=10)
    hook.remove()
    return torch.stack(scores), written  # (steps, batch, vocab), (batch, written)


def compare_with_and_without_cache() -> None:
    """Assert that the cache changes no score of any step, greedily and in a beam, for both kinds of positions."""
    source = torch.tensor([[3, 7, 4, 9, 8], [5, 0, 0, 0, 0], [6, 6, 3, 0, 0], [9, 8, 7, 6, 0]])
    for positions, decode in itertools.product(("sinusoidal", "learned"), (greedy_decode, beam_search)):
        model = _untrained(12, positions)
        (expected, wanted), (scores, written) = (_scores(decode, one, source) for one in (model, with_cache(model)))
        assert_close(scores, expected, rtol=0, atol=1e-12)
        assert written.equal(wanted)
    print("greedy, beam: with and without the cache, the same scores at each step (float64)")


def words_read(model: Transformer, source: Tensor, length: int) -> int:
    """Return how many words the decoder reads for each sentence while it writes `length` words, and never EOS."""
    counted = []
    layer = model.decoder.layers[0].feed_forward
    hooks = [layer.register_forward_pre_hook(lambda part, given: counted.append(given[0].size(1)))]
    hooks.append(model.output.register_forward_hook(lambda part, given, out: out.index_fill(-1, torch.tensor([EOS_ID]), -1e9)))
    greedy_decode(model, source, max_len=length)
    for hook in hooks:
        hook.remove()
    return sum(counted)


class _CountCalls(TorchDispatchMode):
    calls = 0

    def __torch_dispatch__(self, function: Callable, types: tuple, given: tuple = (), named: dict | None = None) -> object:
        self.calls += 1
        return function(*given, **(named or {}))


def _seconds(model: Transformer, words: Tensor, source: Tensor) -> float:
    """Return the seconds of a step that reads `words`: of the second of two, whose numbers are at hand."""
    for state in (model.start(source), model.start(source)):
        begun = time.process_time()
        model.decode(words, state)
    return time.process_time() - begun


@torch.no_grad()
def step_costs() -> None:
    """Print what a step costs that reads one word, and one that reads 128, in a small and in a larger model."""
    words, source = torch.full((8, 128), 7), torch.full((8, 16), 5)
    sizes = {"d_model": 256, "num_layers": 3, "num_heads": 8, "d_ff": 1024}
    larger = TransformerConfig(source_vocab_size=1000, target_vocab_size=1000, **sizes)
    models = [Transformer(config).eval() for config in (TransformerConfig.tiny(1000, 1000), larger)]
    steps = [(model, words[:, :new], source) for model in models for new in (1, 128)]
    grown, threads = [], torch.get_num_threads()
    torch.set_num_threads(1)
    # In turns, so that what else runs on the machine slows all alike.
    fastest = [min(seconds) for seconds in zip(*([_seconds(*step) for step in steps] for _ in range(10)))]
    for place in (0, 2):
        calls = []
        for model, some, _ in steps[place : place + 2]:
            with _CountCalls() as counter:
                model.decode(some, model.start(source))
            calls.append(counter.calls)
        grown.append(fastest[place + 1] / fastest[place])
        assert calls[0] <= calls[1] < 1.1 * calls[0]
        print(f"d_model {model.config.d_model}: ≈ {calls[0]} operations for 1 word, ≈ {calls[1]} for 128")
        print(f"             128 words take ≈ {grown[-1]:.0f} times as long as 1")
    torch.set_num_threads(threads)
    assert 1.5 < grown[0] < grown[1] < 64
