"""The distribution over the states of all nodes, round by round; equal states are merged as they arise.

Nodes are called one after the other, and states merged after each: the outcomes of many nodes are never multiplied out.
Probabilities are whole numbers over one denominator per distribution. Rounds in which nothing happens are skipped, as
in engine `nodes`.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, TypeVar

from hegemon.display import Show
from hegemon.errors import InvalidInput
from hegemon.exact.messages.distributions import Distribution, Passage, State, Tally
from hegemon.exact.messages.frozen import renumbered
from hegemon.exact.messages.nodes import CallOutcome, Local, LocalStates, Post
from hegemon.graphs.topology import Topology
from hegemon.models.messages import MessageProtocol
from hegemon.models.node_calls import cause, measured
from hegemon.process.messages.crashes import possible_crashes
from hegemon.process.messages.ports import ports_of
from hegemon.process.messages.surroundings import Surroundings

GIB = 2**30
PER_STATE, PER_NODE, PER_LOCAL = 700, 24, 3000  # bytes: a state with its probability, per node; a node's knowledge
NEGLIGIBLE = Fraction(1, 10**12)  # a run that lasts longer with at most this probability is not followed on
MOST_ROUNDS = 2000
CHECKED_EVERY = 256  # states between two checks of the memory that is left
Item = TypeVar("Item")


class TooManyStates(InvalidInput):
    """The states do not fit into the memory that was granted."""


class Enumeration:
    """One enumeration of all runs."""

    def __init__(
        self, protocol: MessageProtocol, topology: Topology, around: Surroundings, memory: float,
        progress: Show | None, ordered: bool,
    ):  # fmt: skip
        self.protocol, self.topology, self.around, self.progress = protocol, topology, around, progress
        self.ports = ports_of(topology)
        self.locals = LocalStates(protocol, ordered)
        self.memory = memory
        self._tally = Tally(ordered=ordered)

    def tally(self, least: int | None) -> Tally:
        """The totals over all runs."""
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
        """Identifiers are arranged, and each node begins by itself with the probability of `initiation`, in the round
        in which it is woken."""
        begins, over = Fraction(self.protocol.initiation).as_integer_ratio()
        n, names = self.protocol.n, self.around.identifiers
        ways = math.prod(math.comb(n, crash.nodes) for crash in self.around.crashes if crash.node is None)
        ways *= math.factorial(min(n, 20)) if names.are_drawn else 1
        self._require_room(min(ways, 10**18), 1, 1, "at the beginning")
        crashes = possible_crashes(self.around.crashes, n)
        arrangements = list(product(names.possible(), crashes))
        beginnings: dict[State, int] = defaultdict(int)
        for done, (identifiers, ends) in self._counted("ways to begin", arrangements):
            options: dict[tuple[int, ...], int] = {(): 1}
            denominator = len(arrangements)
            for v in range(n):
                rounds = self.around.wake.possible(v)
                blank = Local(self.ports.degree(v), None, identifier=identifiers[v], crash=ends[v])
                own = [(self.locals.number(blank), (over - begins) * len(rounds))]
                own += [
                    (self.locals.number(blank._replace(begins=round if blank.lives(round) else None)), begins)
                    for round in rounds
                ]
                before, options = options, defaultdict(int)
                for (nodes, weight), (local, share) in product(before.items(), own):
                    if share:
                        options[(*nodes, local)] += weight * share
                denominator *= over * len(rounds)
                self._require_room(len(beginnings) + len(options), done, len(arrangements), "at the beginning")
            for nodes, weight in options.items():
                beginnings[State(nodes, (None,) * n, ())] += weight
        return Distribution(beginnings, denominator)

    def _sort_in(self, agenda: dict[int, Distribution], reached: Distribution, round: int) -> None:
        """Put every state into the next round in which anything happens, and finished runs into the tally."""
        self._tally.states += len(reached.weights)
        parts: dict[int, dict[State, int]] = defaultdict(dict)
        for _, (state, weight) in self._counted(f"after round {round}", reached.weights.items()):
            ahead = self._next_round(state, round)
            if ahead is None:
                self._finish(state, Fraction(weight, reached.over), max(1, round))
            else:
                parts[ahead][state] = weight
        for ahead, weights in parts.items():
            part = Distribution(weights, reached.over).reduced()
            agenda[ahead] = agenda[ahead].joined(part) if ahead in agenda else part

    def _next_round(self, state: State, round: int) -> int | None:
        rounds = [passage.arrival for passage in state.flying[:1]]  # the first one arrives first
        for node in state.nodes:
            local = self.locals.states[node]
            if local.outbox:
                return round + 1
            rounds.extend(local.calls)
            if local.begins is not None:
                rounds.append(local.begins)
        return min(rounds, default=None)

    def _finish(self, state: State, chance: Fraction, round: int) -> None:
        elected = [node for node in state.nodes if self.locals.is_elected(node)]
        leaders = sum(self.locals.states[node].lives(round) for node in elected)
        self._tally.ends[leaders, round] += chance
        acted = [
            self.locals.thawed(node, None) for node in state.nodes if self.locals.states[node].variables is not None
        ]
        measures = measured(self.protocol, acted, {})
        reason = cause(True, leaders, len(elected) - leaders, measures.pop("cause", None))
        self._tally.causes[reason or "elected"] += chance
        for name, value in measures.items():
            if isinstance(value, int | float):
                self._tally.measures[name] += chance * Fraction(value)

    def _played(self, now: Distribution, round: int) -> Distribution:
        """One round: nodes that wake up begin, messages are delivered, nodes with messages or requested calls act."""
        for v in range(self.protocol.n):
            now = self._stepped(now, round, v, self._begin)
        now = self._delivered(now, round)
        for v in range(self.protocol.n):
            now = self._stepped(now, round, v, self._round)
        return now

    def _stepped(self, now: Distribution, round: int, v: int, outcomes_of: Callable[..., Any]) -> Distribution:
        """The distribution after node v has been called in the states in which it is called."""
        stage = f"round {round}, node {v}"
        following = [outcomes_of(state, round, v) for _, state in self._counted(f"{stage} is called", now.weights)]
        scale = math.lcm(*{outcome.below for outcomes in following for outcome in outcomes or ()})
        after: dict[State, int] = defaultdict(int)
        after_calls = list(zip(now.weights.items(), following, strict=True))
        for done, ((state, weight), outcomes) in self._counted(f"{stage} has moved", after_calls):
            if outcomes is None:
                after[state] += weight * scale
                continue
            for outcome in outcomes:
                after[self._moved(state, v, outcome)] += weight * outcome.above * (scale // outcome.below)
            if done % CHECKED_EVERY == 0:
                self._require_room(len(after), done, len(following), f"in round {round}")
        return Distribution(after, now.over * scale)

    def _moved(self, state: State, v: int, outcome: CallOutcome) -> State:
        """The state after one outcome of a call of node v. Numbers that it drew change the places of others."""
        nodes = (*state.nodes[:v], outcome.local, *state.nodes[v + 1 :])
        inboxes = (*state.inboxes[:v], None, *state.inboxes[v + 1 :])
        if outcome.places:
            renumber, places = self.locals.renumber, dict(outcome.places)
            nodes = tuple(node if w == v else renumber(node, outcome.places) for w, node in enumerate(nodes))
            inboxes = tuple(post and renumbered(post, places) for post in inboxes)
            flying = tuple(passage._replace(message=renumbered(passage.message, places)) for passage in state.flying)
            return State(nodes, inboxes, outcome.drawn, flying)
        return State(nodes, inboxes, outcome.drawn, state.flying)

    def _begin(self, state: State, round: int, v: int) -> Any:
        local = state.nodes[v]
        return self.locals.begin(local, round, state.drawn) if self.locals.states[local].begins == round else None

    def _round(self, state: State, round: int, v: int) -> tuple[CallOutcome, ...] | None:
        inbox, local = state.inboxes[v], state.nodes[v]
        if inbox is None and round not in self.locals.states[local].calls:
            return None
        return self.locals.round(local, round, state.drawn, inbox or ())

    def _delivered(self, now: Distribution, round: int) -> Distribution:
        """Count all messages, and put those that are not lost into the inboxes of their targets."""
        lost, over = self.around.loss.as_integer_ratio()
        sent = {state: self._sent(state.nodes) for state in now.weights}
        most = max(map(len, sent.values()), default=0) if lost else 0
        after: dict[State, int] = defaultdict(int)
        for done, (state, weight) in self._counted(f"round {round}, messages arrive", now.weights.items()):
            self._count(sent[state], Fraction(weight, now.over))
            nodes = tuple(map(self.locals.emptied, state.nodes))
            ways: list[tuple[tuple[Passage, ...], int]] = [
                ((), weight * over ** (most - len(sent[state]) * bool(lost)))
            ]
            for passage in sent[state]:
                kept = [((*before, passage), share * (over - lost)) for before, share in ways]
                ways = kept + [(before, share * lost) for before, share in ways] if lost else kept
                self._require_room(len(after) + len(ways), done, len(sent), f"in round {round}")
            for arrived, share in ways:
                after[State(nodes, self._inboxes(arrived, nodes, round), state.drawn)] += share
        return Distribution(after, now.over * over**most)

    def _sent(self, nodes: tuple[int, ...]) -> list[Passage]:
        """What these nodes send now."""
        passages = []
        for v, node in enumerate(nodes):
            for port, message in self.locals.states[node].outbox:
                w, back = self.ports.cross(v, port)
                passages.append(Passage(0, v, port, w, back, message))
        return passages

    def _inboxes(self, arrived: tuple[Passage, ...], nodes: tuple[int, ...], round: int) -> tuple[Post | None, ...]:
        inboxes: dict[int, list[Any]] = defaultdict(list)
        for passage in arrived:
            if self.locals.states[nodes[passage.target]].lives(round):
                inboxes[passage.target].append((passage.back, passage.message))
        return tuple(
            tuple(sorted(inboxes[v], key=lambda pair: pair[0])) if v in inboxes else None for v in range(len(nodes))
        )

    def _count(self, sent: Sequence[Passage], chance: Fraction) -> None:
        sizes = [passage.message[-1] for passage in sent]  # the last field of a message is its number of bits
        self._tally.messages += chance * len(sizes)
        self._tally.bits += chance * sum(sizes)
        self._tally.largest = max([self._tally.largest, *sizes])

    def _counted(self, stage: str, items: Collection[Item]) -> Iterator[tuple[int, Item]]:
        """The items, counted from 1. Their number is shown before the first."""
        for done, item in enumerate(items, 1):
            if self.progress and done % CHECKED_EVERY == 1:
                self.progress(stage, done - 1, len(items))
            yield done, item

    def _require_room(self, states: int, done: int, total: int, when: str) -> None:
        """Raise TooManyStates as soon as the states expected by the end of this step do not fit in memory."""
        each = PER_STATE + PER_NODE * self.protocol.n
        expected = states * max(1.0, total / done) if done >= min(total, 4096) else states
        needed = (expected + states) * each + len(self.locals.states) * PER_LOCAL
        if needed > self.memory * GIB:
            raise TooManyStates(
                f"{self.protocol.id} with n = {self.protocol.n} has about {expected:,.2g} different states {when} and "
                f"needs about {needed / GIB:.2g} GiB, more than {self.memory:g}; take smaller parameters or a smaller "
                "n, or raise the memory (--memory); run simulates it"
            )
