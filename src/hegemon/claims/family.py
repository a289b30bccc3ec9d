"""All checks of one report judged as one family, so that many checks do not raise false alarms by their number.

Holm's step-down correction (Scandinavian Journal of Statistics 1979) needs no independence. It is made twice:
over the p-values against the statements, so that the chance of any true statement being called violated is at
most LEVEL, and over those in support, so that the chance of any false statement being called true is at most LEVEL.
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from hegemon.claims.canonical import plain
from hegemon.claims.registry import HOLDS, UNDECIDED, VIOLATED, Check, weakest

LEVEL = 0.05


def holm(p_values: Sequence[float]) -> list[float]:
    """The corrected p-values: those of at most LEVEL are the rejected ones."""
    order = sorted(range(len(p_values)), key=lambda k: p_values[k])
    corrected, largest = [0.0] * len(p_values), 0.0
    for place, k in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[k]))
        corrected[k] = largest
    return corrected


def judged(checks: Sequence[Check]) -> list[Check]:
    """The same checks with their verdicts as one family."""
    chance = [k for k, check in enumerate(checks) if check.against is not None and check.support is not None]
    against = dict(zip(chance, holm([checks[k].against or 0.0 for k in chance]), strict=True))
    support = dict(zip(chance, holm([checks[k].support or 0.0 for k in chance]), strict=True))
    found = list(checks)
    for k in chance:
        if against[k] <= LEVEL:
            found[k] = replace(checks[k], verdict=VIOLATED, corrected=against[k])
        else:
            found[k] = replace(checks[k], verdict=HOLDS if support[k] <= LEVEL else UNDECIDED, corrected=support[k])
    return found


def judged_records(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Records of several claims, judged together; the order of claims and checks stays."""
    together = iter(judged([Check(**check) for record in records for check in record["checks"]]))
    found = []
    for record in records:
        checks = [next(together) for _ in record["checks"]]
        content = {"checks": plain([asdict(check) for check in checks])}
        found.append({**record, **content, "verdict": weakest([check.verdict for check in checks])})
    return found


def by_chance(records: Sequence[dict[str, Any]]) -> int:
    """The number of checks that the correction covers."""
    return sum(check["against"] is not None for record in records for check in record["checks"])
