"""Runs under daemons: their laws against exact chains, time in moves and rounds, silence, cycles, fairness."""

import json
from fractions import Fraction

import numpy as np
import pytest

import hegemon as hg
from hegemon.cli.main import main
from hegemon.engines.engine import Engine
from hegemon.engines.rounds.daemon import DaemonEngine
from hegemon.models import Bit, Range, RoundsProtocol, everywhere
from hegemon.process.schedulers.nodes import One, Share
from hegemon.process.schedulers.reading import scheduler_for
from hegemon.process.stopping import never
from hegemon.protocols import CATALOGUE
from hegemon.runs.setting import initial_configuration, topology_for

HERMAN, HUANG, BEAUQUIER = (CATALOGUE[name] for name in ("herman", "huang", "beauquier"))
LAWS = ("central:uniform", "locally-central:uniform", "distributed:1/3", "synchronous")
TRIALS, STEPS = 1200, (1, 2, 4, 8)


def deviations(protocol, scheduler, exact):
    """How far the shares of runs that have ended after some steps are from the exact ones, in standard deviations."""
    runs = hg.run_trials(
        protocol, TRIALS, start="random", scheduler=scheduler, engine="daemon", seed=5, max_steps=9
    ).runs
    times, found = np.array([run.steps for run in runs]), []
    for k in STEPS:
        law = hg.verify(protocol, start="all", scheduler=exact, property="reached", within=k).within.mean
        found.append((np.mean(times <= k) - law) / max(np.sqrt(law * (1 - law) / TRIALS), 1 / TRIALS))
    return np.abs(found)


@pytest.mark.parametrize("scheduler", LAWS)
def test_runs_follow_the_law_of_the_exact_chain(scheduler):
    assert deviations(HERMAN(5), scheduler, scheduler).max() < 4.5


class Lazy(Share):
    """Forgets one of the enabled nodes."""

    def choose(self, view, memory, rng):
        chosen, memory = super().choose(view, memory, rng)
        return chosen[:-1], memory


class First(One):
    """Always the same one."""

    def choose(self, view, memory, rng):
        return (min(view.enabled),), memory


def test_broken_daemons_are_caught():
    assert deviations(HERMAN(5), Lazy(Fraction(1, 3)), "distributed:1/3").max() > 4.5
    assert deviations(HERMAN(5), First(), "central:uniform").max() > 4.5


def test_uniform_daemons_have_the_published_means():
    """Huang 4/3 and 5.74218981 moves on average, 3 and 11 at most; Beauquier 3.60990171 and 6.77886170 (n = 5)."""
    for protocol, mean, worst in (
        (HUANG(3), 4 / 3, 3), (HUANG(5), 5.74218981, 11), (BEAUQUIER(5), 3.60990171, 6.77886170),
    ):  # fmt: skip
        times = hg.verify(protocol, start="all", scheduler="central:uniform", property="time").hitting
        assert times.mean == pytest.approx(mean, abs=1e-8) and times.worst == pytest.approx(worst, abs=1e-8)


# -- time ------------------------------------------------------------------------------------------------------


class Wave(RoundsProtocol):
    """Every node wants the largest value next to it."""

    class State:
        x: Range(0, 3)

    def update(me, neighbours, coins, p):
        for other in neighbours:
            me.x = max(me.x, other.x)

    def start_first(self, rng, topology):
        nodes = np.zeros(self.n, self.space.dtype)
        nodes["x"][0] = 3
        return nodes

    safe = everywhere(lambda a, p: a.x == 3)


def test_moves_and_rounds():
    """On a path one node is enabled at a time: n - 1 moves and rounds. On a star all are enabled in one round."""
    run = hg.simulate(Wave(6), graph="path:6", start="first", scheduler="central:uniform")
    assert (run.unit, run.steps, run.measures) == ("steps", 5, {"moves": 5, "rounds": 5})
    star = hg.simulate(Wave(6), graph="star:6", start="first", scheduler="central:uniform")
    assert (star.steps, star.measures) == (5, {"moves": 5, "rounds": 1})
    synchronous = hg.simulate(Wave(6), graph="star:6", start="first", engine="daemon")
    assert (synchronous.unit, synchronous.steps, synchronous.measures) == ("rounds", 1, {"moves": 5})


class Shy(RoundsProtocol):
    """A node that sees nobody at 1 goes there: it neutralizes its neighbours."""

    class State:
        x: Bit = 0

    def update(me, neighbours, coins, p):
        free = True
        for other in neighbours:
            if other.x == 1:
                free = False
        if free:
            me.x = 1

    safe = everywhere(lambda a, p: a.x == 1)


def test_neutralized_nodes_end_a_round():
    run = hg.simulate(Shy(5), graph="complete:5", scheduler="central:uniform")
    assert not run.reached and "no node is enabled" in run.ended
    assert (run.steps, run.measures) == (1, {"moves": 1, "rounds": 1})
    assert hg.simulate(Shy(5), graph="complete:5", scheduler="central:uniform", until="silent").reached


