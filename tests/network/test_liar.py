"""A member that lies: it disturbs as long as it lies, and no longer; fences stay within their bound, and rise."""

import pytest

import hegemon as hg
from hegemon.network.terms import HORIZON_SECONDS

from . import liar
from .liar import deceive


@pytest.mark.parametrize("protocol", [hg.TimeOptimal(n=12), hg.Timer(n=12, s=80)])
def test_a_liar_disturbs_while_it_lies_and_what_stabilizes_heals(protocol):
    """In virtual time, from one seed: the same everywhere."""
    damage = deceive(protocol, seconds=20.0)
    assert damage.before == 1.0
    assert damage.lying < 0.5
    assert damage.healed_after is not None
    assert 0 < damage.fence_ahead <= HORIZON_SECONDS
    assert damage.terms_in_order


def test_what_cannot_make_a_leader_does_not_heal(monkeypatch):
    monkeypatch.setattr(liar, "LONGEST", 30.0)
    damage = deceive(hg.Pairwise(n=12), seconds=20.0)
    assert damage.before == 1.0 and damage.lying < 0.5 and damage.healed_after is None


def test_without_lies_nothing_is_disturbed():
    """The same measurement of a member that lies once in a thousand years."""
    damage = deceive(hg.Timer(n=12, s=80), seconds=20.0, lies_per_second=3e-11)
    assert damage.before == damage.lying == 1.0 and damage.healed_after == 0.0 and damage.fence_ahead <= 0
