"""Components, reachability and linear systems against independent computations."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from hegemon.errors import InvalidInput
from hegemon.exact import graph_kernels, solving
from hegemon.exact.graph_kernels import components, distances, is_bottom, prospects
from hegemon.exact.solving import LinearSystem


@st.composite
def graphs(draw):
    size = draw(st.integers(1, 25))
    arcs = draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=60))
    return rows(size, sorted(set(arcs)))


def rows(size, arcs):
    counts = np.bincount([tail for tail, _ in arcs], minlength=size) if arcs else np.zeros(size, int)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return size, offsets, np.array([head for _, head in arcs], np.int32)


@pytest.fixture(params=[True, False], ids=["plain", "compiled"], scope="module")
def plain(request):
    """Small graphs are gone through in plain Python, and here by the kernels as well."""
    with pytest.MonkeyPatch.context() as patch:
        if not request.param:
            patch.setattr(graph_kernels, "LITTLE", -1)
        yield


@given(graphs())
@settings(max_examples=200, deadline=None)
def test_components_agree_with_scipy_and_are_in_reverse_topological_order(plain, graph):
    size, offsets, targets = graph
    label, order, number = components(offsets, targets, np.ones(size, bool))
    matrix = csr_array((np.ones(len(targets)), targets, offsets), (size, size))
    expected, theirs = connected_components(matrix, connection="strong")
    assert number == expected
    assert len(set(zip(label.tolist(), theirs.tolist(), strict=True))) == number
    assert sorted(order.tolist()) == list(range(size))
    assert (np.diff(label[order]) >= 0).all()
    tails = np.repeat(np.arange(size), np.diff(offsets))
    assert (label[targets] <= label[tails]).all()
    leaving = {label[t] for t, h in zip(tails, targets, strict=True) if label[t] != label[h]}
    assert is_bottom(offsets, targets, label, number).tolist() == [c not in leaving for c in range(number)]


@given(graphs(), st.data())
@settings(max_examples=100, deadline=None)
def test_distances_agree_with_scipy(plain, graph, data):
    size, offsets, targets = graph
    source = data.draw(st.integers(0, size - 1))
    matrix = csr_array((np.ones(len(targets)), targets, offsets), (size, size))
    reached, before = breadth_first_order(matrix, source)
    distance, parent = distances(offsets, targets, np.array([source]), np.ones(size, bool))
    assert sorted(np.flatnonzero(distance >= 0).tolist()) == sorted(reached.tolist())
    for v in reached:
        if v != source:
            assert distance[v] == distance[parent[v]] + 1
            assert distance[v] <= distance[before[v]] + 1


def prospects_by_sets(size, arcs, active):
    """Which active nodes can leave the active part at all, and which never get to one that cannot."""
    kept = [(tail, head) for tail, head, weight in arcs if weight and active[head]]
    able = {tail for tail, head, weight in arcs if active[tail] and weight and not active[head]}
    for _ in range(size):
        able |= {tail for tail, head in kept if active[tail] and head in able}
    doubtful = {v for v in range(size) if active[v] and v not in able}
    for _ in range(size):
        doubtful |= {tail for tail, head in kept if active[tail] and head in doubtful}
    return able, {v for v in range(size) if active[v]} - doubtful


def compare_prospects(data, size, arcs):
    """Against sets that grow; where a row's weights add up to the denominator, and some are 0."""
    active = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    weights = np.array([data.draw(st.integers(0, 2)) for _ in arcs], np.int8)
    for v in range(size):  # what is missing from a row stays where it is
        arcs, weights = [*arcs, (v, v)], np.append(weights, 0)
    order = sorted(range(len(arcs)), key=lambda k: arcs[k])
    arcs, weights = [arcs[k] for k in order], weights[order]
    tails = np.array([tail for tail, _ in arcs])
    for v in range(size):
        weights[[k for k, arc in enumerate(arcs) if arc == (v, v)][0]] += 125 - weights[tails == v].sum()
    _, offsets, targets = rows(size, arcs)
    label, order, _ = components(offsets, targets, active, weights)
    able, sure = prospects(offsets, targets, weights, 125, label, order)
    weighed = [(*arc, int(weight)) for arc, weight in zip(arcs, weights, strict=True)]
    expected = prospects_by_sets(size, weighed, active.tolist())
    assert (set(np.flatnonzero(able).tolist()), set(np.flatnonzero(sure).tolist())) == expected


