"""First visits to sets that may be left again: verify, schedules and prove against plain Python on any protocol."""

import dataclasses
import math

import pytest
from by_hand import ByHand
from drawn_protocols import drawn
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import hegemon as hg
from hegemon.exact import findings, hitting
from hegemon.models import Bit, Group, PopulationProtocol, Range, RoundsProtocol, exactly

GRAPHS = {"path:3": [(0, 1), (1, 0), (1, 2), (2, 1)], "directed-ring:3": [(0, 1), (1, 2), (2, 0)]}
GRAPHS["complete:3"] = [(i, j) for i in range(3) for j in range(3) if i != j]


class Passing(PopulationProtocol):
    """A token that becomes 1, and then 2: `one` is visited for certain, and left at once."""

    arbitrary_start = False
    default_start = "begin"
    reaches = "one"

    class State:
        x: Range(0, 2)
        token: Bit

    def interact(a, b, p):
        if a.token == 1 and a.x < 2:
            a.x += 1
        elif b.token == 1 and b.x < 2:
            b.x += 1

    def start_begin(self, rng):
        return [Group(1, {"x": 0, "token": 1}), Group(self.n - 1, {"x": 0, "token": 0})]

    def start_past(self, rng):
        return [Group(1, {"x": 2, "token": 1}), Group(self.n - 1, {"x": 0, "token": 0})]

    safe = one = exactly(1, lambda a, p: a.x == 1).described("exactly one 1")


def test_a_visit_that_is_certain_is_confirmed_though_the_set_is_left():
    answer = hg.verify(Passing(2), within=1)
    assert answer.finding("reached", "one").holds and answer.ok and answer.hitting.worst == 1
    assert answer.within.worst == answer.hitting.probability == 1
    assert not answer.finding("closed").holds
    assert not hg.verify(Passing(2), start="past").finding("reached", "one").holds
    (statement,) = hg.prove(Passing, property="reached:one", largest=3).parts[0].statements
    assert statement.status != "refuted"
    assert hg.prove(Passing, property="reached:one", start="past").parts[0].statements[0].status == "refuted"


def test_a_named_start_behind_the_set_has_no_quantiles(tmp_path, monkeypatch):
    """Its distribution does not end: a twin that follows it is refused when it has made too many steps."""
    answer = hg.verify(Passing(2), property="time", quantiles=(0.5,))
    assert answer.hitting.from_starts == {"begin": 1, "past": math.inf}
    assert answer.hitting.quantiles == {view: {"0.5": 1} for view in ("mean", "worst", "begin")}
    assert hitting.write_distribution(answer, tmp_path / "all.csv").read_text().startswith("step,mean,worst,begin\n")
    everywhere = hitting.views_of(answer.case.chain, answer.hitting, {}) | {
        "past": hitting.Viewpoint(answer.inside * 0.0 + 1)
    }
    monkeypatch.setattr(hitting, "MOST_STEPS", 1000)
    with pytest.raises(hg.InvalidInput, match="beyond 1001 steps"):
        hitting.survival(answer.case.chain, answer.inside, everywhere, lambda row: max(row) <= 0.4)


class PassingRounds(RoundsProtocol):
    arbitrary_start = False

    class State:
        x: Range(0, 2) = 0

    def update(me, neighbours, coins, p):
        if me.x < 2:
            me.x += 1

    safe = exactly(2, lambda a, p: a.x == 1).described("both are 1")


def test_a_visit_in_rounds_is_certain_too():
    answer = hg.verify(PassingRounds(2), graph="path:2", within=1)
    assert answer.finding("reached").holds and answer.ok and answer.within.worst == 1


def compare(data):
    """One drawn protocol, from one start or from everywhere, with every answer beside the one by hand."""
    size, graph = data.draw(st.integers(2, 3)), data.draw(st.sampled_from(sorted(GRAPHS)))
    made, table, _ = drawn(data, size)
    begin = data.draw(st.none() | st.tuples(*[st.integers(0, size - 1)] * 3))
    protocol, states = made(3), [made(3).space.namespace(code) for code in range(size)]
    chosen = protocol.sets["safe"]
    hand = ByHand(
        size, 3, GRAPHS[graph], table,
        lambda c: chosen.contains([states[x] for x in c], protocol.p, protocol.values), begin,
    )  # fmt: skip
    start = "all" if begin is None else [{"x": x} for x in begin]
    answer = hg.verify(protocol, graph=graph, start=start, property="safe", within=4)
    finding, hitting = answer.finding("reached"), answer.hitting
    assert finding.holds == hand.certain and answer.finding("closed").holds == hand.closed
    assert hitting.probability == pytest.approx(float(hand.probability()), rel=1e-9)
    rows = hand.within(4)
    assert answer.within.fractions["worst"] == min(rows[4])
    assert answer.within.fractions["mean"] == sum(rows[4]) / len(rows[4])
    if finding.holds:
        expected = hand.expected()
        assert hitting.worst == pytest.approx(float(max(expected)), rel=1e-9)
        assert hitting.mean == pytest.approx(float(sum(expected) / len(expected)), rel=1e-9)
        half = next(t for t in range(5) if t == 4 or 2 * sum(rows[t]) >= len(rows[t]))
        if half < 4:
            again = hg.verify(protocol, graph=graph, start=start, property="time", quantiles=(0.5,))
            assert again.hitting.quantiles["mean"]["0.5"] == half
    else:
        assert hitting.worst == math.inf
        walk(finding.counterexample, hand, size, table)
    compare_holding(answer, hand)


