"""Every kind of check can come out every way."""

import numpy as np
import pytest

from hegemon.analysis.scaling import N_LOG, N_LOG_SQUARED
from hegemon.claims import checks
from hegemon.claims.canonical import plain
from hegemon.claims.family import LEVEL, holm, judged
from hegemon.claims.laboratory import Sample
from hegemon.claims.papers import ring, time_optimal
from hegemon.claims.registry import HOLDS, UNDECIDED, VIOLATED, Outcome, all_claims, choose, outcome_of, tally
from hegemon.errors import InvalidInput

RNG = np.random.default_rng(5)


class Guesses:
    """A laboratory that measures nothing."""

    def times(self, protocol, trials, **_):
        return Sample(protocol.n, RNG.gamma(20, protocol.n, trials))


def test_a_stand_in_is_never_shown_under_the_authors_names(monkeypatch):
    sizes = dict.fromkeys(("slow", "linear", "names", "logarithmic", "medium", "wars", "fast"), (8, 16))
    outcome = time_optimal.table1(Guesses(), **sizes, trials=(9,) * 7, timeouts=((8, 9, 2),))
    monkeypatch.setattr(ring, "with_oracle", lambda lab, protocol, n, trials, start: lab.times(protocol(n=n), trials))
    sizes = dict.fromkeys(("sizes", "oracle_sizes", "odd_sizes", "every_sizes"), (9, 15))
    trials = dict.fromkeys(("trials", "oracle_trials", "odd_trials", "every_trials"), 5)
    tables = [outcome.tables[0], ring.table1(Guesses(), **sizes, **trials).tables[0]]
    lines = [dict(zip(table.columns, line, strict=True)) for table in tables for line in table.rows]
    assert len(lines) == 8 + 5
    assert [line["system"] for line in lines if line["grade"] == "stand-in"] == [
        "war-timer, stand-in for row [22]",
        "odd-ring, stand-in for row [3]",
        "odd-ring, k = N + 1, stand-in",
    ]


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
    few = [N_LOG.of(float(n)) * np.array([0.1, 2.0]) for n in sizes]
    assert checks.follows("", sizes, few, N_LOG, N_LOG_SQUARED).verdict == UNDECIDED
    assert checks.follows("", sizes, [slow[0], slow[1], []], N_LOG, N_LOG_SQUARED).verdict == VIOLATED
    assert checks.power_at_least("", sizes, slow, 0.9, "").verdict == HOLDS
    assert checks.power_at_least("", sizes, slow, 2, "").verdict == VIOLATED
    rates = [np.exp(n) * RNG.gamma(9, size=50) for n in (4, 6, 8)]
    assert checks.exponential_at_least("", (4, 6, 8), rates, 0.8, "").verdict == HOLDS
    assert checks.exponential_at_least("", (4, 6, 8), rates, 1.2, "").verdict == VIOLATED


def test_trials_that_were_cut_off_are_never_dropped():
    """Without the ten that are censored these means would follow the law; with them nobody knows."""
    sizes = (100, 1000, 10_000)
    law = [N_LOG.of(float(n)) * RNG.gamma(9, size=50) for n in sizes]
    some = [Sample(n, values, np.full(10, values.max())) for n, values in zip(sizes, law, strict=True)]
    assert checks.follows("", sizes, law, N_LOG, N_LOG_SQUARED).verdict == HOLDS
    check = checks.follows("", sizes, some, N_LOG, N_LOG_SQUARED)
    assert check.verdict == UNDECIDED and "30 trials were stopped at the limit" in check.measured
    worse = [Sample(n, v, np.full(50, 40 * N_LOG_SQUARED.of(n))) for n, v in zip(sizes, law, strict=True)]
    assert checks.follows("", sizes, worse, N_LOG, N_LOG_SQUARED).verdict == VIOLATED
    assert checks.mean_is("", Sample(10, np.full(40, 5.0), np.array([9.0])), 5).verdict == VIOLATED
    assert checks.mean_at_least("", Sample(10, RNG.normal(10, 1, 50), np.full(5, 20.0)), 5, "").verdict == HOLDS
    assert checks.mean_at_least("", Sample(10, np.empty(0), np.full(5, 3.0)), 5, "").verdict == UNDECIDED
    assert checks.power_at_least("", sizes, some, 0.5, "").verdict == UNDECIDED


