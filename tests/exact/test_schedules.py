"""The worst schedules and the probabilities within k steps, against plain Python on any protocol."""

import itertools
import json
from fractions import Fraction

import drawn_protocols
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon.cli.main import main
from hegemon.exact import within
from hegemon.exact.adversary import Adversary
from hegemon.exact.instance import Instance
from hegemon.models import Range, RoundsProtocol
from hegemon.models.start_files import StartFile
from hegemon.protocols import CATALOGUE
from hegemon.runs.schedules import read_interactions


def drawn(data):
    """A protocol with any table, any goal, on a small graph; with its table."""
    size = data.draw(st.integers(2, 3))
    made, table, _ = drawn_protocols.drawn(data, size)
    graph = data.draw(st.sampled_from(["path:3", "complete:3", "directed-ring:3"]))
    return made(3), graph, size, table


def step(configuration, arc, size, table):
    i, j = arc
    after = list(configuration)
    after[i], after[j] = table[after[i] * size + after[j]]
    return tuple(after)


def by_hand(protocol, arcs, size, table):
    """Outside the set: can moves go on for ever, how many can there be, can fair turns go on for ever?"""
    states = [protocol.space.namespace(code) for code in range(size)]
    inside = {
        c: protocol.sets["safe"].contains([states[x] for x in c], protocol.p, protocol.values)
        for c in itertools.product(range(size), repeat=3)
    }
    graph = nx.DiGraph()
    graph.add_nodes_from(c for c in inside if not inside[c])
    dead = False
    longest = dict.fromkeys(inside, 0)
    for c in list(graph):
        moves = [d for arc in arcs if (d := step(c, arc, size, table)) != c]
        dead |= not moves
        graph.add_edges_from((c, d) for d in moves if not inside[d])
    endless = dead or not nx.is_directed_acyclic_graph(graph)
    if not endless:
        for c in reversed(list(nx.topological_sort(graph))):
            longest[c] = 1 + max(longest[step(c, arc, size, table)] for arc in arcs if step(c, arc, size, table) != c)
    unfair = any(
        all(any(step(c, arc, size, table) in part for c in part) for arc in arcs)
        for part in nx.strongly_connected_components(graph)
    )
    return inside, endless, max(longest.values()), unfair


@given(st.data())
@settings(max_examples=60)
def test_the_worst_schedule_by_hand(data):
    protocol, graph, size, table = drawn(data)
    first = hg.verify(protocol, graph=graph, start="all", scheduler="adversary", property="reached")
    topology = first.case.topology
    arcs = list(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))
    inside, endless, longest, unfair = by_hand(protocol, arcs, size, table)
    (finding,) = first.findings
    assert finding.holds != endless
    story = finding.counterexample
    if finding.holds:
        assert len(story.interactions) == longest and f"at most {longest} move" in finding.sentence
    else:
        follow(story, inside, arcs, size, table)
    (fair,) = hg.verify(protocol, graph=graph, start="all", scheduler="fair", property="reached").findings
    assert fair.holds != unfair
    if unfair:
        last, visited = follow(fair.counterexample, inside, arcs, size, table)
        used = {(step.initiator, step.responder) for step in fair.counterexample.interactions}
        stands = all(step(last, arc, size, table) == last for arc in arcs)
        assert stands and not used or used == set(arcs) and last == visited[0]


def follow(story, inside, arcs, size, table):
    """Every step is possible, and no configuration is in the set."""
    now = tuple(state["x"] for state in story.configuration)
    visited = [now]
    for one in story.interactions:
        arc = one.initiator, one.responder
        assert arc in arcs
        now = step(now, arc, size, table)
        visited.append(now)
    assert not any(inside[c] for c in visited)
    return now, visited


def test_from_a_start_the_schedule_begins_there(tmp_path):
    protocol = CATALOGUE["exact-majority"](4, votes=3)
    finding = hg.verify(protocol, scheduler="adversary").finding("reached")
    assert finding.holds and "at most" in finding.sentence
    threshold = hg.Threshold(4, k=3, marked=3)
    answer = hg.verify(threshold, scheduler="adversary")
    story = answer.finding("reached").counterexample
    assert sorted(state["x"] for state in story.configuration) == [0, 1, 1, 1]
    story.save(tmp_path / "schedule.json")
    followed = read_interactions(StartFile(tmp_path / "schedule.json"), threshold, answer.case.topology)
    assert followed == [(one.initiator, one.responder, 0) for one in story.interactions]
    steps = len(followed)
    run = hg.simulate(threshold, start=str(tmp_path / "schedule.json"), engine="agents", until=f"steps:{steps}", seed=1)
    assert run.steps == steps


def test_daemons_on_rounds():
    """Three tokens on Herman's ring: one flip alone leaves one token; three flips at once may leave three for ever."""
    asked = {"start": "all", "coins": "adversary", "property": "reached"}
    (central,) = hg.verify(CATALOGUE["herman"](3), scheduler="central", **asked).findings
    assert central.holds and central.sentence.endswith("at most 1 move")
    (distributed,) = hg.verify(CATALOGUE["herman"](3), scheduler="distributed", **asked).findings
    assert not distributed.holds
    around = distributed.counterexample.interactions
    assert len(around) == 2 and all(len(one.changes) == 3 for one in around)


