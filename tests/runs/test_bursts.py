"""Bursts: agents that join or leave at a step. Their law against an exact one, in both forms of a configuration."""

import json
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

import hegemon as hg
from hegemon.cli.main import main
from hegemon.errors import InvalidInput
from hegemon.runs.disturbances import fault_text, parse_fault, read_disturbances, record

TIMER = hg.Timer(n=4, s=2)
START = [{"leader": 1, "timer": 2}, {"leader": 0, "timer": 1}, {"leader": 0, "timer": 0}, {"leader": 1, "timer": 0}]
BURSTS = ["step=3,leave=2", "step=6,join=1,leader=1", "step=7,join=1"]
TWINS = [
    [BURSTS[0], "step=6,join=1,leader=1", "step=7,join=1,leader=1"],  # no random state
    ["step=1,leave=1", "step=6,join=1,leader=1"],  # one less goes and comes
]


def exact_law(bursts: list[str], steps: int) -> dict[tuple[int, int], float]:
    """The law of leaders and agents after these steps, followed multiset by multiset."""
    space = TIMER.space
    law = {tuple(sorted(space.code(space.parse(state)) for state in START)): 1.0}
    leader = space.code(space.parse({"leader": 1, "timer": 0}))
    due = {fault.step: fault for fault in map(parse_fault, bursts)}
    for step in range(steps + 1):
        fault = due.get(step)
        for _ in range(fault.size if fault else 0):
            law = spread(law, lambda codes, fault=fault: struck(codes, fault, leader))
        if step < steps:
            law = spread(law, met)
    found = Counter()
    for codes, share in law.items():
        found[sum(space.namespace(code).leader for code in codes), len(codes)] += share
    return found


def spread(law: dict, after) -> Counter:
    found = Counter()
    for codes, share in law.items():
        outcomes = after(codes)
        for one in outcomes:
            found[tuple(sorted(one))] += share / len(outcomes)
    return found


def met(codes) -> list:
    found = []
    for i, j in permutations(range(len(codes)), 2):
        after = list(codes)
        after[i], after[j] = TIMER.transition_codes(codes[i], codes[j])
        found.append(after)
    return found


def struck(codes, fault, leader: int):
    if fault.kind == "leave":
        return [codes[:k] + codes[k + 1 :] for k in range(len(codes))]
    return [(*codes, code) for code in ([leader] if fault.values else range(TIMER.space.size))]


def p_value(engine: str, bursts: list[str], law: dict, steps: int = 8, trials: int = 300) -> float:
    """How likely the ends of runs with these bursts are, if this is their law; 0 if one of them is impossible."""
    runs = hg.run_trials(
        TIMER, trials, start=START, faults=[parse_fault(one) for one in bursts], until=f"steps:{steps}", engine=engine,
        workers=1,
    ).runs  # fmt: skip
    seen = Counter((run.leaders, run.measures["agents"]) for run in runs)
    if set(seen) - set(law):
        return 0.0
    kinds = list(law)
    expected = np.array([trials * law[kind] for kind in kinds])
    return float(stats.chisquare([seen[kind] for kind in kinds], expected * trials / expected.sum()).pvalue)


@pytest.mark.parametrize("engine", ["agents", "batch", "events"])
def test_bursts_have_their_exact_law(engine):
    law = exact_law(BURSTS, 8)
    assert abs(sum(law.values()) - 1) < 1e-12 and {agents for _, agents in law} == {4}
    assert p_value(engine, BURSTS, law) > 1e-4
    assert all(p_value(engine, twin, law) < 1e-4 for twin in TWINS)


@pytest.mark.parametrize("engine", ["agents", "batch"])
def test_leaders_leave_in_their_proportion(engine):
    """Of 1000 agents, 300 leaders, 400 leave at once: the leaders among them are hypergeometric."""
    faults = [hg.Fault(0, 1000, {"leader": 0}), hg.Fault(0, 300, {"leader": 1}), hg.Fault(0, 400, kind="leave")]
    asked = {"faults": faults, "until": "steps:0", "engine": engine, "workers": 1}
    left = [run.leaders for run in hg.run_trials(hg.Pairwise(n=1000), 300, **asked).runs]
    exact = stats.hypergeom(1000, 300, 600)
    assert stats.kstest(np.array(left) + np.random.default_rng(1).random(300), lambda x: smooth(exact, x)).pvalue > 1e-4
    twin = stats.binom(600, 0.3)  # with replacement
    assert stats.kstest(np.array(left) + np.random.default_rng(1).random(300), lambda x: smooth(twin, x)).pvalue < 1e-3


