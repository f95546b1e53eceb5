"""Batches that mix lengths more or less, and the run that learns from them."""

from transformer_lib.teaching.experiments.training import (
    MAX_TOKENS,
    held_out,
    learn_to_reverse,
    mixed_batches,
    reverse_pairs,
    target_padding_share,
)

PAIRS = reverse_pairs(2000, 6, seed=0)


def lengths(batch):
    return set((batch.target_out != 0).sum(dim=1).tolist())


def test_pairs_are_reversed_and_end_in_eos():
    assert {len(source) for source, _ in PAIRS} == set(range(1, 7))
    assert all(target == [*source[::-1], 2] for source, target in PAIRS)


def test_mixing_decides_which_lengths_share_a_batch():
    batches = {mixing: mixed_batches(PAIRS, mixing, seed=1) for mixing in (0.0, 2.0, 100.0)}
    for some in batches.values():
        assert max(batch.target_out.numel() for batch in some) <= MAX_TOKENS
        assert sum(len(batch.source) for batch in some) == len(PAIRS)
    assert max(len(lengths(batch)) for batch in batches[0.0]) <= 3
    assert min(len(lengths(batch)) for batch in batches[100.0][:-1]) >= 4
    shares = [target_padding_share(some) for some in batches.values()]
    assert shares == sorted(shares) and shares[0] < 0.05 < 0.2 < shares[2]


def test_the_order_follows_the_seed():
    first, again, other = (mixed_batches(PAIRS, 0.0, seed)[0].source for seed in (3, 3, 4))
    assert first.equal(again)
    assert not first.equal(other)


def test_held_out_pairs_are_not_trained_on():
    others = held_out(seed=1)
    assert 100 < len(others) < 300
    trained_on = reverse_pairs(3000, 6, seed=1)
    assert not [pair for pair in others if pair in trained_on]


def test_a_run_measures_and_follows_its_seed():
    (_, first), (_, again) = (learn_to_reverse(2, count=60, steps=4, every=2) for _ in range(2))
    assert first == again
    assert list(first.validation_losses) == [2, 4]
