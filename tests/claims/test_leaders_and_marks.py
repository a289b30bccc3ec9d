"""The starts of the claims on leaders of a ring are members of C_NI; the favourable event of trains has the law that
plain rounds show."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from hegemon.claims.laboratory import Laboratory
from hegemon.claims.papers import trains_favourable
from hegemon.claims.papers.ring_leaders import KINDS, with_leaders
from hegemon.claims.papers.trains_favourable import probability
from hegemon.claims.papers.trains_lemmas import Bench
from hegemon.protocols.ring import Ring, agents_are_secure, bullets_are_modest
from hegemon.protocols.trains.protocol import Trains


@given(st.data())
def test_every_start_is_a_member_of_c_ni(data):
    n = data.draw(st.integers(2, 12))
    places = sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1)))
    case = Ring(n=n, N=data.draw(st.integers(n, 2 * n)))
    rng = np.random.default_rng(data.draw(st.integers(0, 100)))
    agents = with_leaders(case, places, data.draw(st.sampled_from(KINDS)), rng).agents.view(np.recarray)
    assert [i for i, a in enumerate(agents) if a.leader] == places
    assert agents_are_secure(agents, case.p) and bullets_are_modest(agents, case.p)


class EagerTrains(Trains):
    """Leaders draw X = 1 three times in four, so that marked trains are seen within a few rounds."""

    def update(me, neighbours, coins, p):
        Trains.update(me, neighbours, 0 if coins > 0 else 1, p)


BEFORE, WINDOW, BEHIND = 4, 8, 4


def happened(bench: Bench, nodes: list) -> bool:
    """Clauses (i) to (iii) in one execution with fair coins."""
    first = None
    for time in range(BEFORE + WINDOW + BEHIND):
        after = bench.round(nodes)
        pairs = zip(nodes, after, strict=True)
        marked = sum(a.leader == 1 == b.leader and b.L_idx == 0 and b.L_flag == 1 for a, b in pairs)
        nodes = after
        if first is None and marked:
            if marked > 1 or not BEFORE <= time < BEFORE + WINDOW:
                return False
            first = time
        elif marked:
            return False
        if first is not None and time == first + BEHIND:
            return True
    return first is not None


def law_and_share(trials: int) -> tuple[float, int]:
    bench = Bench(Laboratory(), EagerTrains, "path:3", N=5)
    start = bench.start("all-leaders")
    found = probability(bench, start, [float(a.rand) for a in start], BEFORE, WINDOW, BEHIND)
    return found, sum(happened(bench, start) for _ in range(trials))


def test_the_probability_of_the_favourable_event_is_what_rounds_show():
    found, seen = law_and_share(2000)
    assert 0.02 < found < 0.9
    assert binomtest(seen, 2000, found).pvalue > 1e-4


def test_a_probability_that_forgets_the_other_leaders_is_noticed(monkeypatch):
    monkeypatch.setattr(trains_favourable.Unmarked, "nobody", lambda self, but=None: 1.0)
    found, seen = law_and_share(2000)
    assert found > 1 or binomtest(seen, 2000, found).pvalue < 1e-4
