"""Whether ensembles had settled, measured by what settles slowest.

An ensemble estimates 1 over the mean holding time only if its losses occur at the long-run rate. That fails if the
process has a mode that lasts longer than the ensemble: losses in this mode are missing, and so are the leaders that it
keeps safe. Three conditions are measured, and all must hold.

- *Every configuration that an ensemble reached, however rare, is left again.* All its last walkers, and the start, make
  plain steps without weights until they are usual: every agent is in a state, and most agents in a class, that nearly
  all plain runs show late (`plain`). A walker that loses its leader begins again at the start. The slowest must be
  usual within twice the burn-in.
- *The start is forgotten.* Ensembles that begin at the start itself lose leaders at the same rate, after the burn-in,
  as ensembles that begin late in a long plain run.
- *The rate is steady*: the same in the burn-in's second half as afterwards.

A mode is not detected if it shows in neither states nor classes of agents, plain runs do not enter it, and it keeps
leaders longer or shorter than usual.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hegemon.experiments.holding.plain import coarse_moments, kinds_of_states
from hegemon.experiments.holding.process import Crowd
from hegemon.experiments.holding.replications import Doubt, relative

PATIENCE = 2  # burn-ins within which every walker of a trial must be usual again
LONGEST = 4  # the same for all replications: the slowest of more walkers is slower
HOPELESS = 16  # the same for a trial, up to which ensembles are made longer; slower walkers are not awaited
FEW = 64  # walkers that are followed beyond half of the burn-in
STRIDE = 16  # samples between two checks beyond PATIENCE
MOST_DOUBT = 0.5  # a larger difference (of logarithms) is never attributed to chance in an estimate
DOUBT = 3  # differences up to this many standard errors may be chance


def slowest_return(
    crowd: Crowd, populations: np.ndarray, usual: dict[str, Any], burn: int, key: np.uint64, patience: int = HOPELESS
) -> int | None:
    """Samples until the last of these walkers has been usual; None if one is not within `patience` burn-ins."""
    states, moments = np.array(usual["states"], np.int64), np.array(usual["moments"], np.int64)
    kinds = kinds_of_states(crowd)
    known = np.zeros(int(kinds.max()) + 1, bool)
    known[states] = True
    known = known[kinds]
    populations = np.concatenate([populations, crowd.start[None]])
    looks = stride = 0
    while looks <= patience * burn:
        keys = crowd.moved(populations, stride * crowd.model.look, key, looks)
        away = ~np.isin(coarse_moments(crowd, keys), moments)
        here = np.flatnonzero(~away)
        away[here] = ~known[populations[here]].all(axis=1)
        populations = populations[away]
        if not len(populations):
            return looks
        if 2 * looks >= burn:  # FEW of the slow walkers suffice
            populations = populations[:: -(-len(populations) // FEW)]
        stride = STRIDE if looks >= PATIENCE * burn else 1
        looks += stride
    return None


def drift(rates: Sequence[float], others: Sequence[float]) -> tuple[float, float]:
    """The mean difference between two groups of logarithmic rates, and its standard error."""
    (mean, scatter), (other, beside) = relative(rates), relative(others)
    if -math.inf in (mean, other):
        return math.inf, 0.0
    return abs(mean - other), math.hypot(scatter / math.sqrt(len(rates)), beside / math.sqrt(len(others)))


def early_drift(rates: Sequence[float], early: Sequence[float]) -> tuple[float, float]:
    """The same for the rates of one group at two times."""
    mean, before = relative(rates)[0], relative(early)[0]
    if -math.inf in (mean, before):
        return math.inf, 0.0
    differences = np.exp(np.asarray(rates) - mean) - np.exp(np.asarray(early) - before)
    return abs(mean - before), float(differences.std(ddof=1)) / math.sqrt(len(differences))


def harmless(difference: float, noise: float, precision: float, doubt: float = DOUBT, most: float = MOST_DOUBT) -> bool:
    """Whether a difference is too small to matter, or to be distinguished from chance.

    An ensemble that approaches its steady state like exp(-t/u), and is off by a fifth on average in the second quarter
    of its time, is off by 2.5 % in its second half; so a difference of half the precision, or of a fifth, does no harm.
    """
    return difference <= max(min(0.2, math.log1p(precision) / 2), min(doubt * noise, most))


def doubts(
    rates: Sequence[float], early: Sequence[float], fresh: Sequence[float], slowest: float, precision: float
) -> list[Doubt]:
    """Whether ensembles had settled: from their rates, those of the burn-in's second half and of ensembles that began
    at the start, and the slowest return in burn-ins. A difference that may be chance is no serious doubt."""
    found = []
    if slowest > LONGEST:
        found.append(Doubt("a configuration was reached that is not left again within the time of an ensemble", True))
    for reason, (difference, noise) in (
        ("losses came at another rate in the burn-in", early_drift(rates, early)),
        ("ensembles that begin at the start lose leaders at another rate", drift(rates, fresh)),
    ):
        if not harmless(difference, noise, precision):
            found.append(Doubt(reason, not harmless(difference, noise, precision, most=math.inf)))
    return found