def walk(story, hand, size, table):
    """A counterexample begins at a start, avoids the set, and ends where the set is out of reach."""
    now = tuple(state["x"] for state in story.configuration)
    visited = [now]
    for one in story.interactions:
        now = hand.step(now, (one.initiator, one.responder), size, table)
        visited.append(now)
    rotations = {c[k:] + c[:k] for c in hand.starts for k in range(3)} | {tuple(sorted(c)) for c in hand.starts}
    assert visited[0] in rotations and not any(hand.inside[c] for c in visited) and now not in hand.able


def compare_holding(answer, hand):
    found = hand.holding(lambda x: x == 0)
    if answer.holding:
        finite = [float(value) for value in found.values() if value is not None]
        worst, best = min(finite, default=math.inf), math.inf if None in found.values() else max(finite)
        assert answer.holding.worst == pytest.approx(worst, rel=1e-9)
        assert answer.holding.best == pytest.approx(best, rel=1e-9)


@given(st.data())
@settings(max_examples=60)
def test_every_answer_about_any_set_by_hand(data):
    compare(data)


@pytest.mark.full
@given(st.data())
@settings(max_examples=1500)
def test_every_answer_about_many_sets_by_hand(data):
    compare(data)


IS_REACHED = findings.is_reached


def demand_of_everything(chain, name, inside, claimed):
    """A wrong twin: whatever is reachable, also after a visit, must be able to reach the set."""
    holds = bool(findings.can_reach(chain, inside).all())
    return dataclasses.replace(IS_REACHED(chain, name, inside, claimed), holds=holds)


def test_the_comparison_catches_a_demand_on_what_comes_after(monkeypatch):
    monkeypatch.setattr(findings, "is_reached", demand_of_everything)
    drawn_comparison = settings(max_examples=60, phases=[Phase.generate])(given(st.data())(lambda data: compare(data)))
    with pytest.raises(AssertionError, match="certain"):
        drawn_comparison()


# -- schedules and proofs -------------------------------------------------------------------------------------


@given(st.data())
@settings(max_examples=60)
def test_schedules_from_a_start_by_hand(data):
    """Unfair moves: no endless way and no dead end among what can come before a visit."""
    size, graph = data.draw(st.integers(2, 3)), data.draw(st.sampled_from(sorted(GRAPHS)))
    made, table, _ = drawn(data, size)
    begin = data.draw(st.tuples(*[st.integers(0, size - 1)] * 3))
    protocol, states = made(3), [made(3).space.namespace(code) for code in range(size)]
    chosen = protocol.sets["safe"]
    hand = ByHand(
        size, 3, GRAPHS[graph], table,
        lambda c: chosen.contains([states[x] for x in c], protocol.p, protocol.values), begin,
    )  # fmt: skip
    start = [{"x": x} for x in begin]
    finding = hg.verify(protocol, graph=graph, start=start, scheduler="adversary").finding("reached")
    left, most = set(hand.before), 0  # layers: what moves only into the set or into earlier layers
    while layer := {c for c in left if (moves := set(hand.after[c]) - {c}) and not moves & left}:
        left, most = left - layer, most + 1
    assert finding.holds == (not left)
    if not left:
        assert f"at most {most} move" in finding.sentence


@given(st.data())
@settings(max_examples=40)
def test_what_prove_says_of_first_visits_by_hand(data):
    size = data.draw(st.integers(2, 3))
    first, second = (data.draw(st.integers(0, size - 1)) for _ in range(2))
    made, table, _ = drawn(data, size, begins=(first, second))
    for statement in hg.prove(made, property="safe", largest=3).parts[0].statements:
        truth = {}
        for n in (2, 3, 4):
            protocol, states = made(n), [made(n).space.namespace(code) for code in range(size)]
            chosen = protocol.sets["safe"]
            arcs = [(i, j) for i in range(n) for j in range(n) if i != j]

            def inside(c, chosen=chosen, states=states, protocol=protocol):
                return chosen.contains([states[x] for x in c], protocol.p, protocol.values)

            hand = ByHand(size, n, arcs, table, inside, (first, *[second] * (n - 1)))
            truth[n] = hand.certain if statement.question == "reached" else hand.closed
        if statement.status == "proved":
            assert all(truth.values())
        elif statement.status == "refuted":
            n = next(n for n in truth if not truth[n])
            assert f"false for n = {n}:" in statement.sentence
        else:
            assert truth[2] and truth[3] and "true for n = 2, 3" in statement.sentence
