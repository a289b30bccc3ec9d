"""From figures to verdicts. Every interval is at one confidence, high enough for about a hundred checks."""

import math

import numpy as np

from hegemon.analysis.scaling import Law, between, exponent
from hegemon.analysis.statistics import clopper_pearson, mean_interval
from hegemon.claims.registry import HOLDS, UNDECIDED, VIOLATED, Check

CONFIDENCE = 0.999  # a hundred checks of true claims raise a false alarm in at most one run of ten


def brief(value: float) -> str:
    """A number as people read it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if abs(value) >= 1e7:
        return f"{value:.3g}"
    if abs(value) >= 1000 or float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:.3g}"


def span(low: float, high: float) -> str:
    return f"[{brief(low)}, {brief(high)}]"


def mean_is(what: str, values, exact: float, widest: float = 0.1) -> Check:
    """The mean equals `exact`: its interval contains it, and is narrow enough to mean something."""
    claimed = f"exactly {brief(exact)}"
    if len(values) < 2:
        return Check(what, claimed, "no trial ended in time", VIOLATED)
    low, high = mean_interval(values, CONFIDENCE)
    mean = float(np.mean(values))
    if not low <= exact <= high:
        verdict = VIOLATED
    else:
        verdict = HOLDS if high - low <= 2 * widest * abs(mean) else UNDECIDED
    measured = f"{brief(mean)} {span(low, high)}"
    return Check(what, claimed, measured, verdict, mean, (low, high))


def number_is(what: str, found: float, claimed: float) -> Check:
    """An exact figure: counted or computed, without chance (to the precision of floating point)."""
    same = math.isclose(found, claimed, rel_tol=1e-9, abs_tol=1e-9)
    return Check(what, f"{brief(claimed)}", f"{brief(found)} (exact)", HOLDS if same else VIOLATED, float(found))


def number_at_most(what: str, found: float, bound: float, claimed: str | None = None) -> Check:
    verdict = HOLDS if found <= bound else VIOLATED
    return Check(what, claimed or f"at most {brief(bound)}", brief(found), verdict, float(found))


def always(what: str, good: int, trials: int, claimed: str = "always", least: int = 1) -> Check:
    """A statement about every case: one counterexample violates it, `least` tries without one support it."""
    if good < trials:
        return Check(what, claimed, f"failed in {trials - good:,} of {trials:,}", VIOLATED, good / trials)
    interval = clopper_pearson(good, trials, CONFIDENCE)
    verdict = HOLDS if trials >= least else UNDECIDED
    return Check(what, claimed, f"in all {trials:,} tried", verdict, 1.0, interval)


def share_at_least(what: str, successes: int, trials: int, bound: float, claimed: str | None = None) -> Check:
    """A probability is at least `bound`."""
    low, high = clopper_pearson(successes, trials, CONFIDENCE)
    verdict = HOLDS if low >= bound else VIOLATED if high < bound else UNDECIDED
    share = successes / trials
    measured = f"{share:.4g} of {trials:,} {span(low, high)}"
    return Check(what, claimed or f"probability ≥ {brief(bound)}", measured, verdict, share, (low, high))


def share_at_most(what: str, successes: int, trials: int, bound: float, claimed: str | None = None) -> Check:
    """A probability is at most `bound`."""
    mirrored = share_at_least(what, trials - successes, trials, 1 - bound)
    low, high = 1 - mirrored.interval[1], 1 - mirrored.interval[0]
    share = successes / trials
    measured = f"{share:.4g} of {trials:,} {span(low, high)}"
    return Check(what, claimed or f"probability ≤ {brief(bound)}", measured, mirrored.verdict, share, (low, high))


def mean_at_least(what: str, values, bound: float, claimed: str) -> Check:
    if len(values) < 2:
        return Check(what, claimed, "no trial ended in time", UNDECIDED)
    low, high = mean_interval(values, CONFIDENCE)
    verdict = HOLDS if low >= bound else VIOLATED if high < bound else UNDECIDED
    mean = float(np.mean(values))
    return Check(what, claimed, f"{brief(mean)} {span(low, high)}", verdict, mean, (low, high))


def follows(what: str, sizes, samples, law: Law, rival: Law, order: str = "O") -> Check:
    """The means follow `law` rather than `rival` over these sizes: consistent with it, never a proof of it.

    The figure is the place between the two (0: the law, 1: the rival), so growth on the far side of the law
    counts for it. That is what O (with a faster rival) and Omega (with a slower one) say.
    """
    claimed = f"{order}({law.name})"
    if any(len(values) < 2 for values in samples):
        return Check(what, claimed, "some sizes have no finished trials", VIOLATED)
    place = between(sizes, samples, law, rival, CONFIDENCE)
    verdict = HOLDS if place.high < 0.5 else VIOLATED if place.low > 0.5 else UNDECIDED
    measured = (
        f"mean / ({law.name}) varies by ×{place.spread:.2f}, / ({rival.name}) by ×{place.rival_spread:.2f}; "
        f"place between them {place.share:.2f} {span(place.low, place.high)}"
    )
    return Check(what, claimed + " consistent", measured, verdict, place.share, (place.low, place.high))


def power_at_least(what: str, sizes, samples, power: float, claimed: str) -> Check:
    """The means grow at least like this power of the size over this range."""
    if any(len(values) < 2 for values in samples):
        return Check(what, claimed, "some sizes have no finished trials", UNDECIDED)
    estimate, low, high = exponent(sizes, samples, CONFIDENCE)
    verdict = HOLDS if low >= power else VIOLATED if high < power else UNDECIDED
    measured = f"grows like n^{estimate:.2f} {span(low, high)}"
    return Check(what, claimed, measured, verdict, estimate, (low, high))
