"""Agents that crash and pause: runs against a plain simulation and against the exact long run."""

from functools import cache

import numpy as np
import pytest
from scipy import stats

import hegemon as hg
from hegemon.cli.main import main
from hegemon.models.halting import halting
from hegemon.runs.rates import marks_of, read_rates
from hegemon.runs.setting import initial_configuration
from hegemon.web.session import Session
from tests.runs.test_rates import p_value

TIMER = hg.Timer(n=4, s=2)
CASES = {
    "crash": ["corrupt=1/20", "crash=1/20", "leave=1/12", "join=1/9"],
    "pause": ["corrupt=1/10", "pause=1/5,meetings=3"],
    "wake": ["corrupt=1/10,leader=1", "pause=1/5", "wake=1/4"],
}
STEPS, TRIALS = 20, 300


def plainly(texts: list[str], k: int, twin: bool = False) -> tuple[int, int]:
    """Leaders and agents after some steps, in plain Python: an agent is a code and how long it is halted.

    In the broken twin only the halted agent itself is left as it is.
    """
    rng, rates, space = np.random.default_rng([13, k]), read_rates(texts), TIMER.space
    agents = [[code, 0] for code in np.repeat(*initial_configuration(TIMER, "all-leaders", 7, 0).multiset).tolist()]
    never, dead = 10**6, 10**9
    for _ in range(STEPS):
        level, what = rng.random(), None
        for rate in rates:
            what = rate if what is None and level < rate.rate else what
            level -= float(rate.rate)
        a, b = (agents[int(one)] for one in rng.choice(len(agents), 2, replace=False))
        kind = what.kind if what else "meet"
        if kind == "meet":
            met = TIMER.transition_codes(a[0], b[0])
            for one, other, after in ((a, b, met[0]), (b, a, met[1])):
                if not one[1] and (twin or not other[1]):
                    one.append(after)
            for one in (a, b):
                if len(one) == 3:
                    one[0] = one.pop()
                elif one[1] < never:
                    one[1] = max(0, one[1] - 1)
        elif kind == "join" and len(agents) < 4:
            agents.append([int(rng.integers(space.size)), 0])
        elif kind == "leave" and len(agents) > 2:
            agents.remove(a)
        elif kind == "corrupt" and a[1] < dead:
            state = space.namespace(a[0])
            state.leader = 1
            a[0] = space.code(state) if what.values else int(rng.integers(space.size))
        elif kind == "crash":
            a[1] = dead
        elif kind == "pause" and a[1] < dead:
            a[1] = 3 if what.values else never
        elif kind == "wake" and a[1] < dead:
            a[1] = 0
    return sum(space.namespace(code).leader for code, halted in agents if halted < dead), len(agents)


@cache
def plain_runs(*rates: str, twin: bool = False) -> list[tuple[int, int]]:
    return [plainly(list(rates), k, twin) for k in range(TRIALS)]


def ran(rates: list[str], engine: str) -> list[tuple[int, int]]:
    asked = {"rates": rates, "start": "all-leaders", "until": f"steps:{STEPS}", "engine": engine, "workers": 1}
    return [(one.leaders, one.measures.get("agents", 4)) for one in hg.run_trials(TIMER, TRIALS, **asked).runs]


@pytest.mark.parametrize("engine", ["agents", "batch"])
@pytest.mark.parametrize("rates", CASES.values(), ids=CASES)
def test_runs_have_the_law_of_a_plain_simulation(rates, engine):
    assert p_value(ran(rates, engine), plain_runs(*rates)) > 1e-4


def test_a_partner_that_goes_on_is_noticed():
    """Broken twins: an agent that meets a halted one changes, and pauses are forgotten."""
    rates = ["corrupt=1/50", "pause=3/5", "wake=1/20"]
    right = plain_runs(*rates)
    assert p_value(ran(rates, "agents"), right) > 1e-4
    assert p_value(plain_runs(*rates, twin=True), right) < 1e-4
    assert p_value(plain_runs(*rates[:1]), right) < 1e-4


