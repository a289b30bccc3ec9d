"""Summaries of trials: means with intervals, proportions with intervals."""

import math

import numpy as np
from scipy.special import ndtri, stdtrit  # scipy.stats takes half a second to load

CONFIDENCE = 0.95


def mean_interval(values, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Student's interval for the mean; a single value has none, so it is its own interval."""
    values = np.asarray(values, dtype=float)
    if len(values) < 2:
        return float(values[0]), float(values[0])
    half = stdtrit(len(values) - 1, (1 + confidence) / 2) * values.std(ddof=1) / math.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)


def wilson(successes: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Wilson's interval for a proportion (JASA 1927)."""
    if trials < 1:
        return 0.0, 1.0
    z = float(ndtri((1 + confidence) / 2))
    share = successes / trials
    centre = share + z * z / (2 * trials)
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)


def summarize(values) -> dict:
    """Mean, median and spread of one measured quantity; None where there is nothing to summarize."""
    values = np.asarray(values, dtype=float)
    if not len(values):
        return dict.fromkeys(("mean", "median", "ci95", "standard_error", "minimum", "maximum"))
    low, high = mean_interval(values)
    deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    return {
        "mean": float(values.mean()),
        "median": float(np.median(values)),
        "ci95": [low, high],
        "standard_error": deviation / math.sqrt(len(values)),
        "minimum": float(values.min()),
        "maximum": float(values.max()),
    }


def summarize_runs(runs) -> dict:
    """The summary of a batch of trials: times of those that met the stop, and how many did."""
    reached = [run for run in runs if run.reached]
    elected = [run.leaders == 1 for run in runs if run.leaders is not None]
    summary = {"trials": len(runs), "reached": len(reached), **summarize([run.steps for run in reached])}
    if elected:
        summary["one_leader"] = sum(elected)
        summary["one_leader_ci95"] = list(wilson(sum(elected), len(elected)))
    recoveries = [run.measures["recovery_steps"] for run in runs if "recovery_steps" in run.measures]
    if recoveries:
        summary["recovery"] = summarize(recoveries)
    return summary
