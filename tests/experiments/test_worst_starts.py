"""Where the exact worst start is known, the search finds it, or one that is as bad to within two percent."""

import numpy as np
import pytest

import hegemon as hg
from hegemon.display import states
from hegemon.experiments.worst_starts import change_field, neighbour, search_worst


def exact_value(protocol, found) -> tuple[float, float]:
    times = hg.verify(protocol, start="all", property="time")
    codes = [protocol.space.code(protocol.space.parse(state)) for state in found.start.configuration]
    return times.hitting.values[times.chain.index(codes)], times.hitting.worst


def test_the_worst_start_of_timer_is_found():
    protocol = hg.Timer(n=3, s=4)
    found = search_worst(protocol, evaluations=100, trials=32, final=500, seed=3)
    here, worst = exact_value(protocol, found)
    assert here == pytest.approx(worst)
    half = (found.interval[1] - found.interval[0]) / 2
    assert abs(found.mean - here) < 2 * half
    assert states(found.start.configuration) in str(found)  # what is printed is the start, not times alone
    assert found == search_worst(protocol, evaluations=100, trials=32, final=500, seed=3)


@pytest.mark.full
@pytest.mark.parametrize("protocol", [hg.TimeOptimal(n=3, r_max=4, b_max=4), hg.Ring(n=3, N=3)], ids=lambda p: p.id)
def test_worse_starts_than_the_named_ones_are_found(protocol):
    found = search_worst(protocol, evaluations=1000, trials=256, final=2000, seed=1)
    here, worst = exact_value(protocol, found)
    named = hg.verify(protocol, property="time").hitting.from_starts
    assert max(named.values()) < 0.98 * worst <= here


def test_neighbours_are_configurations():
    space = hg.TimeOptimal(n=5, r_max=4, b_max=3).space
    rng = np.random.default_rng(0)
    codes = rng.integers(space.size, size=5)
    moved = 0
    for _ in range(500):
        fresh = neighbour(space, codes, rng)
        assert len(fresh) == 5 and fresh.min() >= 0 and fresh.max() < space.size
        assert 0 <= change_field(space, codes[0], rng) < space.size
        moved += not np.array_equal(fresh, codes)
        codes = fresh
    assert moved > 300


def test_a_search_that_cannot_finish_says_so():
    found = search_worst(hg.Epidemic(n=4), evaluations=3, trials=8, final=20, max_steps=50)
    assert found.unfinished == 20 and found.mean == 50
