"""Sets of configurations: what their combinations claim, and claims that are not kept."""

import numpy as np
import pytest

import hegemon as hg
from hegemon.errors import InvalidInput
from hegemon.graphs.families import complete
from hegemon.models import at_least, at_most, everywhere, exactly
from hegemon.runs.closure import check_closed


def leads(a, p):
    return a.leader == 1


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("second", [False, True])
def test_an_intersection_is_closed_only_if_both_are(first, second):
    one = at_least(1, leads).described("one", closed=first)
    other = at_most(3, leads).described("other", closed=second)
    assert (one & other).closed == (first and second)


def test_bounds_are_rounded_inwards():
    values = {"n": 9}
    assert exactly("n / 2", leads).counts[0].bounds(values) == (5, 4)  # never
    assert at_least("n / 2", leads).counts[0].bounds(values) == (5, 9)
    assert at_most("n / 2", leads).counts[0].bounds(values) == (0, 4)
    assert at_most(10**40, leads).counts[0].bounds(values) == (0, 2**62)
    assert everywhere(leads).counts[0].bounds(values) == (9, 9)


class Claims(hg.Pairwise):
    closed = at_most(2, leads).described("at most two leaders", closed=True)
    open = exactly(2, leads).described("exactly two leaders", closed=True)  # the next interaction may leave it


def test_a_false_claim_is_caught():
    protocol = Claims(n=6)
    assert check_closed(protocol, "closed", complete(6), np.random.default_rng(0)) > 1000
    with pytest.raises(InvalidInput, match="the set open claims to be closed, but the interaction of .* leaves it"):
        check_closed(protocol, "open", complete(6), np.random.default_rng(0))


@pytest.mark.parametrize("protocol", [hg.Pairwise(n=6), hg.Epidemic(n=6), hg.QuickElimination(n=6)])
def test_the_catalogue_keeps_its_claims(protocol):
    for name, chosen in protocol.sets.items():
        if chosen.closed:
            check_closed(protocol, name, complete(6), np.random.default_rng(1), steps=300)
