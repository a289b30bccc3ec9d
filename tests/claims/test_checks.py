"""Every kind of check can come out every way."""

import numpy as np
import pytest

from hegemon.analysis.scaling import N_LOG, N_LOG_SQUARED
from hegemon.claims import checks
from hegemon.claims.registry import HOLDS, UNDECIDED, VIOLATED, Finding, all_claims, choose, finding_from
from hegemon.claims.store import plain
from hegemon.errors import InvalidInput

RNG = np.random.default_rng(5)


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (checks.mean_is("", RNG.normal(10, 1, 500), 10), HOLDS),
        (checks.mean_is("", RNG.normal(10, 1, 500), 12), VIOLATED),
        (checks.mean_is("", RNG.exponential(10, 4), 10), UNDECIDED),
        (checks.mean_is("", [], 10), VIOLATED),
        (checks.number_is("", 25, 25), HOLDS),
        (checks.number_is("", 25.1, 25), VIOLATED),
        (checks.number_at_most("", 3, 3), HOLDS),
        (checks.number_at_most("", 4, 3), VIOLATED),
        (checks.always("", 9, 9), HOLDS),
        (checks.always("", 8, 9), VIOLATED),
        (checks.always("", 9, 9, least=10), UNDECIDED),
        (checks.share_at_least("", 90, 100, 0.5), HOLDS),
        (checks.share_at_least("", 50, 100, 0.5), UNDECIDED),
        (checks.share_at_least("", 10, 100, 0.5), VIOLATED),
        (checks.share_at_most("", 10, 100, 0.5), HOLDS),
        (checks.share_at_most("", 50, 100, 0.5), UNDECIDED),
        (checks.share_at_most("", 90, 100, 0.5), VIOLATED),
        (checks.mean_at_least("", RNG.normal(10, 1, 50), 5, ""), HOLDS),
        (checks.mean_at_least("", RNG.normal(10, 1, 50), 10, ""), UNDECIDED),
        (checks.mean_at_least("", RNG.normal(10, 1, 50), 15, ""), VIOLATED),
    ],
)
def test_verdicts(check, verdict):
    assert check.verdict == verdict


def test_laws_and_powers():
    sizes = (100, 1000, 10_000)
    slow = [N_LOG.of(float(n)) * RNG.gamma(9, size=50) for n in sizes]
    fast = [N_LOG_SQUARED.of(float(n)) * RNG.gamma(9, size=50) for n in sizes]
    assert checks.follows("", sizes, slow, N_LOG, N_LOG_SQUARED).verdict == HOLDS
    assert checks.follows("", sizes, fast, N_LOG, N_LOG_SQUARED).verdict == VIOLATED
    assert checks.follows("", sizes, [v[:2] for v in slow], N_LOG, N_LOG_SQUARED).verdict == UNDECIDED
    assert checks.follows("", sizes, [slow[0], slow[1], []], N_LOG, N_LOG_SQUARED).verdict == VIOLATED
    assert checks.power_at_least("", sizes, slow, 0.9, "").verdict == HOLDS
    assert checks.power_at_least("", sizes, slow, 2, "").verdict == VIOLATED


def test_a_claim_is_as_good_as_its_weakest_part():
    good, bad, open_ = (checks.always("", 1, 1), checks.always("", 0, 1), checks.always("", 1, 1, least=2))
    assert Finding([good, good]).verdict == HOLDS
    assert Finding([good, open_]).verdict == UNDECIDED
    assert Finding([open_, bad, good]).verdict == VIOLATED
    assert Finding([]).verdict == UNDECIDED


def test_a_finding_survives_being_stored():
    finding = Finding([checks.share_at_least("a", 3, 4, 0.1)], "headline", notes="n")
    content = plain(finding.content())
    again = finding_from({key: content[key] for key in ("checks", "headline", "plots", "tables", "notes")})
    assert plain(again.content()) == content


def test_choosing_claims():
    assert [claim.id for claim in choose("ring.thm1, to.lemma5")] == ["ring.thm1", "to.lemma5"]
    assert {claim.paper for claim in choose(paper="ring")} == {"ring"}
    assert len(choose()) == len(all_claims()) >= 26
    for wrong in ({"only": "ring.thm9"}, {"paper": "nobody"}, {"only": "ring.thm1", "paper": "survey"}):
        with pytest.raises(InvalidInput):
            choose(**wrong)
