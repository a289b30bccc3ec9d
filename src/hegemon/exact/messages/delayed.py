"""All runs in which messages take time: as engine `asynchronous`, with whole numbers of rounds as delays."""

import math
from collections import defaultdict
from fractions import Fraction
from itertools import product
from typing import Any, cast

from hegemon.exact.messages.distributions import Distribution, Passage, State
from hegemon.exact.messages.enumeration import Enumeration
from hegemon.process.messages.links import UniformDelay

Ways = dict[tuple[Passage, ...], Fraction]  # the messages in flight, and their probability


class DelayedEnumeration(Enumeration):
    """Every message that arrives is an event of its own."""

    @property
    def delays(self) -> range:
        law = cast(UniformDelay, self.around.delay)
        return range(law.low, law.high + 1)

    def _played(self, now: Distribution, round: int) -> Distribution:
        """One round: nodes that wake up begin, messages arrive one by one, requested calls follow at the end."""
        for v in range(self.protocol.n):
            now = self._departed(self._stepped(now, round, v, self._begin), round - 1)
        waiting, done = now, Distribution({}, 1)
        while waiting.weights:
            arriving: dict[int, dict[State, int]] = defaultdict(dict)  # by the node that is called
            for state, weight in waiting.weights.items():
                first = state.flying[0] if state.flying and state.flying[0].arrival == round else None
                arriving[-1 if first is None else first.target][state] = weight
            done = done.joined(Distribution(arriving.pop(-1, {}), waiting.over))
            following = Distribution({}, 1)
            for v, weights in arriving.items():
                opened: dict[State, int] = defaultdict(int)
                for state, weight in weights.items():
                    opened[self._opened(state, round)] += weight
                heard = self._stepped(Distribution(opened, waiting.over), round, v, self._hear)
                following = following.joined(self._departed(heard, round))
            waiting = following.reduced()
        for v in range(self.protocol.n):
            done = self._departed(self._stepped(done, round, v, self._round), round)
        return done

    def _opened(self, state: State, round: int) -> State:
        """Put the first message into the inbox of its target, unless the target has crashed."""
        return state._replace(inboxes=self._inboxes(state.flying[:1], state.nodes, round), flying=state.flying[1:])

    def _hear(self, state: State, round: int, v: int) -> Any:
        inbox = state.inboxes[v]
        return None if inbox is None else self.locals.hear(state.nodes[v], round, state.drawn, inbox)

    def _departed(self, now: Distribution, time: int) -> Distribution:
        """Put what was sent at this time in flight: lost, doubled, each message with its own delay."""
        after: dict[State, Fraction] = defaultdict(Fraction)
        for done, (state, weight) in self._counted(f"time {time}, messages leave", now.weights.items()):
            sent = sorted(self._sent(state.nodes), key=lambda passage: (passage.source, passage.port))
            self._count(sent, Fraction(weight, now.over))
            ways: Ways = {state.flying: Fraction(weight, now.over)}
            for passage in sent:
                most = len(ways) * len(self.delays) ** (2 if self.around.duplicate else 1)
                self._require_room(len(after) + most, done, len(now.weights), f"at time {time}")
                ways = self._on_their_ways(ways, passage, time)
            nodes = tuple(map(self.locals.emptied, state.nodes)) if sent else state.nodes
            for flying, share in ways.items():
                after[state._replace(nodes=nodes, flying=flying)] += share
        over = math.lcm(*{share.denominator for share in after.values()})
        return Distribution({state: int(share * over) for state, share in after.items()}, over)

    def _on_their_ways(self, ways: Ways, passage: Passage, time: int) -> Ways:
        around, delays = self.around, self.delays
        after: Ways = defaultdict(Fraction)
        for flying, share in ways.items():
            if around.loss:
                after[flying] += share * around.loss
            for copies, chance in ((1, 1 - around.duplicate), (2, around.duplicate)):
                each = share * (1 - around.loss) * chance / len(delays) ** copies
                for drawn in product(delays, repeat=copies) if each else ():
                    after[self._joined(flying, passage, [time + delay for delay in drawn])] += each
        return after

    def _joined(self, flying: tuple[Passage, ...], passage: Passage, arrivals: list[int]) -> tuple[Passage, ...]:
        for arrival in arrivals:
            if self.around.order == "fifo":
                link = passage.source, passage.port
                arrival = max([arrival, *(ahead.arrival for ahead in flying if (ahead.source, ahead.port) == link)])
            flying = tuple(sorted((*flying, passage._replace(arrival=arrival)), key=lambda flown: flown.arrival))
        return flying