def test_silence_is_looked_for_in_synchronous_rounds_too():
    run = hg.simulate(Wave(6), graph="path:6", start="first", until="silent")
    assert run.reached and run.unit == "rounds" and run.steps == 5
    with pytest.raises(hg.InvalidInput, match="until silent is for protocols of rounds"):
        hg.simulate(hg.Pairwise(5), until="silent")


def test_a_run_that_goes_in_circles_ends_with_the_cycle():
    """All nodes of Huang's ring at once: values that are all equal count on together for ever."""
    start = [{"x": 0}] * 5
    run = hg.simulate(HUANG(5), start=start, scheduler="synchronous", engine="daemon")
    assert not run.reached and run.measures["cycle"] == 5 and "cycle of 5 steps" in run.ended and run.steps < 20
    longer = hg.simulate(HUANG(5), start=start, scheduler="synchronous", engine="daemon", max_steps=100)
    assert longer.steps == 100


# -- rules -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheduler", ["round-robin", "central:most-enabled", "central:delay-leader"])
def test_rules_end_where_every_daemon_does(scheduler):
    for trial in range(5):
        run = hg.simulate(HUANG(7), start="random", scheduler=scheduler, trial=trial)
        assert run.reached and run.steps == run.measures["moves"] <= 42


class Timid(RoundsProtocol):
    """Node values: 1 flips between 1 and 2 for ever; 0 becomes 3 if it is ever served."""

    class State:
        x: Range(0, 3)

    def update(me, neighbours, coins, p):
        if me.x == 0:
            me.x = 3
        elif me.x < 3:
            me.x = 3 - me.x

    safe = everywhere(lambda a, p: a.x != 0)


def test_greedy_daemons_are_weakly_fair():
    """Serving node 1 keeps both enabled, so a greedy daemon puts node 0 off, but not for ever."""
    start = [{"x": 0}, {"x": 1}]
    run = hg.simulate(Timid(2), graph="path:2", start=start, scheduler="central:most-enabled")
    assert run.reached and 4 < run.steps < 20
    never_ends = hg.verify(Timid(2), graph="path:2", start=start, scheduler="central")
    assert not never_ends.finding("reached").holds
    assert hg.verify(Timid(2), graph="path:2", start=start, scheduler="central:weakly-fair").finding("reached").holds


def test_a_function_of_ones_own():
    seen = []

    def last(step, states, enabled):
        seen.append((step, states[0]["x"], enabled))
        return enabled[-1]

    run = hg.simulate(Wave(4), graph="star:4", start="first", scheduler=last)
    assert run.reached and seen == [(0, 3, [1, 2, 3]), (1, 3, [1, 2]), (2, 3, [1])]
    with pytest.raises(hg.InvalidInput, match="must return some of the enabled nodes"):
        hg.simulate(Wave(4), graph="star:4", start="first", scheduler=lambda step, states, enabled: [0])


# -- stories ------------------------------------------------------------------------------------------------------


def story_of(protocol, graph, scheduler, steps, seed, path) -> dict:
    """A run as a story: who acted in every step, and what they became; returns its moves and rounds."""
    protocol = protocol.counted_in("steps")  # as every run under a daemon
    topology = topology_for(protocol, graph)
    begin = initial_configuration(protocol, "random", seed, 0, False, topology)
    chosen = scheduler_for(scheduler, protocol, topology)
    engine = DaemonEngine(protocol, topology, begin, never("never"), np.arange(4, dtype=np.uint64), chosen)
    agents, rounds = engine.states(), []
    while engine.step < steps and engine.enabled:
        engine.advance(engine.step + 1)
        states = engine.states()
        rounds.append([[int(node), states[node]] for node in engine.acted])
    path.write_text(json.dumps({"agents": agents, "rounds": rounds}))
    return engine.measures() | {"steps": engine.step}


def told(protocol, graph, scheduler, path, steps) -> dict:
    run = hg.simulate(protocol, graph=graph, start=str(path), scheduler=scheduler, until=f"steps:{steps}")
    return {name: run.measures[name] for name in ("moves", "rounds")} | {"steps": run.steps}


CASES = [(HERMAN(5), None, "distributed:1/2"), (BEAUQUIER(7), None, "central:uniform")]
CASES += [(HUANG(5), None, "central:uniform")]


@pytest.mark.parametrize(("protocol", "graph", "scheduler"), CASES)
def test_a_story_has_the_moves_and_rounds_of_its_run(protocol, graph, scheduler, tmp_path, monkeypatch):
    path = tmp_path / "story.json"
    for seed in range(6):
        made = story_of(protocol, graph, scheduler, 15, seed, path)
        assert told(protocol, graph, scheduler, path, made["steps"]) == made
    assert made["moves"] >= made["steps"] > 0
    monkeypatch.setattr(DaemonEngine, "follow", Engine.follow)  # a twin that counts nothing
    assert told(protocol, graph, scheduler, path, made["steps"])["moves"] == 0


