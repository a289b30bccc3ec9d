"""Any number of conditions in a stop: each counts, also the 33rd, the 65th and the 100th."""

import pytest

import hegemon as hg
from hegemon.engines.population import codes
from hegemon.models import Bit, PopulationProtocol, Range, RoundsProtocol, exactly
from hegemon.models.sets import ConfigurationSet
from tests.engines.random_protocols import ABSENT, Case, Reference, crowded
from tests.engines.test_random_protocols import ENGINES, worst

NUMBERS = (31, 32, 33, 64, 65, 100)  # of conditions: at, below and above every width that marks once had


class Ranking(PopulationProtocol):
    """Agents of equal rank move apart, until every rank is taken once."""

    class State:
        rank: Range(0, "n - 1") = 0

    def interact(a, b, p):
        if a.rank == b.rank:
            b.rank = (b.rank + 1) % p.n


def each_once(n: int) -> str:
    return " and ".join(f"count(rank == {rank}) == 1" for rank in range(n))


@pytest.mark.parametrize("engine", ["agents", "records", "events", "batch"])
def test_a_ranking_ends_when_every_rank_is_taken_once(engine, monkeypatch):
    n = 34
    if engine == "records":
        monkeypatch.setattr(codes, "LARGEST_TABLE", 0)
    settings = {"start": "initial", "seed": 3, "engine": "agents" if engine == "records" else engine}
    run = hg.simulate(Ranking(n=n), until=each_once(n), max_steps=10**7, **settings)
    assert run.reached
    ranks = run.configuration.agents["rank"].tolist()
    assert sorted(ranks) == list(range(n))
    before = hg.simulate(Ranking(n=n), until=f"steps:{run.steps - 1}", **settings).configuration.agents["rank"]
    assert len(set(before.tolist())) == n - 1  # not a step earlier either


@pytest.mark.full
def test_as_many_ranks_as_agents_in_a_safe_set_of_the_author():
    class Safe(Ranking):
        safe = ConfigurationSet()
        for rank in range(40):
            safe &= exactly(1, eval(f"lambda a, p: a.rank == {rank}"))

    assert hg.simulate(Safe(n=40), seed=1).reached


class Clock(RoundsProtocol):
    """Every node counts the rounds."""

    topology = "ring"
    smallest_n = 3

    class State:
        x: Range(0, 200) = 0
        odd: Bit = 0

    def update(me, neighbours, coins, p):
        me.x = min(200, me.x + 1)
        me.odd = 1 - me.odd


@pytest.mark.parametrize("number", [65, *(pytest.param(k, marks=pytest.mark.full) for k in NUMBERS if k != 65)])
def test_rounds_stop_when_the_last_of_many_conditions_holds(number):
    conditions = ["none(x == 250)" for _ in range(number - 1)] + [f"all(x == {number + 3})"]
    assert hg.simulate(Clock(n=4), until=" and ".join(conditions), max_steps=250).steps == number + 3


@pytest.mark.full
@pytest.mark.parametrize("number", NUMBERS)
def test_engines_follow_many_laws_of_stops_with_many_conditions(number):
    for engine, (value, case) in worst([Case(k, (crowded(number),)) for k in range(8)], ENGINES, 200).items():
        assert value > 1e-7, (engine, case)


def test_a_stop_that_forgets_its_last_conditions_has_another_law():
    case = Case(3, (crowded(40),))
    forgetful = Case(3, (" and ".join(crowded(40).split(" and ")[:32]),))
    assert Reference(case).law() != Reference(forgetful).law() and ABSENT in case.until
