"""Exact results about a message-passing protocol: one leader or not, and what it costs."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hegemon import display
from hegemon.errors import InvalidInput
from hegemon.exact.messages.delayed import DelayedEnumeration
from hegemon.exact.messages.distributions import Tally
from hegemon.exact.messages.enumeration import MOST_ROUNDS, Enumeration
from hegemon.exact.messages.scripted_coins import NotOrdered
from hegemon.graphs.topology import Topology
from hegemon.models.messages import MessageProtocol
from hegemon.models.readings import Readings, functions_in
from hegemon.process.messages.links import UniformDelay
from hegemon.process.messages.surroundings import Surroundings
from hegemon.runs.setting import Graph, Identifiers, Wake, topology_for

QUESTION = "reached"
LONGEST = 8192  # bits of a denominator that is written down
MOST_RUNNING = Fraction(1, 10**6)  # the largest probability of runs that are not followed to their end


@dataclass(frozen=True)
class MessageVerification:
    """Everything about one protocol on one graph. Probabilities and expectations are fractions, and exact if
    `running`, the probability of runs that were not followed to their end, is 0; otherwise they count only the runs
    that were, and a probability is at most `running` larger."""

    protocol: MessageProtocol
    graph: str
    around: Surroundings
    tally: Tally
    within_rounds: int | None
    seconds: float

    @property
    def one_leader(self) -> Fraction:
        """The probability that a run ends with exactly one leader."""
        return self.leaders.get(1, Fraction(0))

    @property
    def leaders(self) -> dict[int, Fraction]:
        """The probability of each number of leaders in the end."""
        chances: dict[int, Fraction] = {}
        for (leaders, _), chance in sorted(self.tally.ends.items()):
            chances[leaders] = chances.get(leaders, Fraction(0)) + chance
        return chances

    @property
    def running(self) -> Fraction:
        return self.tally.running

    @property
    def messages(self) -> Fraction:
        return self.tally.messages

    @property
    def rounds(self) -> Fraction:
        """The expected number of rounds; a run lasts to the last round in which anything happens."""
        return sum((chance * round for (_, round), chance in self.tally.ends.items()), Fraction(0))

    def within(self, rounds: int) -> Fraction:
        """The probability that a run has ended after that many rounds, with exactly one leader."""
        ends = self.tally.ends.items()
        return sum((chance for (leaders, last), chance in ends if leaders == 1 and last <= rounds), Fraction(0))

    @property
    def certain(self) -> bool:
        return self.one_leader == 1

    @property
    def headline(self) -> str:
        least = float(self.one_leader)
        if self.certain:
            return "exactly one leader with probability 1"
        if self.running:
            return f"exactly one leader with a probability between {least:.12g} and {float(self.most):.12g}"
        return f"exactly one leader with probability {least:.12g}, not 1"

    def __str__(self) -> str:
        about = {"answer": self.headline, "graph": self.graph, **self._circumstances}
        about |= {f"expected {name}": f"{float(getattr(self, name)):.10g}" for name in ("messages", "rounds")}
        return display.plain(f"{self.protocol.id}, n = {self.protocol.n:,}", about)

    @property
    def wake(self) -> str:
        return self.around.wake.name

    @property
    def _circumstances(self) -> dict[str, str]:
        identifiers = self.around.identifiers
        named = {"identifiers": identifiers.name} if identifiers.present else {}
        return {"wake": self.wake} | named | self.around.departures

    @property
    def most(self) -> Fraction:
        return self.one_leader + self.running

    def record(self) -> dict[str, Any]:
        expected = {"messages": self.messages, "bits": self.tally.bits, "rounds": self.rounds, **self.tally.measures}
        return {
            "protocol": self.protocol.id,
            "n": self.protocol.n,
            "parameters": self.protocol.parameters,
            "facts": self.protocol.facts,
            "graph": self.graph,
            **self._circumstances,
            "states": self.tally.states,
            "wide_draws": "by their order" if self.tally.ordered else "by their values",
            "unit": self.protocol.time_unit,
            "exact": self.running == 0,
            "running": number(self.running),
            "one_leader": number(self.one_leader),
            "leaders": {str(leaders): number(chance) for leaders, chance in self.leaders.items()},
            "causes": {cause: number(chance) for cause, chance in self.tally.causes.items()},
            "expected": {name: number(value) for name, value in expected.items()},
            "largest_message": self.tally.largest,
            "within": None
            if self.within_rounds is None
            else {"rounds": self.within_rounds, "one_leader": number(self.within(self.within_rounds))},
            "certain": self.certain,
            "headline": self.headline,
            "seconds": self.seconds,
        }


def number(value: Fraction) -> dict[str, float | str | None]:
    """The number rounded, and as a fraction unless that is very long."""
    short = value.denominator.bit_length() <= LONGEST
    return {"value": float(value), "exact": f"{value.numerator}/{value.denominator}" if short else None}


def require_finite(around: Surroundings) -> None:
    """Refuse surroundings with infinitely many outcomes in a round, or that depend on more than the present state."""
    if around.delay is not None and not isinstance(around.delay, UniformDelay):
        raise InvalidInput(
            f"verify follows every outcome, and the delay {around.delay} has too many or depends on the past; use "
            "uniform:LOW..HIGH, or run, which simulates it"
        )
    if any(crash.rate for crash in around.crashes):
        raise InvalidInput("verify follows crashes at given rounds, and no rate; write round=K,nodes=J, or use run")


def enumerate_runs(
    protocol: MessageProtocol, topology: Topology, around: Surroundings, least: int | None, memory: float,
    progress: display.Show | None = None,
) -> Tally:  # fmt: skip
    """Every run, until nothing is left to do; beyond `least` rounds, if given, only as far as memory allows.
    Wide draws are enumerated by their order if the protocol uses nothing else of them, otherwise value by value."""
    kind = Enumeration if around.delay is None else DelayedEnumeration
    code = Readings(functions_in(type(protocol), MessageProtocol))
    names_types = code.mention("type")  # the stand-ins for numbers that are drawn are of another type
    if names_types and code.mention("random"):
        raise InvalidInput(
            f"{protocol.id} calls type and rng.random: verify decides random() only as far as it is compared, and "
            "has no number whose type it could show; use isinstance, or draw rng.randrange(k)"
        )
    for ordered in (False,) if names_types else (True, False):
        try:
            return kind(protocol, topology, around, memory, progress, ordered).tally(least)
        except NotOrdered:
            continue
    raise AssertionError("plain values are always ordered")


def verify_messages(
    protocol: MessageProtocol, *, graph: Graph = None, wake: Wake = "all", identifiers: Identifiers = "random",
    delay: Any = None, order: str = "fifo", loss: float | str = 0, duplicate: float | str = 0, crashes: Any = (),
    property: str | None = None, within: int | None = None, memory: float,
    progress: Callable[[str, int, int | None], None] | None = None,
) -> MessageVerification:  # fmt: skip
    """All runs of a protocol on one graph, over all outcomes of all coins."""
    begin = time.perf_counter()
    if property not in (None, QUESTION):
        raise InvalidInput(
            f"{protocol.id} sends messages and has no sets: the property {property!r} cannot be asked; "
            f"leave it out, or ask {QUESTION}: exactly one leader in the end"
        )
    if within is not None and (isinstance(within, bool) or not isinstance(within, int) or within < 1):
        raise InvalidInput(f"within = {within!r} is out of range; give a whole number of rounds >= 1")
    topology = topology_for(protocol, graph)
    adapted = protocol.adapt(topology)
    around = Surroundings(
        adapted, wake=wake, identifiers=identifiers, delay=delay, order=order, loss=loss, duplicate=duplicate,
        crashes=crashes,
    )  # fmt: skip
    require_finite(around)
    tally = enumerate_runs(adapted, topology, around, within, memory, progress)
    if within is None and tally.running > MOST_RUNNING:
        raise InvalidInput(
            f"{protocol.id} is still running after {MOST_ROUNDS:,} rounds with probability {float(tally.running):.3g}; "
            "ask about its first rounds by within (--within K)"
        )
    return MessageVerification(adapted, topology.name, around, tally, within, time.perf_counter() - begin)
