"""From figures to checks: the measured value, an interval for readers, and p-values for the family."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import betainc, stdtr

from hegemon.analysis import sequences
from hegemon.analysis.scaling import Law, Slope, between, fit
from hegemon.analysis.statistics import clopper_pearson, mean_interval, standard_error
from hegemon.claims.family import judged
from hegemon.claims.laboratory import Sample
from hegemon.claims.registry import HOLDS, UNDECIDED, VIOLATED, Check

CONFIDENCE = 0.95  # of every shown interval, without correction for the others


def brief(value: float | None) -> str:
    """A number in readable form."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if abs(value) >= 1e7:
        return f"{value:.3g}"
    if abs(value) >= 1000 or float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:.3g}"


def span(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"[{brief(interval[0])}, {brief(interval[1])}]"


def alone(
    what: str,
    claimed: str,
    measured: str,
    figure: float,
    interval: tuple[float, float] | None,
    against: float,
    support: float,
) -> Check:
    """A check that depends on chance, with its verdict alone, outside a family."""
    check = Check(what, claimed, measured, UNDECIDED, float(figure), interval, float(against), float(support))
    return judged([check])[0]


def mean_is(what: str, sample: Any, exact: float, widest: float = 0.1, first: int | None = None) -> Check:
    """The mean equals `exact`: against it, the test of that value; for it, that the mean is within `widest`
    of it on either side. `first` is the first inspection, if the number of trials was not fixed beforehand."""
    claimed = f"exactly {brief(exact)}"
    values, cut = finished(sample)
    if len(values) < 2 or len(cut):
        return Check(what, claimed, unfinished(values, cut), VIOLATED)
    mean = float(np.mean(values))
    ends = (exact * (1 - widest), exact * (1 + widest))
    if first is None:
        interval = mean_interval(values, CONFIDENCE)
        against = 2 * min(mean_tails(values, exact))
        support = max(mean_tails(values, ends[0])[0], mean_tails(values, ends[1])[1])
    else:
        look = sequences.mean(values, sorted({first, len(values)}), CONFIDENCE)[-1]
        interval = (look.low, look.high)
        against = sequences.mean_p_value(values, exact, first)
        inside = ends[0] < mean < ends[1]
        support = max(sequences.mean_p_value(values, end, first) for end in ends) if inside else 1.0
    return alone(what, claimed, f"{brief(mean)} {span(interval)}", mean, interval, against, support)


def number_is(what: str, found: float, claimed: float) -> Check:
    """An exact figure: counted or computed, without chance (to the precision of floating point)."""
    same = math.isclose(found, claimed, rel_tol=1e-9, abs_tol=1e-9)
    return Check(what, f"{brief(claimed)}", f"{brief(found)} (exact)", HOLDS if same else VIOLATED, float(found))


def number_at_most(what: str, found: float, bound: float, claimed: str | None = None) -> Check:
    verdict = HOLDS if found <= bound else VIOLATED
    return Check(what, claimed or f"at most {brief(bound)}", brief(found), verdict, float(found))


def number_at_least(what: str, found: float, bound: float, claimed: str | None = None) -> Check:
    verdict = HOLDS if found >= bound else VIOLATED
    return Check(what, claimed or f"at least {brief(bound)}", brief(found), verdict, float(found))


def always(what: str, good: int, trials: int, claimed: str = "always", least: int = 1) -> Check:
    """A statement about every case: one counterexample violates it, `least` tries without one support it. If no case
    was tried, nothing is decided, and the check says so."""
    if not trials:
        return Check(what, claimed, "no case was tried", UNDECIDED)
    if good < trials:
        return Check(what, claimed, f"failed in {trials - good:,} of {trials:,}", VIOLATED, good / trials)
    interval = clopper_pearson(good, trials, CONFIDENCE)
    verdict = HOLDS if trials >= least else UNDECIDED
    tried = f"in all {trials:,} tried" if trials != 1 else "in the only one tried"
    return Check(what, claimed, tried, verdict, 1.0, interval)


def share_at_least(what: str, successes: int, trials: int, bound: float, claimed: str | None = None) -> Check:
    """A probability is at least `bound`: the exact binomial tails."""
    below, above = binomial_tails(successes, trials, bound)
    return share(what, successes, trials, claimed or f"probability ≥ {brief(bound)}", below, above)


def share_at_most(what: str, successes: int, trials: int, bound: float, claimed: str | None = None) -> Check:
    """A probability is at most `bound`."""
    below, above = binomial_tails(successes, trials, bound)
    return share(what, successes, trials, claimed or f"probability ≤ {brief(bound)}", above, below)


def share(what: str, successes: int, trials: int, claimed: str, against: float, support: float) -> Check:
    figure, interval = successes / trials, clopper_pearson(successes, trials, CONFIDENCE)
    share = {0.0: "none", 1.0: "all"}.get(figure, f"{figure:.4g}")  # rounded: "1 of 2,000" would be read as exactly one
    measured = f"{share} of {trials:,} {span(interval)}"
    return alone(what, claimed, measured, figure, interval, against, support)


def binomial_tails(successes: int, trials: int, p: float) -> tuple[float, float]:
    """P(at most k successes) and P(at least k)."""
    below = float(betainc(trials - successes, successes + 1, 1 - p)) if successes < trials else 1.0
    above = float(betainc(successes, trials - successes + 1, p)) if successes else 1.0
    return below, above


def mean_at_least(what: str, sample: Any, bound: float, claimed: str) -> Check:
    """The mean is at least `bound`. Censored trials count with their length, which can only lower the mean."""
    values, cut = finished(sample)
    everything = np.concatenate([values, cut])
    if len(everything) < 2:
        return Check(what, claimed, "no trial ended in time", UNDECIDED)
    mean, interval = float(everything.mean()), mean_interval(everything, CONFIDENCE)
    support, against = mean_tails(everything, bound)
    measured = f"{'at least ' if len(cut) else ''}{brief(mean)} {span(interval)}"
    return alone(what, claimed, measured + cut_off(cut), mean, interval, 1.0 if len(cut) else against, support)


def mean_at_most(what: str, sample: Any, bound: float, claimed: str) -> Check:
    """The mean is at most `bound`. Censored trials count with their length: they can be evidence against it, never
    for it."""
    values, cut = finished(sample)
    everything = np.concatenate([values, cut])
    if len(everything) < 2:
        return Check(what, claimed, "too few trials were made", UNDECIDED)
    if not len(values):
        return Check(what, claimed, unfinished(values, cut), VIOLATED if cut.min() > bound else UNDECIDED)
    mean, interval = float(everything.mean()), mean_interval(everything, CONFIDENCE)
    against, support = mean_tails(everything, bound)
    measured = f"{'at least ' if len(cut) else ''}{brief(mean)} {span(interval)}"
    return alone(what, claimed, measured + cut_off(cut), mean, interval, against, 1.0 if len(cut) else support)


def mean_tails(values: np.ndarray, at: float) -> tuple[float, float]:
    """The p-values of "the mean is at most this" and "the mean is at least this": Student's, on the scale of
    logarithms for values that are never negative, as `mean_interval`."""
    mean, error = float(np.mean(values)), standard_error(values)
    if not error:
        return (0.0 if mean > at else 1.0), (0.0 if mean < at else 1.0)
    if np.min(values) < 0:
        distance = (mean - at) / error
    else:
        distance = math.log(mean / at) * mean / error if at > 0 else math.inf
    return float(stdtr(len(values) - 1, -distance)), float(stdtr(len(values) - 1, distance))


def follows(what: str, sizes: Sequence[float], samples: Sequence[Any], law: Law, rival: Law, order: str = "O") -> Check:
    """The means follow `law` rather than `rival` over these sizes: consistent with it, never a proof of it.

    The figure is the place between the two (0: the law, 1: the rival), so growth on the far side of the law
    counts for it. That is what O (with a faster rival) and Omega (with a slower one) say. Censored trials
    count with their length as a lower bound: such data can be evidence against a law, never for it.
    """
    claimed = f"{order}({law.name})"
    pairs = [finished(sample) for sample in samples]
    if any(len(values) < 2 for values, _ in pairs):
        return Check(what, claimed, "some sizes have no finished trials", VIOLATED)
    cut = np.concatenate([cut for _, cut in pairs])
    place = between(sizes, [np.concatenate(pair) for pair in pairs], law, rival)
    interval = place.slope.interval(CONFIDENCE)
    measured = (
        f"mean / ({law.name}) varies by ×{place.spread:.2f}, / ({rival.name}) by ×{place.rival_spread:.2f}; "
        f"place between them {place.share:.2f} {span(interval)}"
    )
    against, support = place.slope.p_at_most(0.5), 1.0 if len(cut) else place.slope.p_at_least(0.5)
    return alone(what, claimed + " consistent", measured + cut_off(cut), place.share, interval, against, support)


def power_at_least(what: str, sizes: Sequence[float], samples: Sequence[Any], power: float, claimed: str) -> Check:
    """The means grow at least like this power of the size over this range."""
    return grows(what, np.log(np.asarray(sizes, float)), samples, power, claimed, "n^{:.2f}")


def exponential_at_least(what: str, sizes: Sequence[float], samples: Sequence[Any], rate: float, claimed: str) -> Check:
    """The means grow at least like e^(rate · size) over this range."""
    return grows(what, sizes, samples, rate, claimed, "e^({:.2f} N)")


def grows(what: str, x: Any, samples: Sequence[Any], least: float, claimed: str, form: str) -> Check:
    """The slope of log(mean) on x is at least `least`."""
    pairs = [finished(sample) for sample in samples]
    if any(len(values) < 2 for values, _ in pairs):
        return Check(what, claimed, "some sizes have no finished trials", UNDECIDED)
    cut = np.concatenate([cut for _, cut in pairs])
    slope: Slope = fit(x, [np.concatenate(pair) for pair in pairs])
    interval = slope.interval(CONFIDENCE)
    measured = f"grows like {form.format(slope.estimate)} {span(interval)}{cut_off(cut)}"
    fair = not len(cut)  # with censored trials the growth may be larger or smaller
    against, support = (slope.p_at_least(least), slope.p_at_most(least)) if fair else (1.0, 1.0)
    return alone(what, claimed, measured, slope.estimate, interval, against, support)


def finished(sample: Any) -> tuple[np.ndarray, np.ndarray]:
    """The times of a sample, and when its other trials were stopped; bare values are all finished."""
    if isinstance(sample, Sample):
        return sample.values, sample.cut
    return np.asarray(sample, float), np.empty(0)


def cut_off(cut: np.ndarray) -> str:
    return f"; {len(cut):,} trials were stopped at the limit" if len(cut) else ""


def unfinished(values: np.ndarray, cut: np.ndarray) -> str:
    return (
        "no trial ended in time"
        if not len(values)
        else f"{len(cut):,} of {len(values) + len(cut):,} were stopped at the limit"
    )
