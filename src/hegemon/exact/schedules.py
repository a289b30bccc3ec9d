"""What daemons can do to a protocol with fair coins: extreme probabilities and extreme expected numbers of moves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.display import Show
from hegemon.errors import InvalidInput, choose, meant
from hegemon.exact.adversary import Adversary
from hegemon.exact.chain import Chain
from hegemon.exact.counted_rounds import with_rounds
from hegemon.exact.decisions import Decisions
from hegemon.exact.end_components import EndComponents, every, fair_components, forced, reaching
from hegemon.exact.findings import Finding
from hegemon.exact.hitting import average, finite, first_largest, first_smallest, start_weights
from hegemon.exact.instance import Instance
from hegemon.exact.rounds import RoundConfigurations
from hegemon.exact.stored_answers import StoredAnswers
from hegemon.exact.strategies import Optimizer, Optimum, likeliest
from hegemon.exact.traces import trace
from hegemon.models.protocol import Protocol
from hegemon.process.schedulers.reading import run_names
from hegemon.runs.stories import Trace

if TYPE_CHECKING:
    from hegemon.process.schedulers.scheduler import Scheduler

FAIRNESS = {"weakly-fair": "weak", "strongly-fair": "strong"}
COINS = ("fair", "adversary")
MOST_WRITTEN = 200_000  # configurations of a strategy
TOO_MANY = "rounds were not counted: configurations and the nodes that a round waits for are too many together"
NO_BOUND = "a fair schedule may delay anybody for any time, so that no number of moves bounds them"


@dataclass(frozen=True)
class Extreme:
    """The most or the least that any schedule attains, from every configuration, and the choices that attain it."""

    values: np.ndarray
    choices: np.ndarray
    error: float
    starts: np.ndarray
    weights: np.ndarray
    named: dict[str, int]
    largest: bool

    @property
    def start(self) -> int:
        """The start at which it is most extreme; of those that may be equal, the first."""
        values = self.values[self.starts]
        pick = first_largest if self.largest else first_smallest
        return int(self.starts[pick(values, self.error)])

    @property
    def extreme(self) -> float:
        return float(self.values[self.start])

    @property
    def mean(self) -> float:
        return average(self.weights[self.starts], self.values[self.starts])

    def record(self) -> dict[str, dict[str, float | None] | float | None]:
        named = {name: finite(self.values[index]) for name, index in self.named.items()}
        return {"worst": finite(self.extreme), "mean": finite(self.mean), "from": named, "error": float(self.error)}


class Schedules:
    """Every schedule of one daemon, for one set. `fairness` is empty, `weak` or `strong`."""

    def __init__(
        self, process: Decisions, inside: np.ndarray, named: dict[str, int], daemon: str, fairness: str = "",
        coins: str = "fair",
    ):  # fmt: skip
        self.process, self.inside, self.named = process, inside, named
        self.daemon, self.fairness, self.coins = daemon, fairness, coins
        self.outside = ~inside
        self.notes = [NO_BOUND] if fairness else []
        chain: Chain = process.chain
        self.weights = start_weights(chain)
        self.starts = np.arange(chain.size) if chain.is_whole else np.flatnonzero(self.weights > 0)

    def _extreme(self, optimum: Optimum, values: np.ndarray, largest: bool) -> Extreme:
        return Extreme(values, optimum.choices, optimum.error, self.starts, self.weights, self.named, largest)

    @cached_property
    def stuck(self) -> np.ndarray:
        """The configurations outside the set in which no node or pair can act."""
        return self.outside & (np.diff(self.process.first) == 0)

    @cached_property
    def _ends(self) -> EndComponents:
        return fair_components(self.process, self.outside, self.fairness)

    @cached_property
    def avoided(self) -> np.ndarray:
        """The configurations in which a schedule can stay outside the set forever, whatever the coins show."""
        return self.stuck | (self._ends.label >= 0)

    @cached_property
    def doubtful(self) -> np.ndarray:
        """The configurations from which some schedule avoids the set with a probability above 0."""
        return reaching(self.process, self.avoided, self.outside)

    @cached_property
    def least_probability(self) -> Extreme:
        """The least probability of reaching the set, over all schedules."""
        avoiding = likeliest(self.process, self.avoided, self.outside)
        stays = np.flatnonzero(self._ends.stays)
        choices = avoiding.choices.copy()
        choices[self.process.owners[stays[::-1]]] = stays[::-1]
        return self._extreme(Optimum(avoiding.values, choices, avoiding.error), 1.0 - avoiding.values, largest=False)

    @cached_property
    def greatest_probability(self) -> Extreme:
        optimum = likeliest(self.process, self.inside, self.outside)
        return self._extreme(optimum, np.where(self._surely[0], 1.0, optimum.values), largest=False)

    @cached_property
    def _surely(self) -> tuple[np.ndarray, np.ndarray]:
        return forced(self.process, self.inside)

    def most(self, costs: np.ndarray) -> Extreme | None:
        """The most expected cost; None where fairness alone makes a schedule end, so that there is no bound."""
        if self.fairness:
            return None
        optimum = Optimizer(self.process, self.outside & ~self.doubtful).costs(costs, largest=True)
        return self._extreme(optimum, np.where(self.doubtful, np.inf, optimum.values), largest=True)

    def least(self, costs: np.ndarray) -> Extreme:
        sure, first = self._surely
        allowed = every(self.process, sure[self.process.targets])
        optimum = Optimizer(self.process, self.outside & sure, allowed).costs(costs, False, first)
        return self._extreme(optimum, np.where(sure, optimum.values, np.inf), largest=True)

    @cached_property
    def expected(self) -> dict[str, tuple[Extreme | None, Extreme]]:
        """The most and the least expected moves, steps and rounds."""
        moves = self.process.moves.astype(float)
        costs = {"moves": moves}
        if (moves > 1).any():
            costs["steps"] = np.ones(len(moves))
        bounds: dict[str, tuple[Extreme | None, Extreme]] = {}
        for name, cost in costs.items():
            bounds[name] = self.most(cost), self.least(cost)
        return bounds | self._rounds(bounds.get("steps", bounds["moves"])[0])

    def _rounds(self, steps: Extreme | None) -> dict[str, tuple[Extreme | None, Extreme]]:
        """The expected rounds, if every schedule reaches the set, so that rounds end, and if they can be counted."""
        chain = self.process.chain
        if (
            steps is None
            or self.doubtful.any()
            or not self.outside.any()
            or not isinstance(chain.space, RoundConfigurations)
        ):
            return {}
        counted = with_rounds(self.process, self.outside, chain.space.n)
        if counted is None:
            self.notes.append(TOO_MANY)
            return {}
        active = np.arange(counted.process.size) < counted.process.size - 1
        optimizer, bound = Optimizer(counted.process, active), float(steps.values.max(initial=0.0) * (1 + steps.error))
        sides = []
        for largest in (True, False):
            optimum = optimizer.sums(counted.costs, largest, bound)
            values = np.where(counted.fresh >= 0, optimum.values[counted.fresh], 0.0)
            nobody = Optimum(values, np.full(len(values), -1, np.int64), optimum.error)
            sides.append(self._extreme(nobody, values, largest=True))
        return {"rounds": (sides[0], sides[1])}

    @property
    def is_reached(self) -> bool:
        return not self.doubtful[self.starts].any()

    def finding(self, name: str, claimed: bool) -> Finding:
        """Whether the set is reached with probability 1 under every schedule."""
        if self.is_reached:
            covers = "every configuration" if self.process.chain.is_whole else "the start"
            sentence = f"reached with probability 1 from {covers}, whatever the daemon does"
            return Finding("reached", name, True, claimed, sentence)
        least, number = self.least_probability, int(self.doubtful[self.starts].sum())
        size = len(self.starts)
        sentence = (
            f"a schedule avoids it from {number} of {size} configuration{'s' * (size != 1)}; the least probability of "
            f"reaching it is {least.extreme:.6g}"
        )
        return Finding("reached", name, False, claimed, sentence, trace(self.process.chain, [least.start]))

    def strategy(self, worst: bool) -> Trace:
        """The worst or the best schedule as a story: the start from which it is most extreme, and who acts where.

        The worst one avoids the set as far as that is possible, and otherwise takes the most expected moves.
        """
        space = self.process.chain.space
        if not isinstance(space, RoundConfigurations) or self.coins != "fair" or worst and self.fairness:
            raise InvalidInput(
                "a strategy is a choice of nodes for each configuration; it exists for protocols of rounds, with fair "
                "coins and without fairness: drop what is not so, or save a story (--counterexample)"
            )
        most, least = self.expected["moves"]
        if worst:
            chosen = self.least_probability if most is None or not self.is_reached else most
        else:
            chosen = least if self._surely[0][self.starts].all() else self.greatest_probability
        places = np.flatnonzero((chosen.choices >= 0) & self.outside)
        if len(places) > MOST_WRITTEN:
            raise InvalidInput(f"a strategy for {len(places):,} configurations is too large; at most {MOST_WRITTEN:,}")
        labels = self.process.labels[chosen.choices[places]].tolist()
        nodes = [[node for node in range(space.n) if label >> node & 1] for label in labels]
        rows = tuple(zip(self.process.chain.codes_at(places).tolist(), nodes, strict=True))
        return replace(trace(self.process.chain, [chosen.start]), strategy=rows)

    def record(self) -> dict[str, Any]:
        expected = {
            name: {"most": most.record() if most else None, "least": least.record()}
            for name, (most, least) in self.expected.items()
        }
        probability = {"least": self.least_probability.record(), "greatest": self.greatest_probability.record()}
        return {
            "daemon": f"{self.daemon} ({self.fairness}ly fair)" if self.fairness else self.daemon,
            "coins": self.coins,
            "choices": self.process.choices,
            "probability": probability,
            "expected": expected,
            "notes": self.notes,
        }


def parse_daemon(scheduler: "str | Scheduler | None", protocol: Protocol) -> tuple[str, str] | None:
    """The daemon and its fairness that a scheduler's name means; None for a law of chance, which a run can follow."""
    model = protocol.model
    text = scheduler if scheduler is not None else protocol.daemon
    if not isinstance(text, str) or not text:
        return None
    if text == "fair" and model.has_interactions:
        return "adversary", "weak"
    name, colon, fairness = text.partition(":")
    known = {law.partition(":")[0] for law in run_names(protocol)}
    if name not in model.daemons:
        if name not in known:
            names = sorted({*known, *model.daemons, *["fair"] * model.has_interactions})
            raise InvalidInput(
                f"the scheduler {text!r} is not one of {protocol.id}; {choose(names)}{meant(name, names)}"
            )
        return None
    ways = [way for way in FAIRNESS if way != "strongly-fair" or not model.has_interactions]
    if colon and fairness not in ways:
        laws = [law.partition(":")[2] for law in run_names(protocol) if law.partition(":")[0] == name]
        if fairness in laws or name == "distributed" or model.has_interactions and name in known:
            return None
        ways += [law for law in laws if law]
        suffixes = " or ".join(f":{way}" for way in ways)
        raise InvalidInput(
            f"the scheduler {text!r} is not known: {name} may be followed by {suffixes}{meant(fairness, ways)}"
        )
    return name, FAIRNESS.get(fairness, "")


class ScheduledAnswers(StoredAnswers):
    """The questions of `verify` about every schedule of a daemon."""

    def __init__(
        self, case: Instance, name: str, questions: Sequence[str], everything: bool, fairness: str, coins: str,
        progress: Show | None = None,
    ):  # fmt: skip
        super().__init__(case, name, questions, everything, progress)
        assert case.decisions is not None
        self.process = case.decisions.determined() if coins == "adversary" else case.decisions
        self.fairness, self.coins = fairness, coins

    def schedules(self, name: str) -> Schedules:
        assert self.case.daemon is not None
        inside, starts = self.inside(name), self.case.starts
        return Schedules(self.process, inside, starts, self.case.daemon, self.fairness, self.coins)

    def _reached(self, name: str, inside: np.ndarray, claimed: bool) -> Finding:
        if self.process.is_certain:
            return Adversary(self.process, inside, self.fairness).answer(name, claimed)
        return self.schedules(name).finding(name, claimed)
