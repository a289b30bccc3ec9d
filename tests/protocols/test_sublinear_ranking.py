"""The ranking by names: no false alarms, impostors found at the published rates, elections from arbitrary starts."""

import copy
import math
import random

import numpy as np
import pytest

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.models import ObjectProtocol, whole
from hegemon.models.objects import agent
from hegemon.protocols import sublinear_ranking
from hegemon.protocols.sublinear_ranking import RESETTING, Edge, SublinearRanking, is_consistent, live_paths

UNTIL_RESET = whole(lambda agents, p: any(a.role == RESETTING for a in agents))


@pytest.mark.parametrize(("n", "depth", "steps"), [(8, 1, 4000), (8, 2, 2000), (6, 3, 1000), (16, 2, 1000)])
def test_different_names_raise_no_alarm(n, depth, steps):
    run = hg.simulate(SublinearRanking(n=n, H=depth), start="safe", until=UNTIL_RESET, seed=1, max_steps=steps)
    assert not run.reached and run.leaders == 1


def test_a_wrong_check_rings_at_once(monkeypatch):
    """The negative control: the path walked forwards instead of backwards."""
    right = sublinear_ranking.is_consistent
    monkeypatch.setattr(sublinear_ranking, "is_consistent", lambda path, root, tree: right(path[::-1], root, tree))
    run = hg.simulate(SublinearRanking(n=8, H=2), start="safe", until=UNTIL_RESET, seed=1, max_steps=2000)
    assert run.reached


def test_a_path_is_consistent_if_one_meeting_is_remembered():
    leaf = Edge(sync=7, expires=10, shift=0, below={})
    tree = {"b": Edge(sync=5, expires=10, shift=2, below={"c": leaf})}
    paths = list(live_paths(tree, 3, "c", frozenset(["a"]), 2))
    assert paths == [[("b", 5), ("c", 7)]]
    assert list(live_paths(tree, 10, "c", frozenset(["a"]), 2)) == []  # the first edge has expired
    assert list(live_paths(tree, 3, "c", frozenset(["a"]), 1)) == []  # too deep
    assert is_consistent(paths[0], "a", {"b": Edge(7, 0, 0, {})})  # c remembers its meeting with b
    assert is_consistent(paths[0], "a", {"b": Edge(8, 0, 0, {"a": Edge(5, 0, 0, {})})})  # a later one, and b's with a
    assert not is_consistent(paths[0], "a", {"b": Edge(8, 0, 0, {"a": Edge(6, 0, 0, {})})})
    assert not is_consistent(paths[0], "a", {})


def detection(n, depth, trials):
    protocol = SublinearRanking(n=n, H=depth)
    runs = hg.run_trials(protocol, trials, start="doubled-name", until=UNTIL_RESET, seed=2).runs
    return np.mean([run.parallel_time for run in runs])


def test_deeper_trees_find_an_impostor_sooner():
    direct, shallow, deep = detection(64, 0, 15), detection(64, 1, 15), detection(64, 2, 15)
    assert direct > 3 * shallow and shallow > deep  # 0.5 n, about 0.4 √n, about 0.6 n^(1/3)
    assert 0.25 * math.sqrt(64) < shallow < 0.75 * math.sqrt(64)


@pytest.mark.parametrize(("n", "depth"), [(4, 1), (8, 1), (8, 2), (6, 0)])
def test_it_elects_from_arbitrary_starts(n, depth):
    protocol = SublinearRanking(n=n, H=depth, r_max=math.ceil(8 * math.log(n)))
    for trial in range(4):
        run = hg.simulate(protocol, seed=3, trial=trial, max_steps=50_000)
        assert run.reached and run.leaders == 1


def test_trials_do_not_depend_on_workers():
    one, two = (
        [run.steps for run in hg.run_trials(SublinearRanking(n=6), 4, start="fresh", workers=w).runs] for w in (1, 2)
    )
    assert one == two


def test_interact_never_changes_a_value_in_place():
    protocol = SublinearRanking(n=8, H=2)
    agents = protocol.agents_of("random", np.random.default_rng(1))
    protocol.check_interact(random.Random(2), agents, samples=300)


class InPlace(ObjectProtocol):
    """Changes a list that both copies share."""

    def interact(a, b, p, coins):
        a.seen.append(1)

    def output(a, p):
        return 0

    def start_random(self, rng):
        return [agent(seen=[]) for _ in range(self.n)]

    safe = whole(lambda agents, p: False)


def test_a_change_in_place_is_refused():
    with pytest.raises(InvalidInput, match="in place"):
        hg.simulate(InPlace(n=3))


def test_what_cannot_apply_says_so():
    protocol = SublinearRanking(n=6)
    with pytest.raises(InvalidInput, match="Python objects"):
        hg.verify(protocol)
    with pytest.raises(InvalidInput, match="Python objects"):
        hg.simulate(protocol, engine="batch")
    with pytest.raises(InvalidInput, match="Python objects"):
        hg.simulate(protocol, faults=(hg.Fault(3, 1),))


def test_a_snapshot_repeats_the_run():
    from hegemon.engines.population.objects import Objects
    from hegemon.runs.setting import topology_for

    protocol = SublinearRanking(n=6)
    agents = protocol.agents_of("random", np.random.default_rng(1))
    engine = Objects(protocol, topology_for(protocol), agents, 1, 0)
    engine.advance(50)
    kept = engine.snapshot()
    engine.advance(200)
    first = copy.deepcopy([vars(a) for a in engine.agents])
    engine.restore(kept)
    engine.advance(200)
    assert [vars(a) for a in engine.agents] == first


def test_sets_of_objects_are_joined():
    runs = [hg.simulate(SublinearRanking(n=4), start="doubled-name", until=u).steps for u in ("alarmed", "not safe")]
    assert runs[0] > runs[1] == 0
    assert hg.simulate(SublinearRanking(n=4), start="safe", until="safe and not alarmed").steps == 0
    with pytest.raises(hg.InvalidInput, match="cannot count"):
        hg.simulate(SublinearRanking(n=4), until="count(rank == 1) == 1")
