"""The chain against a brute-force one over named agents, and what it refuses."""

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon.exact import chain as chain_module
from hegemon.exact import configurations, kernels, numbering
from hegemon.exact.chain import GIB, estimate, reachable_chain, whole_chain
from hegemon.exact.configurations import Configurations, transition_tables
from hegemon.runs.setting import topology_for

CASES = [
    (hg.Pairwise(n=4), None),
    (hg.Timer(n=3, s=2), None),
    (hg.Timer(n=4, s=1), "ring:4"),
    (hg.Timer(n=4, s=1), "star:4"),
    (hg.Countdown(n=3, top=3), "path:3"),
    (hg.Ring(n=2, N=2), None),
    (hg.QuickElimination(n=2), None),
]


def brute_force(space, codes) -> Counter:
    """Successors of an array of codes by the protocol's own hand tool, as keys with numbers of arcs."""
    found = Counter()
    for i, j in zip(space.topology.sources, space.topology.targets, strict=True):
        after = list(codes)
        after[i], after[j] = space.protocol.transition_codes(codes[i], codes[j])
        found[space.key(after)] += 1
    return found


@pytest.mark.parametrize(("protocol", "graph"), CASES, ids=lambda case: str(getattr(case, "id", case)))
@pytest.mark.parametrize("symmetry", [True, False])
def test_every_row_is_what_the_interactions_say(protocol, graph, symmetry):
    space = Configurations(protocol, topology_for(protocol, graph), symmetry)
    chain = whole_chain(space)
    assert chain.size == space.size
    assert chain.labelled.sum() == space.labelled_size
    for row in range(0, chain.size, max(1, chain.size // 300)):
        part = slice(chain.offsets[row], chain.offsets[row + 1])
        keys = chain.keys[chain.targets[part]].tolist()
        expected = brute_force(space, chain.codes[row])
        assert dict(zip(keys, chain.weights[part].tolist(), strict=True)) == expected
        assert sum(expected.values()) == chain.denominator


@pytest.mark.parametrize(("protocol", "graph"), CASES, ids=lambda case: str(getattr(case, "id", case)))
def test_lumping_is_exact(protocol, graph):
    """All arrays that a representative stands for have the same row up to symmetry."""
    space = Configurations(protocol, topology_for(protocol, graph))
    arrays = list(itertools.product(range(space.q), repeat=space.n))
    orbits = Counter()
    for codes in arrays[:: max(1, len(arrays) // 1000)]:
        assert brute_force(space, codes) == brute_force(space, space.codes([space.key(codes)])[0])
    if len(arrays) < 10_000:
        for codes in arrays:
            orbits[space.key(codes)] += 1
        keys = space.all_keys()
        assert sorted(orbits) == keys.tolist()
        assert [orbits[key] for key in keys.tolist()] == space.labelled(keys).tolist()


@given(st.integers(2, 6), st.integers(2, 12), st.data())
@settings(max_examples=60, deadline=None)
def test_rank_and_unrank_are_inverse(n, q, data):
    space = Configurations(hg.Epidemic(n=n, top=q - 1), topology_for(hg.Epidemic(n=n)))
    key = data.draw(st.integers(0, space.size - 1))
    codes = space.codes([key])[0]
    assert (np.diff(codes) >= 0).all() and codes.min() >= 0 and codes.max() < q
    assert space.key(data.draw(st.permutations(codes.tolist()))) == key


@given(st.integers(2, 7), st.integers(2, 5), st.data())
@settings(max_examples=60, deadline=None)
def test_the_smallest_rotation(n, q, data):
    codes = data.draw(st.lists(st.integers(0, q - 1), min_size=n, max_size=n))
    key = sum(code * q**place for place, code in enumerate(codes))
    keys = [sum(c * q**place for place, c in enumerate(codes[t:] + codes[:t])) for t in range(n)]
    assert kernels.smallest_rotation(key, q, q ** (n - 1)) == min(keys)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_the_number_of_necklaces(n):
    for q in (2, 3):
        assert Configurations(
            hg.Epidemic(n=n, top=q - 1), topology_for(hg.Epidemic(n=n), f"directed-ring:{n}")
        ).size == len(numbering.rotation_keys(0, q**n, q, n))


def test_plain_and_compiled_tables_agree(monkeypatch):
    for protocol in (hg.TimeOptimal(n=3, r_max=3, b_max=2),):
        plain = transition_tables(protocol)
        monkeypatch.setattr(configurations, "PLAIN_STATES", 0)
        fast = transition_tables(protocol)
        monkeypatch.undo()
        assert all(np.array_equal(a, b) for a, b in zip(plain, fast, strict=True))


def test_an_interaction_that_leaves_its_range_is_named(monkeypatch):
    class Runaway(hg.Timer):
        def interact(a, b, p):
            a.timer = a.timer + 1

    for limit in (0, 100):
        monkeypatch.setattr(configurations, "PLAIN_STATES", limit)
        with pytest.raises(hg.InvalidInput, match="wrote timer = 3, outside 0..2"):
            transition_tables(Runaway(n=2, s=2))


@pytest.mark.parametrize(("protocol", "graph"), CASES, ids=lambda case: str(getattr(case, "id", case)))
def test_reachable_is_the_whole_chain_restricted(protocol, graph):
    space = Configurations(protocol, topology_for(protocol, graph))
    whole = whole_chain(space)
    begin = whole.size // 2
    part = reachable_chain(space, [whole.codes[begin]])
    reached, queue = {begin}, [begin]
    for row in queue:
        for target in whole.targets[whole.offsets[row] : whole.offsets[row + 1]].tolist():
            if target not in reached:
                reached.add(target)
                queue.append(target)
    assert set(part.keys.tolist()) == set(whole.keys[sorted(reached)].tolist())
    for row in range(part.size):
        there = whole.index(part.codes[row])
        mine, theirs = slice(*part.offsets[row : row + 2]), slice(*whole.offsets[there : there + 2])
        assert dict(zip(part.keys[part.targets[mine]], part.weights[mine], strict=True)) == dict(
            zip(whole.keys[whole.targets[theirs]], whole.weights[theirs], strict=True)
        )
        if row:  # a shortest path leads back to the start
            assert part.parents[row] < row


def test_a_long_exploration_grows_its_arrays():
    protocol = hg.TimeOptimal(n=3, r_max=4, b_max=4)
    space = Configurations(protocol, topology_for(protocol))
    whole, part = whole_chain(space), reachable_chain(space, [np.zeros(3, np.int64)])
    assert 1000 < part.size < whole.size
    sums = np.add.reduceat(part.weights, part.offsets[:-1])
    assert (sums == part.denominator).all() and part.targets.max() == part.size - 1


def test_the_estimate_comes_first_and_bounds_what_is_built():
    protocol = hg.Timer(n=4, s=12)
    space = Configurations(protocol, topology_for(protocol))
    before = estimate(space)
    chain = whole_chain(space)
    assert before.configurations == chain.size and before.entries >= chain.transitions
    arrays = (chain.keys, chain.offsets, chain.targets, chain.weights, chain.keeps, chain.codes)
    assert before.bytes > sum(array.nbytes for array in arrays)
    with pytest.raises(hg.InvalidInput, match="GiB"):
        whole_chain(space, memory=before.bytes / GIB / 2)
    with pytest.raises(hg.InvalidInput, match="found so far"):
        reachable_chain(space, [np.zeros(4, np.int64)], memory=1e-6)


@pytest.mark.parametrize("protocol", [hg.Timer(n=4, s=12), hg.Ring(n=3, N=3), hg.TimeOptimal(n=3, r_max=2, b_max=2)])
def test_narrow_numbers_give_the_same_answers(monkeypatch, protocol):
    """A large chain takes few bytes, and nothing else differs."""
    wide = hg.verify(protocol)
    monkeypatch.setattr(chain_module, "LARGE", 0)
    narrow = hg.verify(protocol)
    one, other = wide.chain, narrow.chain
    for name in ("keys", "offsets", "targets", "weights", "keeps"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    stored = sum(getattr(other, name).nbytes for name in ("keys", "offsets", "targets", "weights", "keeps"))
    assert stored <= 6 * other.transitions + 8 * other.size + 4
    first, second = (answer.record() | {"seconds": 0} for answer in (wide, narrow))
    assert first == second


def test_the_narrowest_type_holds_the_number():
    for largest in (0, 1, 127, 128, 32767, 32768, 2**31 - 1, 2**31):
        kind = chain_module.narrowest(largest)
        assert np.iinfo(kind).max >= largest and (
            kind.itemsize == 1 or np.iinfo(f"i{kind.itemsize // 2}").max < largest
        )


def test_what_cannot_be_numbered_is_refused():
    with pytest.raises(hg.InvalidInput, match="more than can be numbered"):
        hg.verify(hg.Timer(n=50))


def test_probabilities_are_exact_fractions():
    protocol = hg.Pairwise(n=5)
    chain = whole_chain(Configurations(protocol, topology_for(protocol)))
    for row in range(chain.size):
        k = int((chain.codes[row] == 1).sum())
        down = {int((chain.codes[t] == 1).sum()): Fraction(int(w), chain.denominator)
                for t, w in zip(chain.targets[chain.offsets[row]:chain.offsets[row + 1]],
                                chain.weights[chain.offsets[row]:chain.offsets[row + 1]], strict=True)}  # fmt: skip
        assert down.get(k - 1, 0) == Fraction(k * (k - 1), 20)


def test_arcs_are_turned_round_alike_with_and_without_scipy(monkeypatch):
    rng = np.random.default_rng(1)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 4, 50))])
    targets = rng.integers(0, 50, offsets[-1]).astype(np.int32)
    few = chain_module.transposed(offsets, targets)
    monkeypatch.setattr(chain_module, "SORTED", 0)
    many = chain_module.transposed(offsets, targets)
    assert all(np.array_equal(one, other) and one.dtype == other.dtype for one, other in zip(few, many, strict=True))
