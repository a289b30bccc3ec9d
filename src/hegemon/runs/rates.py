"""Rates: faults and churn as part of the process. A step is an interaction, or instead of it an event.

The rate r of an event is its probability in a step: in n steps, a unit of parallel time, every agent is hit r times on
average. An event hits one agent, drawn uniformly:
  corrupt   it gets given values, or a uniformly random state;
  leave     it leaves; the last two agents stay;
  join      an agent joins, with given values or in a uniformly random state, unless there are n already;
  crash     it never changes again, nor do agents that meet it, by these meetings (see `models/halting.py`);
  pause     the same until it has missed a number of meetings, or until a wake event;
  wake      it continues, if it is paused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon import doors
from hegemon.engines.engine import Engine
from hegemon.errors import InvalidInput, meant
from hegemon.models.configuration import Configuration
from hegemon.models.expressions import fraction_of, number_or_text
from hegemon.models.grammar import short
from hegemon.models.halting import CRASHED, HALTED, MOST_MISSED, PAUSED, RUNNING, missing
from hegemon.models.protocol import Protocol
from hegemon.runs.faults import FEWEST, fault_codes
from hegemon.runs.run import Fault

if TYPE_CHECKING:
    from hegemon.models.state import StateSpace


KINDS = ("corrupt", "leave", "join", "crash", "pause", "wake")
BARE = {"leave": "an agent that leaves", "crash": "an agent that crashes", "wake": "an agent that wakes"}
RATE = doors.instance("a Fraction above 0 and below 1", "fractions:Fraction")
VALUES = doors.several(doors.several(doors.scalar, fewest=2, most=2))
MEETINGS = "meetings"  # meetings that a paused agent misses
FAR = 2**62


@dataclass(frozen=True)
class Rate:
    """An event that happens with probability `rate` in every step."""

    kind: str
    rate: Fraction
    values: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        doors.require_fields(self, kind=doors.one_of(*KINDS), rate=RATE, values=VALUES)
        if not 0 < self.rate < 1:
            raise InvalidInput(f"rate = {self.rate} is out of range; it is above 0 and below 1")

    def __str__(self) -> str:
        return ",".join([f"{self.kind}={self.rate}", *(f"{name}={value}" for name, value in self.values)])

    @property
    def fault(self) -> Fault:
        """The values written into the agent that is hit; empty if it gets a random state."""
        if self.kind == "pause":
            return Fault(0, 1, {HALTED: missing(dict(self.values)[MEETINGS]) if self.values else PAUSED})
        if self.kind in ("crash", "wake"):
            return Fault(0, 1, {HALTED: CRASHED if self.kind == "crash" else RUNNING})
        return Fault(0, 1, dict(self.values) or None)

    @property
    def is_random(self) -> bool:
        """Whether the agent gets a uniformly random state."""
        return self.kind in ("corrupt", "join") and not self.values


def parse_rate(text: str) -> Rate:
    """`corrupt=1e-4`, or with values: `corrupt=1/1000,leader=0`."""
    parts = [part.partition("=") for part in str(text).split(",")]
    kind, _, number = (word.strip() for word in parts[0])
    if kind not in KINDS:
        known = f"{', '.join(KINDS)}{meant(kind, KINDS)}"
        raise InvalidInput(f"the rate {short(text)} is not understood; write KIND=R, where KIND is one of {known}")
    try:
        rate = fraction_of(number)
    except (ValueError, ZeroDivisionError):
        rate = Fraction(-1)
    if not 0 < rate < 1:
        raise InvalidInput(
            f"the rate {short(text)} is out of range; R is above 0 (1e-300 at least) and below 1, such as 1e-4"
        )
    values = tuple((name.strip(), number_or_text(value.strip())) for name, _, value in parts[1:])
    if kind in BARE and values:
        raise InvalidInput(f"the rate {short(text)} gives values to {BARE[kind]}; write {kind}={number}")
    if kind == "pause" and values:
        (name, length), *more = values
        if more or name != MEETINGS or type(length) is not int or not 1 <= length <= MOST_MISSED:
            raise InvalidInput(
                f"the rate {short(text)} is not understood; write pause={number},{MEETINGS}=K for a pause of K "
                f"meetings (1..{MOST_MISSED}), or pause={number} with a rate wake=R"
            )
    return Rate(kind, rate, values)


def read_rates(given: Any) -> tuple[Rate, ...]:
    """`none`, strings (several divided by semicolons), or rates."""
    rates = tuple(part if isinstance(part, Rate) else parse_rate(part) for part in doors.entries("rate", given))
    if sum(rate.rate for rate in rates) >= 1:
        raise InvalidInput("the rates add up to 1 or more, so that no two agents would ever meet; take smaller ones")
    return rates


def marks_of(rates: Sequence[Rate]) -> tuple[str, ...]:
    """The ways in which agents can be halted under these rates."""
    lengths = [dict(rate.values).get(MEETINGS, 0) for rate in rates if rate.kind == "pause"]
    kinds = {rate.kind for rate in rates}
    if 0 in lengths and "wake" not in kinds:
        raise InvalidInput("a pause without an end is a crash; give a rate wake=R too, pause=R,meetings=K, or crash=R")
    if "wake" in kinds and "pause" not in kinds:
        raise InvalidInput("wake=R ends pauses, and there is no rate pause=R; give one, or leave wake out")
    marks = [missing(k) for k in range(1, max(lengths, default=0) + 1)]
    return (*marks, *(PAUSED,) * (0 in lengths), *(CRASHED,) * ("crash" in kinds))


def churns(rates: Sequence[Any]) -> bool:
    """Whether these rates or faults change the number of agents."""
    return any(rate.kind in ("join", "leave") for rate in rates)


def steps_until(chance: np.random.Generator, probability: float) -> int:
    """The number of steps up to the first one in which something happens that happens in each with this probability:
    the geometric law of everything that disturbs a run, on the command line and on the page."""
    return min(FAR, int(chance.geometric(min(1.0, probability))))


class EventTimes:
    """When events come, and which: `step` is that of the next one, FAR if there are no rates."""

    def __init__(self, rates: tuple[Rate, ...], rng: np.random.Generator):
        self.rates, self._rng = rates, rng
        self._total = float(sum(rate.rate for rate in rates))
        self._shares = np.cumsum([float(rate.rate) for rate in rates])
        self.step = 0
        self.plan()

    def plan(self) -> None:
        """Draw the step of the next event."""
        self.step = min(FAR, self.step + steps_until(self._rng, self._total)) if self.rates else FAR

    def drawn(self) -> Rate:
        """Which event it is."""
        which = int(np.searchsorted(self._shares, self._rng.random() * self._shares[-1], side="right"))
        return self.rates[min(which, len(self.rates) - 1)]


class EventProcess(EventTimes):
    """The events of a run besides interactions; `number` is how many there were."""

    def __init__(self, rates: tuple[Rate, ...], protocol: Protocol, rng: np.random.Generator):
        self.space, self.capacity, self.number = protocol.space, protocol.n, 0
        for rate in rates:
            fault_codes(rate.fault, self.space, np.zeros(1, np.int64), np.random.default_rng(0))  # refused now
        super().__init__(rates, rng)

    @property
    def place(self) -> tuple[int, int]:
        """What a snapshot keeps, besides the state of the generator."""
        return self.step, self.number

    @place.setter
    def place(self, place: tuple[int, int]) -> None:
        self.step, self.number = place

    def make_due(self, engine: Engine) -> tuple[int, int]:
        """Make the due event, which takes the step after the engine's present one; returns the codes of its agent
        before and after, -1 if the agent is absent."""
        rate = self.drawn()
        configuration = engine.configuration()
        after, hit = (_in_counts if engine.as_multiset else _in_agents)(rate, configuration, self.capacity, self._rng)
        engine.load(after, engine.step + 1)
        self.number += 1
        self.plan()
        return hit

    def measures(self, engine: Engine) -> dict[str, Any]:
        """The number of events, and, if agents come and go, how many are left."""
        measured, (codes, counts) = {"events": self.number}, engine.occupancy()
        if churns(self.rates):
            measured["agents"] = int(counts.sum())
        if "crash" in (rate.kind for rate in self.rates):
            crashed = self.space.domains[HALTED].index(CRASHED)
            measured["crashed"] = int(counts[self.space.decode_array(codes)[HALTED] == crashed].sum())
        return measured


def _in_agents(
    rate: Rate, configuration: Configuration, capacity: int, rng: np.random.Generator
) -> tuple[Configuration, tuple[int, int]]:
    space, agents = configuration.space, configuration.agents
    if rate.kind == "join":
        if len(agents) >= capacity:
            return configuration, (-1, -1)
        code = _joining(rate, space, rng)
        return Configuration(space, agents=np.concatenate([agents, space.decode_array(space.code_array([code]))])), (
            -1,
            code,
        )
    victim = int(rng.integers(len(agents)))
    before = int(space.encode_array(agents[victim : victim + 1])[0])
    if rate.kind == "leave":
        if len(agents) <= FEWEST:
            return configuration, (-1, -1)
        agents[victim] = agents[-1]
        return Configuration(space, agents=agents[:-1].copy()), (before, -1)
    after = int(fault_codes(rate.fault, space, space.code_array([before]), rng)[0])
    agents[victim : victim + 1] = space.decode_array(space.code_array([after]))
    return Configuration(space, agents=agents), (before, after)


def _in_counts(
    rate: Rate, configuration: Configuration, capacity: int, rng: np.random.Generator
) -> tuple[Configuration, tuple[int, int]]:
    space = configuration.space
    codes, counts = (part.copy() for part in configuration.multiset)
    n = int(counts.sum())
    if rate.kind == "join":
        if n >= capacity:
            return configuration, (-1, -1)
        before, after = -1, _joining(rate, space, rng)
    else:
        if rate.kind == "leave" and n <= FEWEST:
            return configuration, (-1, -1)
        place = int(np.searchsorted(np.cumsum(counts), rng.integers(n), side="right"))
        counts[place] -= 1
        before = int(codes[place])
        after = -1 if rate.kind == "leave" else int(fault_codes(rate.fault, space, space.code_array([before]), rng)[0])
    if after >= 0:
        place = int(np.searchsorted(codes, after))
        if place == len(codes) or codes[place] != after:
            codes, counts = np.insert(codes, place, after), np.insert(counts, place, 0)
        counts[place] += 1
    return Configuration(space, codes=codes[counts > 0], counts=counts[counts > 0]), (before, after)


def _joining(rate: Rate, space: "StateSpace", rng: np.random.Generator) -> int:
    """The state of an agent that joins: the fields that the rate names, and the lowest values otherwise; or random."""
    return int(fault_codes(rate.fault, space, np.zeros(1, np.int64), rng)[0])
