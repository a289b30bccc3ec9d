"""Holding times too long to simulate, with default timers: exact on few agents, else measured by a weighted ensemble;
where that is not feasible, plain runs show that the time is at least the claimed one."""

import math
from collections.abc import Sequence
from typing import Any

from hegemon.claims.checks import number_at_least, share_at_least
from hegemon.claims.drawing import means, over_n
from hegemon.claims.laboratory import Definition, Laboratory
from hegemon.claims.registry import Check, Plot, Series
from hegemon.exact.verification import verify
from hegemon.experiments.holding.holding import holding

EXACT = 3  # agents: up to this number it is computed
PRECISION = 0.5  # to within a factor of 1.5
TRIALS = 20  # of convergence
RUNS, PATIENCE = 16, 2  # plain runs of one case, and their length as a multiple of the claimed time


def parallel_holding(lab: Laboratory, case: Any) -> dict[str, Any]:
    """Expected parallel time from the start `safe` with its 95 % interval, as logarithms to base 10."""

    def compute() -> list[dict[str, Any]]:
        lab.report(f"holding with the default timers, n = {case.n}, τ = {case.tau}")
        shift = math.log10(case.n)
        if case.n <= EXACT:
            answer = verify(case, start="safe", property="holding").holding
            assert answer is not None  # asked for
            exact = math.log10(answer.from_starts["safe"]) - shift
            return [{"low": exact, "value": exact, "high": exact, "kind": "exact"}]
        seed = lab.seed_for("long holding", case.id, case.n, case.parameters)
        found = holding(case, relative=PRECISION, seed=seed, workers=lab.workers)
        log10 = found.record()["log10"]
        return [{"low": log10["low"] - shift, "value": log10["steps"] and log10["steps"] - shift,
                 "high": log10["high"] and log10["high"] - shift, "kind": found.kind}]  # fmt: skip

    row = lab.remember(["long holding", case.id, case.n, case.parameters], compute)[0]
    lab.note(protocol=case.id, n=case.n, **case.parameters, log10_parallel_holding=row["value"], kind=row["kind"])
    return row


def with_default_timers(
    lab: Laboratory, protocol: Definition, sizes: dict[int, Sequence[int]]
) -> tuple[list[Check], list[Plot]]:
    """The lower ends of intervals against n^tau, and their growth; over several sizes, the gap to convergence too."""
    checks, curves = [], []
    for tau, chosen in sizes.items():
        rows = [parallel_holding(lab, protocol(n=n, tau=tau)) for n in chosen]
        for n, row in zip(chosen, rows, strict=True):
            what = f"default timers, τ = {tau}, n = {n}: log10 of the parallel holding time, at least"
            checks.append(number_at_least(what, row["low"], tau * math.log10(n), f"at least log10 of n^{tau}"))
        if len(chosen) > 1 and rows[0]["high"] is not None:
            power = (rows[-1]["low"] - rows[0]["high"]) / math.log10(chosen[-1] / chosen[0])
            what = f"default timers, τ = {tau}: power of n with which holding grows, at least"
            checks.append(number_at_least(what, power, tau, f"at least n^{tau}"))
            known = [(n, row["value"]) for n, row in zip(chosen, rows, strict=True) if row["value"] is not None]
            label, values = f"holding, τ = {tau}", [10.0**value for _, value in known]
            curves.append(Series(label, [float(n) for n, _ in known], values, kind="both"))
            converging = [
                lab.times(protocol(n=n, tau=tau), TRIALS, start="no-leader", max_steps=10**9).scaled(1 / n)
                for n in chosen
            ]
            curves.append(means(f"convergence, τ = {tau}", chosen, converging))
    title = "Convergence and holding with the default timers"
    return checks, [over_n(title, "parallel time", curves)] if curves else []


def outlasting(lab: Laboratory, protocol: Definition, sizes: dict[int, Sequence[int]]) -> list[Check]:
    """Plain runs that keep their leader for 2 n^tau of parallel time: if half of all do, the mean is at least n^tau
    (Markov's inequality), whatever its law is."""
    checks = []
    for tau, chosen in sizes.items():
        for n in chosen:
            patience = PATIENCE * n ** (tau + 1)
            rows = lab.trials(protocol(n=n, tau=tau), RUNS, start="safe", until="broken", max_steps=patience)
            kept = sum(not row["reached"] for row in rows)
            what = (
                f"default timers, τ = {tau}, n = {n:,}: runs that keep the leader for {PATIENCE}·n^{tau} parallel time"
            )
            claimed = f"at least 1/{PATIENCE}, so that the mean is at least n^{tau}"
            checks.append(share_at_least(what, kept, RUNS, 1 / PATIENCE, claimed))
    return checks