@pytest.mark.parametrize("rates", CASES.values(), ids=CASES)
def test_runs_and_the_exact_long_run_agree(rates):
    exact = hg.availability(hg.Timer(n=3, s=2), rates=rates)
    shares = [
        hg.simulate(hg.Timer(n=3, s=2), rates=rates, availability=True, until="steps:3000", trial=k).measures
        for k in range(8)
    ]
    assert exact.error < 1e-9
    assert stats.ttest_1samp([one["availability"] for one in shares], exact.availability).pvalue > 1e-4
    plain = [one for one in rates if not one.startswith(("crash", "pause", "wake"))]
    other = hg.availability(hg.Timer(n=3, s=2), rates=plain).availability
    assert abs(other - exact.availability) > 0.02  # so that the test can tell them apart


def test_if_all_crash_in_the_end_nobody_leads():
    found = hg.availability(hg.Timer(n=3, s=2), rates=["crash=1/100"])
    assert found.availability == 0 == found.error
    run = hg.simulate(TIMER, rates=["crash=1/5"], until="count(halted == crashed) == 4")
    assert run.reached and run.leaders == 0 and run.measures["crashed"] == 4


def test_a_crash_of_the_leader_is_a_loss_and_a_pause_is_none():
    """The first crash of three agents hits the leader with probability 1/3."""
    asked = {"start": "safe", "until": "broken", "max_steps": 4000}
    lost = [hg.simulate(hg.Pairwise(n=3), rates=["crash=1/20"], trial=k, **asked) for k in range(60)]
    assert all(run.reached and run.leaders == 0 for run in lost)
    first = sum(run.measures["crashed"] == 1 for run in lost)
    assert stats.binomtest(first, 60, 1 / 3).pvalue > 1e-4
    assert not hg.simulate(hg.Pairwise(n=3), rates=["pause=1/20,meetings=2"], **asked).reached


def test_nobody_is_halted_at_the_start():
    marks = marks_of(read_rates(CASES["crash"]))
    protocol = halting(TIMER, marks)
    for as_multiset in (False, True):
        start = initial_configuration(protocol, "random", 3, 0, as_multiset)
        assert start.n == 4 and not start.agents["halted"].any()
    assert protocol.states == 2 * TIMER.states and protocol.space.halts


def test_a_watched_run_is_the_run():
    options = {"rates": ["crash=1/9", "pause=1/9,meetings=2"], "start": "all-leaders", "seed": 3}
    session = Session(TIMER, **options)
    session.advance(40)
    run = hg.simulate(TIMER, until="steps:40", engine="agents", **options)
    assert np.array_equal(session.world.engine.configuration().agents, run.configuration.agents)
    assert run.configuration.agents["halted"].any()


def test_classes_of_agents_and_lost_interactions():
    """A protocol whose states are of several classes, with names of values, and with coins."""
    run = hg.simulate(
        hg.TimeOptimal(n=8), rates=["pause=1/50,meetings=4"], loss=0.2, until="count(leader == 1) == 1", max_steps=10**6
    )
    assert run.reached and run.leaders == 1


REFUSED = {
    "pause=0.1": "pause without an end",
    "wake=0.1": "no rate pause",
    "pause=0.1,meetings=0": "not understood",
    "crash=0.1,leader=1": "values to an agent that crashes",
    "crash=0.1": "about all n",
}


@pytest.mark.parametrize(("text", "sentence"), REFUSED.items(), ids=list(REFUSED))
def test_what_cannot_be_is_refused(text, sentence, capsys):
    assert main(["run", "timer", "--n", "4", "--rate", text, "--until", "all(timer == 0)", "--max-steps", "9"]) == 2
    assert sentence in capsys.readouterr().err.replace("\n", " ")