def drawn_arcs(data):
    size = data.draw(st.integers(1, 12))
    nodes = st.integers(0, size - 1)
    return size, sorted(set(data.draw(st.lists(st.tuples(nodes, nodes), max_size=30))))


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_prospects_agree_with_sets_that_grow(plain, data):
    compare_prospects(data, *drawn_arcs(data))


@pytest.mark.parametrize("flaw", ["weights", "sure"])
def test_the_comparison_catches_wrong_prospects(monkeypatch, flaw):
    """Transitions of weight 0 that count, and configurations that may be caught but are called sure."""
    if flaw == "weights":
        monkeypatch.setitem(globals(), "components", lambda *given: graph_kernels.components(*given[:3]))
        blind = lambda o, t, w, d, *parts: graph_kernels.prospects(o, t, np.maximum(w, 1), d, *parts)  # noqa: E731
        monkeypatch.setitem(globals(), "prospects", blind)
    else:
        monkeypatch.setitem(globals(), "prospects", lambda *given: (graph_kernels.prospects(*given)[0],) * 2)

    @given(st.data())
    @settings(max_examples=300, database=None, phases=[Phase.generate])  # any example will do
    def compared(data):
        compare_prospects(data, *drawn_arcs(data))

    with pytest.raises(AssertionError):
        compared()


def test_what_is_no_number_bounds_nothing():
    arrays = np.array([0, 1, 2, 4]), np.array([0, 0, 1, 2], np.int32), np.array([3, 1, 1, 1], np.int32)
    numerators = np.array([0.0, np.nan, 3.0])
    _, error = LinearSystem(*arrays, 3, np.array([False, True, True])).refined(numerators)
    assert not error < solving.REQUIRED


def exact_solution(offsets, targets, weights, denominator, active):
    """Gauss over the rationals."""
    members = np.flatnonzero(active).tolist()
    place = {v: k for k, v in enumerate(members)}
    system = [[Fraction(0)] * len(members) + [Fraction(1)] for _ in members]
    for k, v in enumerate(members):
        system[k][k] += 1
        for e in range(offsets[v], offsets[v + 1]):
            if active[targets[e]]:
                system[k][place[int(targets[e])]] -= Fraction(int(weights[e]), denominator)
    for k in range(len(members)):
        pivot = next(r for r in range(k, len(members)) if system[r][k] != 0)
        system[k], system[pivot] = system[pivot], system[k]
        system[k] = [value / system[k][k] for value in system[k]]
        for r in range(len(members)):
            if r != k and system[r][k]:
                system[r] = [x - system[r][k] * y for x, y in zip(system[r], system[k], strict=True)]
    return {v: system[k][-1] for k, v in enumerate(members)}


@st.composite
def leaky_chains(draw):
    """Random chains in which state 0 is the goal and every state has some way down to it."""
    size, denominator = draw(st.integers(2, 12)), draw(st.sampled_from([3, 12, 1000]))
    offsets, targets, weights = [0], [], []
    for v in range(size):
        number = draw(st.integers(1, min(4, size)))
        heads = draw(st.lists(st.integers(0, size - 1), min_size=number, max_size=number, unique=True))
        if v and min(heads) >= v:
            heads[0] = v - 1
            heads = sorted(set(heads))
        cuts = sorted(draw(st.lists(st.integers(1, denominator - 1), min_size=len(heads) - 1, max_size=len(heads) - 1)))
        shares = np.diff([0, *cuts, denominator]).tolist()
        if 0 in shares:  # every drawn arc must be a real one
            shares = [denominator] + [0] * (len(heads) - 1) if v == 0 else None
        if shares is None:
            heads, shares = [v - 1], [denominator]
        targets += heads
        weights += shares
        offsets.append(len(targets))
    return np.array(offsets), np.array(targets, np.int32), np.array(weights, np.int32), denominator


