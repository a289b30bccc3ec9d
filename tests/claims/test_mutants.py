"""Every claim against protocols that break its statement only beyond the sizes that are enumerated."""

import pytest

from hegemon.claims.laboratory import Laboratory
from hegemon.claims.registry import VIOLATED, all_claims
from tests.claims import mutants
from tests.claims.test_verdicts import CASES

BEYOND = {
    "threshold": [mutants.ForgetfulThreshold],
    "pairwise": [mutants.TiredPairwise],
    "timer": [mutants.RelayTimer],
    "lemma2": [mutants.LateEpidemic],
    "lemma3": [mutants.LateShyCountdown],
    "lemma4": [mutants.LateLonelyCountdown],
    "lemma5": [mutants.LateFlatLottery],
    "thm17": [mutants.TiedTimeOptimal, mutants.ForgettingTimeOptimal],
    "thm17.holding": [mutants.ForgettingTimeOptimal],
    "ring.lemma1": [mutants.EndlessRing],
    "ring.lemma2": [mutants.ShieldlessRing],
    "ring.lemma3": [mutants.LeapingRing],
    "ring.lemma4": [mutants.ShieldlessRing],
    "ring.lemma5": [mutants.LeapingRing, mutants.CreatingRing],
    "ring.lemma6": [mutants.LeapingRing],
    "ring.lemma7": [mutants.CreatingRing],
    "ring.lemma8": [mutants.ForgettingRing],
    "ring.lemma10": [mutants.EndlessRing],
    "ring.lemma11": [mutants.EndlessRing],
    "ring.lemma11.claim1": [mutants.LeapingRing, mutants.CreatingRing],
    "ring.lemma11.claim2.repaired": [mutants.LeapingRing],
    "ring.lemma12": [mutants.MissingRing],
    "ring.lemma13.claim3": [mutants.MissingRing],
    "ring.lemma13": [mutants.MissingRing],
    "ring.thm1": [mutants.FreezingRing, mutants.ForgettingRing, mutants.EndlessRing],
    **{
        f"to.{name}": [wrong]
        for name, wrong in (
            ("lemma6", mutants.LateEndlessElection),
            ("lemma7", mutants.LateHastyCheck),
            ("lemma8", mutants.LateHastyElection),
            ("lemma9", mutants.LateUndecidedElection),
            ("lemma10", mutants.LateUndecidedElection),
            ("lemma11", mutants.LateEndlessElection),
            ("lemma12", mutants.LateEndlessElection),
            ("lemma13", mutants.LateProudElection),
        )
    },
    "ring.table1": [mutants.MissingRing],
    "trains.lemma4.2": [mutants.LateTrainsThatDoNotCount],
    "trains.lemma4.3.repaired": [mutants.LateTrainsWithoutElimination],
    "trains.lemma4.5.repaired": [mutants.LateTrainsThatDoNotCount],
    "trains.lemma4.6": [mutants.LateTrainsWithoutErrors],
    "trains.lemma4.7": [mutants.LateTrainsWithoutErrors],
    "trains.lemma4.8": [mutants.LateTrainsThatNeverMark],
    "trains.thm1.2": [mutants.LateTrainsWithoutElimination],
    "sub.thm1": [mutants.LateFewReferees],
    "sub.cor1": [mutants.LateFewReferees],
    "sub.thm2": [mutants.LateShortWalks],
    "sub.thm3": [mutants.LateSpendthrift],
}  # to.table1 has none: a run of its largest sizes that never ends takes hours, and its last row is that of to.thm17
SOON = ("ring.lemma2", "ring.lemma7", "ring.lemma8", "sub.cor1")  # the others take minutes in all
CHOSEN = [
    pytest.param(name, wrong, id=f"{name}-{wrong.__name__}", marks=[pytest.mark.full] * (name not in SOON))
    for name, several in BEYOND.items()
    for wrong in several
]


@pytest.mark.parametrize(("name", "wrong"), CHOSEN)
def test_a_fault_beyond_the_enumerated_sizes_is_found(name, wrong):
    """At the sizes of `--quick`, where the test may take its time: smaller ones may lie below the fault."""
    claims = all_claims()
    claim = next(claims[place] for place in (name, f"survey.{name}", f"to.{name}") if place in claims)
    sizes = CASES[name][1] if name in SOON else claim.quick
    assert claim.experiment(Laboratory(workers=1), protocol=wrong, **sizes).verdict == VIOLATED


def test_a_ring_that_freezes_at_four_agents_is_not_called_self_stabilizing():
    """Exactness ends at n = 3; the frozen start is one of those in which all agents are alike."""
    from hegemon.claims.settling import settles
    from hegemon.protocols.ring import Ring

    options = {"limit": 10_000, "watch": 500, "random": 10}
    assert [check.verdict for check in settles(Laboratory(), Ring(n=4), **options)] == ["holds", "holds"]
    assert settles(Laboratory(), mutants.FreezingRing(n=4), **options)[0].verdict == VIOLATED
