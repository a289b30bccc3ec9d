"""The distribution over what all nodes know together, round by round; equal states are merged as they arise.

Nodes are called one after the other, and states merged after each: the outcomes of many nodes are never multiplied out.
Probabilities are whole numbers over one denominator per distribution. Rounds in which nothing happens are skipped, as
in engine `nodes`.
"""

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from hegemon.display import Show
from hegemon.engines.messages.initiators import WakeUp
from hegemon.engines.messages.ports import ports_of
from hegemon.errors import InvalidInput
from hegemon.exact.messages.frozen import renumbered
from hegemon.exact.messages.nodes import CallOutcome, Local, LocalStates, Numbers, Post
from hegemon.exact.messages.scripted_coins import NotOrdered
from hegemon.graphs.topology import Topology
from hegemon.models.messages import MessageProtocol

GIB = 2**30
PER_STATE, PER_NODE, PER_LOCAL = 700, 24, 3000  # bytes: a state with its probability, per node; a node's knowledge
NEGLIGIBLE = Fraction(1, 10**12)  # a run that lasts longer with at most this probability is not followed on
MOST_ROUNDS = 2000
CHECKED_EVERY = 256  # states between two looks at the room that is left


class TooManyStates(InvalidInput):
    """They do not fit into the memory that was granted."""


class State(NamedTuple):
    """All nodes by the numbers of their local states; within a round, what each has received and not yet seen."""

    nodes: tuple[int, ...]
    inboxes: tuple[Post | None, ...]
    drawn: Numbers