@given(leaky_chains(), st.sampled_from(["sweeps", "elimination", "krylov", "factors"]))
@settings(max_examples=200, deadline=None)
def test_expected_steps_are_right_and_the_error_bound_holds(chain, method):
    offsets, targets, weights, denominator = chain
    active = np.arange(len(offsets) - 1) > 0
    system = LinearSystem(offsets, targets, weights, denominator, active)
    with pytest.MonkeyPatch.context() as patch:
        if method != "sweeps":
            system._hard = set(np.flatnonzero(np.diff(system.bounds) > 1).tolist())
        if method in ("krylov", "factors"):
            patch.setattr(solving, "LARGEST_ELIMINATED", 0)
        if method == "factors":
            patch.setattr(solving, "RESTARTS", 0)  # GMRES does nothing
        solution = system.expected_steps()
    for v, expected in exact_solution(offsets, targets, weights, denominator, active).items():
        assert abs(Fraction(float(solution.values[v])) - expected) <= Fraction(solution.error) * expected
    assert solution.error < 1e-12


@pytest.mark.parametrize("denominator", [10, 10**3, 10**6])  # up to 10^24 steps
def test_long_waits_are_exact(denominator):
    """A walk on 0..4 that goes down with probability 1/denominator and up otherwise."""
    size = 5
    offsets, targets, weights = [0, 1], [0], [denominator]
    for v in range(1, size):
        targets += [v - 1, min(v + 1, size - 1)]
        weights += [1, denominator - 1]
        offsets.append(len(targets))
    arrays = np.array(offsets), np.array(targets, np.int32), np.array(weights, np.int32)
    active = np.arange(size) > 0
    expected = exact_solution(*arrays, denominator, active)
    backwards = csr_array((arrays[2], arrays[1], arrays[0]), (size, size)).tocsc()
    columns = backwards.indptr.astype(np.int64), backwards.indices, backwards.data
    for v, steps in expected.items():  # the visits of all configurations are the steps
        begin = denominator * (np.arange(size) == v)
        visits, _ = LinearSystem(*columns, denominator, active, transposed=True).refined(begin)
        assert visits[active].min() > 0 and visits.sum() == pytest.approx(float(steps), rel=1e-12)
    solution = LinearSystem(*arrays, denominator, active).expected_steps()
    for v, value in expected.items():
        assert abs(Fraction(float(solution.values[v])) - value) <= Fraction(solution.error) * value
    assert solution.error < 1e-12


def test_what_cannot_be_computed_is_said(monkeypatch):
    arrays = np.array([0, 1, 2]), np.array([0, 0], np.int32), np.array([3, 1], np.int32)
    monkeypatch.setattr(solving, "REQUIRED", -1.0)
    with pytest.raises(InvalidInput, match="could not be computed reliably"):
        LinearSystem(*arrays, 3, np.array([False, True])).expected_steps()


@pytest.mark.parametrize("room, answered", [(2e8, True), (0, False)])
def test_where_krylov_methods_stall_factors_solve_if_they_fit(monkeypatch, room, answered):
    """Seven seats in a circle, each left for the next with a chance of 1/2, and from seat 0 for ever with 1/1000."""
    size = 7
    arcs = [(v, head) for v in range(size) for head in sorted({v, (v + 1) % size})]
    _, offsets, targets = rows(size, arcs)
    weights = np.full(len(arcs), 500, np.int32)
    weights[0] = 499
    for name, value in (("LARGEST_ELIMINATED", 0), ("RESTARTS", 0), ("SWEEPS", 0), ("LARGEST_FACTORS", room)):
        monkeypatch.setattr(solving, name, value)
    system = LinearSystem(offsets, targets, weights, 1000, np.ones(size, bool))
    if answered:
        expected = exact_solution(offsets, targets, weights, 1000, np.ones(size, bool))
        assert system.expected_steps().values == pytest.approx([float(expected[v]) for v in range(size)], rel=1e-12)
    else:
        with pytest.raises(InvalidInput, match="the solver gives up on 7 configurations that lead to each other"):
            system.expected_steps()