def test_holm_is_holms():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0] and holm([]) == []


def coins(rng, number: int, trials: int = 200):
    """Checks of true statements: each coin's probability is exactly the bound."""
    return [checks.share_at_least(f"{k}", int(rng.binomial(trials, 0.5)), trials, 0.5) for k in range(number)]


def test_a_hundred_true_statements_raise_few_false_alarms():
    """As a family at most one run in twenty has one; each by itself, nearly every run has several."""
    rng = np.random.default_rng(8)
    runs = [coins(rng, 100) for _ in range(100)]
    assert sum(any(check.verdict == VIOLATED for check in judged(run)) for run in runs) <= 100 * LEVEL
    assert sum(any(check.verdict == HOLDS for check in judged(run)) for run in runs) <= 100 * LEVEL
    assert sum(any(check.verdict == VIOLATED for check in run) for run in runs) > 90


def test_the_family_still_sees_a_violation_and_leaves_facts_alone():
    rng = np.random.default_rng(8)
    wrong = checks.share_at_least("wrong", 20, 200, 0.5)
    fact = checks.number_is("fact", 1, 1)
    found = judged([*coins(rng, 50), wrong, fact])
    assert found[-2].verdict == VIOLATED and found[-2].corrected == pytest.approx(51 * wrong.against)
    assert found[-1] == fact


def test_a_mean_that_was_looked_at_again_and_again_needs_more_evidence():
    values = RNG.exponential(10, 400)
    fixed, looked = checks.mean_is("", values, 9), checks.mean_is("", values, 9, first=50)
    assert looked.against > fixed.against and looked.interval[1] > fixed.interval[1]
    assert checks.mean_is("", RNG.normal(10, 1, 500), 10, first=50).verdict == HOLDS
    assert checks.mean_is("", RNG.normal(10, 1, 500), 12, first=50).verdict == VIOLATED
    assert checks.mean_is("", RNG.normal(10.3, 0.1, 500), 10).verdict == VIOLATED  # close, but not exactly


def test_a_claim_is_as_good_as_its_weakest_part():
    good, bad, open_ = (checks.always("", 1, 1), checks.always("", 0, 1), checks.always("", 1, 1, least=2))
    assert Outcome([good, good]).verdict == HOLDS
    assert Outcome([good, open_]).verdict == UNDECIDED
    assert Outcome([open_, bad, good]).verdict == VIOLATED
    assert Outcome([]).verdict == UNDECIDED


def test_an_outcome_survives_being_stored():
    outcome = Outcome([checks.share_at_least("a", 3, 4, 0.1)], "headline", notes="n")
    content = plain(outcome.content())
    assert plain(outcome_of(content).content()) == content


def test_choosing_claims():
    assert [claim.id for claim in choose("ring.thm1, to.lemma5")] == ["ring.thm1", "to.lemma5"]
    assert {claim.paper for claim in choose(paper="ring")} == {"ring"}
    assert len(choose()) == len(all_claims()) >= 26
    for wrong in ({"only": "ring.thm9"}, {"paper": "nobody"}, {"only": "ring.thm1", "paper": "survey"}):
        with pytest.raises(InvalidInput):
            choose(**wrong)


def test_verdicts_in_words():
    assert tally([HOLDS] * 25 + [VIOLATED]) == "25 claims hold, 1 is violated"
    assert tally([HOLDS, UNDECIDED, UNDECIDED]) == "1 claim holds, 2 are not decided by this data"
    assert tally([VIOLATED]) == "1 claim is violated" and tally([]) == "no claim was finished"


def test_all_and_none_are_not_read_as_one_and_nothing():
    for successes, said in ((2000, "all of 2,000"), (0, "none of 2,000"), (500, "0.25 of 2,000")):
        assert checks.share_at_least("what", successes, 2000, 0.5).measured.startswith(f"{said} [")
