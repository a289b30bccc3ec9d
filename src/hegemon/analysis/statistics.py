"""Summaries of trials: means with intervals, proportions with intervals.

SciPy is imported where it is used: it takes longer to load than a single trial takes to run.
"""

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

CONFIDENCE = 0.95
ROUND_LIMIT = "round limit"  # the cause of an election that was stopped before its end
TWO_SIDED = 1.959963984540054  # the corresponding quantile of the normal law


def mean_interval(values: Any, confidence: float = CONFIDENCE) -> tuple[float, float] | None:
    """An interval for the mean, for a number of trials fixed beforehand; None for fewer than two values.

    Times and counts are positive and skewed to the right. Their mean gets Student's interval on the scale of its
    logarithm, mean · exp(± t · standard error / mean): never below zero, longer to the right, and closer to the
    promised coverage than the symmetric one at every sample size. It assumes independent values of one law with
    a finite variance, and is exact only in the limit. Where a value is negative, the symmetric one is taken.
    """
    values = np.asarray(values, dtype=float)
    if len(values) < 2:
        return None
    return interval_of_moments(len(values), values.mean(), values.std(ddof=1), bool(values.min() < 0), confidence)


def interval_of_moments(
    count: int, mean: float, deviation: float, symmetric: bool = False, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """The same from the number of values, their mean and their deviation alone."""
    from scipy.special import stdtrit

    mean = float(mean)
    half = float(stdtrit(count - 1, (1 + confidence) / 2)) * float(deviation) / math.sqrt(count)
    if half == 0:
        return mean, mean
    if symmetric:
        return mean - half, mean + half
    with np.errstate(over="ignore"):
        return float(mean * np.exp(-half / mean)), float(mean * np.exp(half / mean))


def standard_error(values: np.ndarray) -> float | None:
    """The standard error of the mean; None for fewer than two values, whose scatter is unknown."""
    values = np.asarray(values, dtype=float)
    if len(values) < 2:
        return None
    return float(values.std(ddof=1)) / math.sqrt(len(values))


def wilson(successes: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's interval for a proportion (JASA 1927)."""
    if trials < 1:
        return 0.0, 1.0
    z = TWO_SIDED if confidence == CONFIDENCE else _normal_quantile((1 + confidence) / 2)
    share = successes / trials
    centre = share + z * z / (2 * trials)
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    low = (centre - half) / scale if successes else 0.0  # exactly, without a rounding error
    high = (centre + half) / scale if successes < trials else 1.0
    return low, high


def _normal_quantile(share: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(share))


def clopper_pearson(successes: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The exact interval for a proportion (Biometrika 1934): never narrower than promised."""
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    failures = trials - successes
    low = float(betaincinv(successes, failures + 1, tail)) if successes else 0.0
    high = float(betaincinv(successes + 1, failures, 1 - tail)) if failures else 1.0
    return low, high


def summarize(values: Any) -> dict[str, Any]:
    """Mean, median and spread of one measured quantity; None without values."""
    values = np.asarray(values, dtype=float)
    if not len(values):
        return dict.fromkeys(("mean", "median", "ci95", "standard_error", "minimum", "maximum"))
    interval = mean_interval(values)
    return {
        "mean": float(values.mean()),
        "median": float(np.median(values)),
        "ci95": None if interval is None else list(interval),
        "standard_error": standard_error(values),
        "minimum": float(values.min()),
        "maximum": float(values.max()),
    }


def summarize_times(times: Any, reached: Any) -> dict[str, Any]:
    """The summary of times until a stop, where some trials did not meet it: their value in `times` is when they were
    stopped.

    Such a sample is censored. Its quantiles count these trials as infinite, and an infinite quantile is None. Its mean
    is unknown: `mean` and its interval are None, `mean_at_least` uses the time at which a trial was stopped, and
    `mean_of_reached` is the mean of the other trials. `censored` says how many there are.
    """
    times, reached = np.asarray(times, dtype=float), np.asarray(reached, dtype=bool)
    met = times[reached]
    summary = summarize(met) | {"censored": len(times) - len(met), "mean_at_least": None, "mean_of_reached": None}
    if summary["censored"]:
        unknown = np.where(reached, times, np.inf)
        summary |= {"mean_at_least": float(times.mean()), "mean_of_reached": summary["mean"]}
        summary |= dict.fromkeys(("mean", "ci95", "standard_error"))
        summary |= {"median": finite(np.median(unknown)), "maximum": None}
    return summary


def finite(value: float) -> float | None:
    """The value, or None if it is infinite, as a quantile of times may be with censored trials."""
    return float(value) if math.isfinite(value) else None


def sample_quantile(values: np.ndarray, level: float) -> float:
    """The least value that at least a share `level` of all values does not exceed."""
    seen = np.sort(np.asarray(values, float))
    return float(seen[rank_of(len(seen), level) - 1])


def rank_of(trials: int, level: float) -> int:
    """The least k with k / trials >= level, for the decimal that was written, not for its nearest binary."""
    return max(1, math.ceil(trials * Fraction(repr(level))))


def sublinear_scale(n: int) -> float:
    """√n ln^(3/2) n, the order of messages of Theorem 1."""
    return float(math.sqrt(n) * math.log(n) ** 1.5)


def summarize_elections(runs: Sequence[Any]) -> dict[str, Any]:
    """Additions for message passing: how often exactly one leader was elected, causes of failure, messages, bits."""
    successes = sum(run.reached for run in runs)
    causes = Counter(run.measures["cause"] for run in runs if run.measures.get("cause"))
    ended = [run.measures.get("cause") != ROUND_LIMIT for run in runs]
    messages = summarize_times([run.measures["messages"] for run in runs], ended)
    mean = messages["mean"]
    return {
        "success_rate": successes / len(runs),
        "success_rate_ci95": list(wilson(successes, len(runs))),
        "causes": dict(causes.most_common()),
        "messages": messages,
        "bits": summarize_times([run.measures["bits"] for run in runs], ended),
        "messages_per_scale": None if mean is None else mean / sublinear_scale(runs[0].n),
    }


def summarize_runs(runs: Sequence[Any]) -> dict[str, Any]:
    """The summary of a batch of trials: how many met the stop, and when."""
    reached = [run.reached for run in runs]
    elected = [run.leaders == 1 for run in runs if run.leaders is not None]
    summary = {"trials": len(runs), "reached": sum(reached), **summarize_times([run.steps for run in runs], reached)}
    if elected:
        summary["one_leader"] = sum(elected)
        summary["one_leader_ci95"] = list(wilson(sum(elected), len(elected)))
    if any("messages" in run.measures for run in runs):
        summary |= summarize_elections(runs)
    recoveries = [run.measures.get(f"recovery_{run.unit}", math.nan) for run in runs]
    if not np.isnan(recoveries).all():
        summary["recovery"] = summarize_times(np.nan_to_num(recoveries), ~np.isnan(recoveries))
    return summary