class Follow(RoundsProtocol):
    """Every node takes over its left neighbour's bit."""

    topology = "oriented-ring"
    smallest_n = 3
    oriented = True

    class State:
        x: Range(0, 1)

    def update(me, neighbours, coins, p):
        me.x = neighbours[0].x


def test_daemons_know_left_from_right():
    case = Instance(Follow(4), start="all", daemon="central")
    moves = Adversary(case.decisions, np.zeros(case.chain.size, bool))
    for index, bits in enumerate(case.chain.codes.tolist()):
        expected = {(*bits[:v], bits[v - 1], *bits[v + 1 :]) for v in range(4) if bits[v] != bits[v - 1]}
        assert {tuple(case.chain.codes[after].tolist()) for after in moves.after(index)} == expected


def test_a_schedule_of_rounds_is_followed(tmp_path):
    """Three tokens that flip together for ever: as prescribed, where chance alone would end it."""
    herman, place = CATALOGUE["herman"](3), str(tmp_path / "schedule.json")
    finding = hg.verify(herman, start="all", scheduler="distributed", coins="adversary").finding("reached")
    story = finding.counterexample
    assert story is not None and len(story.interactions) == 2
    story.save(place)
    content = json.loads((tmp_path / "schedule.json").read_text())
    content["rounds"] *= 20
    (tmp_path / "schedule.json").write_text(json.dumps(content))
    for seed in range(5):
        run = hg.simulate(herman, start=place, max_steps=40, seed=seed)
        assert run.steps == 40 and not run.reached
        assert [herman.space.mapping(agent) for agent in run.configuration.agents] == story.configuration
    (tmp_path / "schedule.json").write_text(json.dumps(content), encoding="utf-8-sig")  # as some editors save it
    assert hg.simulate(herman, start=place, max_steps=40).steps == 40
    content["rounds"] = []
    (tmp_path / "schedule.json").write_text(json.dumps(content))
    assert all(hg.simulate(herman, start=place, max_steps=40, seed=seed).reached for seed in range(5))


@pytest.mark.parametrize(
    "rounds, sentence",
    [
        ([[[2, {"x": 0}]], [[1, {"x": 1}]]], "round 2 cannot be followed: node 1 never becomes x=1 there"),
        ([[[3, {"x": 0}]]], "3 is not one of the nodes 0..2"),
        ([[0]], "not a list of changes"),
        (7, "rounds must be a list"),
        ([[[0, {"x": 7}]]], "x"),
    ],
)
def test_rounds_that_cannot_be_followed_are_refused(rounds, sentence, tmp_path):
    agents = [{"x": 0}, {"x": 1}, {"x": 1}]
    place = tmp_path / "schedule.json"
    place.write_text(json.dumps({"agents": agents, "rounds": rounds}))
    with pytest.raises(hg.InvalidInput, match=sentence):
        hg.simulate(CATALOGUE["herman"](3), start=str(place), until="rounds:9")


def test_schedules_that_do_not_fit_are_refused(capsys):
    with pytest.raises(hg.InvalidInput, match="choose adversary, .*central, .*fair, .*uniform"):
        hg.verify(hg.Pairwise(3), scheduler="distributed")
    assert main(["verify", "pairwise", "--n", "3", "--scheduler", "odd"]) == 2
    assert main(["verify", "pairwise", "--n", "3", "--scheduler", "adversary", "--json"]) == 0
    assert "at most 2 moves" in json.loads(capsys.readouterr().out)["findings"][-1]["sentence"]


# -- within k steps ---------------------------------------------------------------------------------------


@given(st.data(), st.integers(0, 5))
@settings(max_examples=40)
def test_probabilities_within_some_steps_by_hand(data, steps):
    protocol, graph, size, table = drawn(data)
    answer = hg.verify(protocol, graph=graph, start="all", property="reached", within=steps)
    topology = answer.case.topology
    arcs = list(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))
    inside = by_hand(protocol, arcs, size, table)[0]
    reached = {c: Fraction(int(one)) for c, one in inside.items()}
    for _ in range(steps):
        reached = {
            c: Fraction(1)
            if inside[c]
            else sum((reached[step(c, arc, size, table)] for arc in arcs), Fraction(0)) / len(arcs)
            for c in inside
        }
    assert answer.within.fractions["worst"] == min(reached.values())
    assert answer.within.fractions["mean"] == sum(reached.values()) / len(reached)


def test_floating_point_stays_within_its_error(monkeypatch):
    exact = hg.verify(hg.Timer(4, s=3), property="reached", within=40).within
    monkeypatch.setattr(within, "EXACT_WORK", 0)
    rounded = hg.verify(hg.Timer(4, s=3), property="reached", within=40).within
    assert exact.error == 0 < rounded.error < 1e-12 and rounded.fractions is None
    assert abs(Fraction(rounded.worst) - exact.fractions["worst"]) <= rounded.error
    assert abs(Fraction(rounded.mean) - exact.fractions["mean"]) <= rounded.error


def test_pairwise_within_one_step(capsys):
    assert main(["verify", "pairwise", "--n", "2", "--within", "1"]) == 0
    assert "within 1 steps" in capsys.readouterr().out
    assert hg.verify(hg.Pairwise(3), within=2).within.fractions["worst"] == Fraction(1, 3)
    with pytest.raises(hg.InvalidInput, match="whole number"):
        hg.verify(hg.Pairwise(3), within=-1)