# -- the contract of engines --------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheduler", ["central:uniform", "distributed:1/3", "round-robin", "central:most-enabled"])
def test_looking_changes_nothing(scheduler):
    protocol = HERMAN(7)
    topology = topology_for(protocol)

    def engine():
        begin = initial_configuration(protocol, "random", 2, 0, False, topology)
        chosen = scheduler_for(scheduler, protocol, topology)
        return DaemonEngine(protocol, topology, begin, never("never"), np.arange(4, dtype=np.uint64), chosen)

    one, other = engine(), engine()
    while one.step < 40:
        one.advance(40)
    for limit in (1, 7, 20):
        while other.step < limit:
            other.advance(limit)
    kept = other.snapshot()
    for _ in range(2):
        while other.step < 40:
            other.advance(40)
        assert other.codes == one.codes and other.measures() == one.measures()
        other.restore(kept)


def test_refusals(capsys):
    for given, sentence in (
        ({"scheduler": "central"}, "one enabled node acts, but which is left open; choose central:uniform"),
        ({"scheduler": "distributed:0"}, "above 0"),
        ({"scheduler": "distributed:x"}, "distributed"),
        ({"scheduler": "central:unifrom"}, "did you mean central:uniform"),
        ({"scheduler": "sychronous"}, "did you mean synchronous"),
        ({"scheduler": "round-robin", "engine": "rounds"}, "moves all nodes at once"),
        ({"scheduler": "round-robin", "until": "rounds:3"}, "counts steps"),
    ):
        with pytest.raises(hg.InvalidInput, match=sentence):
            hg.simulate(HERMAN(5), **given)
    with pytest.raises(hg.InvalidInput, match="no law of chance"):
        hg.verify(HERMAN(5), start="all", scheduler="round-robin")
    with pytest.raises(hg.InvalidInput, match="2\\^53"):
        hg.verify(HERMAN(13), start="three-tokens", scheduler="distributed:1/97")


def test_the_command_line(capsys):
    assert main(["run", "huang", "--n", "7", "--start", "random", "--scheduler", "round-robin", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["unit"] == "steps" and told["trials"][0]["moves"] == told["trials"][0]["steps"]
    assert main(["run", "huang", "--n", "5", "--start", "random", "--trace", "3"]) == 0
    assert "step 1: node" in capsys.readouterr().out


def test_the_page_follows_a_daemon():
    from hegemon.web.session import Session

    session = Session(HUANG(5), start="random", seed=1)
    session.advance(1, tell=True)
    told = session.last
    assert session.protocol.time_unit == "steps" and told["changed"] and told["node"] in session.world.engine.acted


# -- strategies of verify --------------------------------------------------------------------------------------------


def test_the_worst_and_the_best_schedule_are_followed(tmp_path, capsys):
    """Runs under the strategies take the extreme expected moves in the mean: 143/12 and 6 for five nodes."""
    places = {name: str(tmp_path / f"{name}.json") for name in ("worst", "best")}
    assert main(["verify", "beauquier", "--n", "5", "--worst", places["worst"], "--best", places["best"]]) == 0
    for name, mean in (("worst", 143 / 12), ("best", 6.0)):
        given = {"start": places[name], "scheduler": f"strategy:{places[name]}"}
        steps = [run.steps for run in hg.run_trials(BEAUQUIER(5), 500, seed=2, **given).runs]
        assert abs(np.mean(steps) - mean) < 4.5 * np.std(steps) / np.sqrt(500)
    capsys.readouterr()
    assert main(["run", "--start", places["worst"], "--json"]) == 0  # the story names its protocol and its scheduler
    assert json.loads(capsys.readouterr().out)["trials"][0]["reached"]


def test_a_strategy_that_avoids_the_set_is_followed(tmp_path):
    place = str(tmp_path / "worst.json")
    hg.verify(HERMAN(5), start="all", scheduler="central").schedules.strategy(worst=True).save(place)
    run = hg.simulate(HERMAN(5), start=place, scheduler=f"strategy:{place}", max_steps=500, seed=1)
    assert not run.reached and run.steps == 500


def test_strategies_that_do_not_fit_are_refused(tmp_path):
    place = tmp_path / "own.json"
    agents = [{"x": 1}] * 3
    for strategy, sentence in (
        ([], "has no strategy"),
        ([[[1, 1], [0]]], "no pair of 3 codes"),
        ([[[1, 1, 1], [7]]], "no pair"),
        ([[[0, 1, 1], [0]]], "does not say who acts in step 1"),
        ({"a": 1}, "must be a list"),
    ):
        place.write_text(json.dumps({"agents": agents, "strategy": strategy}))
        with pytest.raises(hg.InvalidInput, match=sentence):
            hg.simulate(HERMAN(3), start=str(place), scheduler=f"strategy:{place}")
    with pytest.raises(hg.InvalidInput, match="protocols of rounds"):
        hg.verify(CATALOGUE["israeli-jalfon"](4)).schedules.strategy(worst=True)
    assert main(["verify", "herman", "--n", "3", "--worst", str(tmp_path / "none.json")]) == 2