def smooth(law, x):
    """The distribution of the law plus a uniform number in 0..1."""
    whole = np.floor(x)
    return law.cdf(whole - 1) + (x - whole) * law.pmf(whole)


def test_a_burst_of_a_billion():
    bursts = [parse_fault(one) for one in ("step=0,leave=900000000", "step=10,join=800000000,leader=0")]
    run = hg.simulate(hg.Pairwise(n=10**9), faults=bursts, until="steps:10")
    assert run.engine == "batch" and run.measures["agents"] == 9 * 10**8 and 10**8 - 10 <= run.leaders <= 10**8


def test_a_leader_that_leaves_is_a_loss():
    lost = [
        hg.simulate(
            hg.Pairwise(n=4), start="safe", until="broken", max_steps=9, trial=k, faults=[hg.Fault(5, 2, kind="leave")]
        )
        for k in range(100)
    ]
    assert all(run.steps == (5 if run.reached else 9) and run.leaders == (not run.reached) for run in lost)
    assert stats.binomtest(sum(run.reached for run in lost), 100, 1 / 2).pvalue > 1e-4


@pytest.mark.parametrize("text", [*BURSTS, "step=4,agents=2,leader=0"])
def test_bursts_as_texts_and_rows(text, tmp_path):
    fault = parse_fault(text)
    assert fault_text(fault) == text
    (tmp_path / "faults.json").write_text(json.dumps([record(fault)]))
    assert read_disturbances(tmp_path / "faults.json") == (fault,)


REFUSED = {
    "step=3,join=1": "at most 4",
    "step=3,leave=3": "always 2 to 4",
    "step=3,leave=1,leader=1": "values to agents that leave",
    "step=3,leave=1,join=1": "one of agents=J, join=J and leave=J",
    "step=3,leave=1": "about all n",
}


@pytest.mark.parametrize(("text", "sentence"), REFUSED.items(), ids=list(REFUSED))
def test_bursts_that_cannot_be(text, sentence, capsys):
    assert main(["run", "timer", "--n", "4", "--fault", text, "--until", "all(timer == 0)", "--max-steps", "9"]) == 2
    assert sentence in capsys.readouterr().err.replace("\n", " ")


def test_whom_agents_that_join_would_meet_is_known():
    leave = hg.Fault(1, 1, kind="leave")
    for options, sentence in (
        ({"graph": "ring:4"}, "complete graphs only"),
        ({"scheduler": "matching"}, "for 4 agents"),
        ({"scheduler": "weighted:1,2,1,1"}, "for 4 agents"),
    ):
        with pytest.raises(InvalidInput, match=sentence):
            hg.simulate(TIMER, faults=[leave], until="steps:9", **options)
        with pytest.raises(InvalidInput, match=sentence):
            hg.simulate(TIMER, rates=["leave=0.1"], until="steps:9", **options)
    with pytest.raises(InvalidInput, match="populations"):
        hg.simulate(hg.CATALOGUE["herman"](n=5), faults=[leave])
    whole = [leave, hg.Fault(2, 1, kind="join")]
    assert hg.simulate(TIMER, faults=whole, until="all(timer == 0)", max_steps=50).measures["agents"] == 4


@pytest.mark.parametrize(
    ("until", "is_refused"),
    [
        ("all(leader == 0)", True),
        ("not all(leader == 1)", True),
        ("not all(leader == 1) or count(leader == 1) == 4", True),
        ("count(leader == 1) == 1 or not (none(leader == 1) or all(leader == 1))", True),
        ("count(leader == 1) > count(leader == 0)", True),
        ("count(leader == 0) >= 1", False),
        ("not count(leader == 1) >= 2", False),
        ("count(leader == 1) <= 5 and count(leader == 0) == 1", False),
        ("count(leader == 1) == 1 or count(leader == 1) == 9", False),
    ],
)
@pytest.mark.parametrize("change", [{"faults": [hg.Fault(0, 3, kind="leave")]}, {"rates": ["crash=1/99"]}])
def test_a_stop_about_all_n_agents_is_known_however_it_is_written(until, is_refused, change):
    """Two agents are left of five, both leaders; 'not all' used to hold for them at once."""
    asked = {"start": "all-leaders", "until": until, "max_steps": 10**4, **change}
    if is_refused:
        with pytest.raises(hg.InvalidInput, match="about all n of them"):
            hg.simulate(hg.Pairwise(n=5), **asked)
    else:
        run = hg.simulate(hg.Pairwise(n=5), **asked)
        assert run.steps > 0 and (run.reached and run.leaders < 5 or run.measures.get("crashed") == 5)
