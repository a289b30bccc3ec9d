"""Parties and replications through an executor: the same numbers, also when workers die."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import hegemon as hg
from hegemon.errors import InvalidInput, Unfinished
from hegemon.experiments.executors.pool import Pool
from hegemon.experiments.holding import teams
from hegemon.models import Bit, Group, PopulationProtocol, count

QUESTION = {"relative": 0.5, "budget": 3 * 10**6, "seed": 3}


class Died(Exception):
    pass


class Mortal(Pool):
    """Threads; the first so many tasks die with their worker."""

    name, lost = "threads that die", (Died,)

    def __init__(self, deaths: int):
        self._deaths, self.starts, self.ended = deaths, 0, ""

    def start(self):
        self.starts += 1
        return self

    def submit(self, function, *given):
        with ThreadPoolExecutor(1) as executor:
            self._deaths -= 1
            return executor.submit(die) if self._deaths >= 0 else executor.submit(function, *given)

    def slots(self) -> int:
        return 1

    def abandon(self) -> None:
        self.ended = "abandoned"

    def close(self) -> None:
        self.ended = "closed"


def die():
    raise Died


def numbers_of(found) -> dict:
    return {name: value for name, value in found.record().items() if name != "seconds"}


@pytest.fixture(scope="module")
def here():
    return numbers_of(hg.holding(hg.Timer(n=4, s=6), **QUESTION))


def test_threads_and_executors_give_the_same_numbers_also_after_deaths(here, monkeypatch):
    for deaths in (0, 2):
        pool = Mortal(deaths)
        monkeypatch.setattr(teams, "open_pool", lambda cluster, workers, pool=pool: pool)
        assert numbers_of(hg.holding(hg.Timer(n=4, s=6), cluster="there", **QUESTION)) == here
        assert pool.ended == "closed" and (pool.starts > 1) == (deaths > 0)


def test_workers_that_die_again_and_again_end_it(monkeypatch):
    pool = Mortal(10**6)
    monkeypatch.setattr(teams, "open_pool", lambda cluster, workers: pool)
    with pytest.raises(Unfinished, match="again and again"):
        hg.holding(hg.Timer(n=4, s=6), cluster="there", **QUESTION)
    assert pool.ended == "abandoned"


def test_dask(here):
    assert numbers_of(hg.holding(hg.Timer(n=4, s=6), cluster="dask:local", workers=2, **QUESTION)) == here


def test_what_no_other_process_finds_is_refused():
    class Hidden(PopulationProtocol):
        class State:
            leader: Bit

        def interact(a, b, p):
            if a.leader == 1:
                b.leader = 0

        def start_safe(self, rng):
            return [Group(1, {"leader": 1}), Group(self.n - 1, {"leader": 0})]

        leaders = count(lambda a, p: a.leader == 1, "agents that are leaders")

    with pytest.raises(InvalidInput, match="no other process finds it"):
        hg.holding(Hidden(n=3), cluster="dask:local")
