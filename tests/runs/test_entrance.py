"""The step of entry of a closed set: found exactly, without going through the run again and again."""

import pytest

import hegemon as hg
from hegemon.models import Bit, PopulationProtocol, whole
from hegemon.runs.entrance import Entrance


def one_leads(agents, p):
    number = 0
    for a in agents:
        number += a.leader
    return number == 1


class Duel(PopulationProtocol):
    """Late in its runs nearly all steps change nothing."""

    class State:
        leader: Bit = 1

    def interact(a, b, p):
        if a.leader and b.leader:
            b.leader = 0

    one = whole(one_leads).described("exactly one leader", closed=True)


@pytest.mark.parametrize("engine", ["agents", "batch", "events"])
@pytest.mark.parametrize("seed", range(3))
def test_the_step_of_entry_is_that_of_the_count(engine, seed):
    looked, counted = (
        hg.simulate(Duel(n=200), until=until, engine=engine, seed=seed) for until in ("one", "count(leader == 1) == 1")
    )
    assert looked.steps == counted.steps and looked.leaders == 1


def test_what_changes_nothing_is_not_replayed_for_every_look(monkeypatch):
    replayed, gaps = [], []
    rewind = Entrance.rewind

    def counting(entrance, outside):
        gaps.append(entrance.engine.step - outside[0])
        move = entrance.move

        def passing(goal):
            replayed.append(goal - entrance.engine.step)
            move(goal)

        entrance.move = passing
        rewind(entrance, outside)
        entrance.move = move

    monkeypatch.setattr(Entrance, "rewind", counting)
    for seed in range(4):
        hg.simulate(Duel(n=400), until="one", engine="agents", seed=seed)
    assert len(gaps) == 4 and min(gaps) > 10 * 400
    assert sum(replayed) < 2 * sum(gaps) + 400 * len(replayed)