class Distribution:
    """The probabilities of states: whole numbers over one denominator."""

    def __init__(self, weights: dict[State, int], over: int):
        self.weights, self.over = weights, over

    @property
    def total(self) -> Fraction:
        return Fraction(sum(self.weights.values()), self.over)

    def joined(self, other: "Distribution") -> "Distribution":
        over = math.lcm(self.over, other.over)
        weights = {state: weight * (over // self.over) for state, weight in self.weights.items()}
        for state, weight in other.weights.items():
            weights[state] = weights.get(state, 0) + weight * (over // other.over)
        return Distribution(weights, over)

    def reduced(self) -> "Distribution":
        common = math.gcd(self.over, *self.weights.values())
        return Distribution({state: weight // common for state, weight in self.weights.items()}, self.over // common)


@dataclass
class Tally:
    """What all runs together did."""

    ends: dict[tuple[int, int], Fraction] = field(default_factory=lambda: defaultdict(Fraction))  # (leaders, round)
    causes: dict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    measures: dict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    messages: Fraction = Fraction(0)
    bits: Fraction = Fraction(0)
    largest: int = 0
    states: int = 0  # at the end of all rounds together
    running: Fraction = Fraction(0)  # the probability of runs that were not followed to their end
    ordered: bool = True


def enumerate_runs(
    protocol: MessageProtocol, topology: Topology, wake: WakeUp, least: int | None, memory: float,
    progress: Show | None = None,
) -> Tally:  # fmt: skip
    """Every run, until nothing is left to happen; if `least` rounds are enough, also not further than there is room.
    Wide draws go by their order where that is all that matters, otherwise value by value."""
    try:
        return Enumeration(protocol, topology, wake, memory, progress, ordered=True).tally(least)
    except NotOrdered:
        return Enumeration(protocol, topology, wake, memory, progress, ordered=False).tally(least)


class Enumeration:
    """One enumeration of all runs."""

    def __init__(
        self, protocol: MessageProtocol, topology: Topology, wake: WakeUp, memory: float, progress: Show | None,
        ordered: bool,
    ):  # fmt: skip
        self.protocol, self.topology, self.wake, self.progress = protocol, topology, wake, progress
        self.ports = ports_of(topology)
        self.locals = LocalStates(protocol, ordered)
        self.memory = memory
        self._tally = Tally(ordered=ordered)

    def tally(self, least: int | None) -> Tally:
        """All runs, summed up."""
        agenda: dict[int, Distribution] = {}
        self._sort_in(agenda, self._beginning(), 0)
        while agenda:
            round = min(agenda)
            left = sum((part.total for part in agenda.values()), Fraction(0))
            if round > max(least or 0, MOST_ROUNDS) or left <= NEGLIGIBLE:
                self._tally.running = left
                break
            try:
                self._sort_in(agenda, self._played(agenda.pop(round), round), round)
            except TooManyStates:
                if least is None or round <= least:
                    raise
                self._tally.running = left
                break
        return self._tally

    def _beginning(self) -> Distribution:
        """Each node begins by itself with the probability of `initiation`, in the round in which it is woken."""
        begins, over = Fraction(self.protocol.initiation).as_integer_ratio()
        options: dict[tuple[int, ...], int] = {(): 1}
        denominator = 1
        for v in range(self.protocol.n):
            degree, rounds = self.ports.degree(v), self.wake.possible(v)
            own = [(self.locals.number(Local(degree, None)), (over - begins) * len(rounds))]
            own += [(self.locals.number(Local(degree, round)), begins) for round in rounds]
            options = {
                (*nodes, local): before * weight
                for nodes, before in options.items() for local, weight in own if weight
            }  # fmt: skip
            denominator *= over * len(rounds)
            self._require_room(len(options), 1, 1, "at the beginning")
        nobody = (None,) * self.protocol.n
        return Distribution({State(nodes, nobody, ()): weight for nodes, weight in options.items()}, denominator)

    def _sort_in(self, agenda: dict[int, Distribution], found: Distribution, round: int) -> None:
        """Every state into the next round in which anything happens; finished runs into the tally."""
        self._tally.states += len(found.weights)
        parts: dict[int, dict[State, int]] = defaultdict(dict)
        for state, weight in found.weights.items():
            ahead = self._next_round(state, round)
            if ahead is None:
                self._finish(state, Fraction(weight, found.over), max(1, round))
            else:
                parts[ahead][state] = weight
        for ahead, weights in parts.items():
            part = Distribution(weights, found.over).reduced()
            agenda[ahead] = agenda[ahead].joined(part) if ahead in agenda else part

    def _next_round(self, state: State, round: int) -> int | None:
        rounds: list[int] = []
        for node in state.nodes:
            local = self.locals.states[node]
            if local.outbox:
                return round + 1
            rounds.extend(local.calls)
            if local.begins is not None:
                rounds.append(local.begins)
        return min(rounds, default=None)

    def _finish(self, state: State, chance: Fraction, round: int) -> None:
        leaders = sum(self.locals.is_elected(node) for node in state.nodes)
        self._tally.ends[leaders, round] += chance
        known = [node for node in state.nodes if self.locals.states[node].variables is not None]
        for name, value in self.protocol.measure([self.locals.thawed(node, None) for node in known]).items():
            if name == "cause":
                self._tally.causes[value or "elected"] += chance
            elif isinstance(value, int | float):
                self._tally.measures[name] += chance * Fraction(value)

    def _played(self, now: Distribution, round: int) -> Distribution:
        """One round: who wakes up begins, messages are delivered, and who received any or asked for it is called."""
        for v in range(self.protocol.n):
            now = self._stepped(now, round, v, self._begin)
        now = self._delivered(now)
        for v in range(self.protocol.n):
            now = self._stepped(now, round, v, self._round)
        return now

    def _stepped(self, now: Distribution, round: int, v: int, outcomes_of: Callable) -> Distribution:
        """The distribution after node v has been called, where it is called at all."""
        following = [outcomes_of(state, round, v) for state in now.weights]
        scale = math.lcm(*{outcome.below for outcomes in following for outcome in outcomes or ()})
        after: dict[State, int] = defaultdict(int)
        for done, ((state, weight), outcomes) in enumerate(zip(now.weights.items(), following, strict=True), 1):
            if outcomes is None:
                after[state] += weight * scale
                continue
            for outcome in outcomes:
                after[self._moved(state, v, outcome)] += weight * outcome.above * (scale // outcome.below)
            if done % CHECKED_EVERY == 0:
                self._require_room(len(after), done, len(following), f"in round {round}")
                if self.progress:
                    self.progress(f"round {round}, node {v}", done, len(following))
        return Distribution(after, now.over * scale)

    def _moved(self, state: State, v: int, outcome: CallOutcome) -> State:
        """The state after one outcome of a call of node v. Numbers that it drew push others aside."""
        nodes = (*state.nodes[:v], outcome.local, *state.nodes[v + 1 :])
        inboxes = (*state.inboxes[:v], None, *state.inboxes[v + 1 :])
        if outcome.places:
            renumber, places = self.locals.renumber, dict(outcome.places)
            nodes = tuple(node if w == v else renumber(node, outcome.places) for w, node in enumerate(nodes))
            inboxes = tuple(post and renumbered(post, places) for post in inboxes)
        return State(nodes, inboxes, outcome.drawn)

    def _begin(self, state: State, round: int, v: int) -> Any:
        local = state.nodes[v]
        return self.locals.begin(local, round, state.drawn) if self.locals.states[local].begins == round else None

    def _round(self, state: State, round: int, v: int) -> tuple[CallOutcome, ...] | None:
        inbox, local = state.inboxes[v], state.nodes[v]
        if inbox is None and round not in self.locals.states[local].calls:
            return None
        return self.locals.round(local, round, state.drawn, inbox or ())

    def _delivered(self, now: Distribution) -> Distribution:
        """All messages in the inboxes of those they were sent to, and counted."""
        after: dict[State, int] = defaultdict(int)
        number = bits = 0
        for state, weight in now.weights.items():
            inboxes: dict[int, list] = defaultdict(list)
            for v, node in enumerate(state.nodes):
                for port, message in self.locals.states[node].outbox:
                    w, back = self.ports.cross(v, port)
                    inboxes[w].append((back, message))
                    size = message[-1]  # the last field of a message is its number of bits
                    number, bits = number + weight, bits + weight * size
                    self._tally.largest = max(self._tally.largest, size)
            posts = (
                tuple(sorted(inboxes[v], key=lambda pair: pair[0])) if v in inboxes else None
                for v in range(self.protocol.n)
            )
            after[State(tuple(map(self.locals.emptied, state.nodes)), tuple(posts), state.drawn)] += weight
        self._tally.messages += Fraction(number, now.over)
        self._tally.bits += Fraction(bits, now.over)
        return Distribution(after, now.over)

    def _require_room(self, found: int, done: int, total: int, when: str) -> None:
        """Refuse as soon as the states that will be found by the end of this step are too many to be kept."""
        each = PER_STATE + PER_NODE * self.protocol.n
        expected = found * max(1.0, total / done) if done >= min(total, 4096) else found
        needed = (expected + found) * each + len(self.locals.states) * PER_LOCAL
        if needed > self.memory * GIB:
            raise TooManyStates(
                f"{self.protocol.id} with n = {self.protocol.n} has about {expected:,.2g} different states {when} and "
                f"needs about {needed / GIB:.2g} GiB, more than {self.memory:g}; take smaller parameters or a smaller "
                "n, or raise the memory (--memory); run simulates it"
            )
