"""Processes that try to mislead `holding`, by family, with exact values from `verify`: tests and benchmarks.coverage.

With two agents the leader is initiator in half of all steps, independently: a fair coin.
"""

import math
from functools import cache
from typing import NamedTuple

import hegemon as hg
from hegemon import Bit, Group, Parameter, PopulationProtocol, Range, TimeOptimal, Timer, everywhere, exactly
from hegemon.experiments.holding.holding import Holding


class Candle(PopulationProtocol):
    """A leader's candle burns down when it meets a follower and is lit again when it is the initiator."""

    height = Parameter(5, low=1)

    class State:
        leader: Bit
        wax: Range(0, "height")

    def interact(a, b, p):
        if a.leader == 1:
            a.wax = p.height
        elif b.leader == 1:
            if b.wax == 0:
                b.leader = 0
            else:
                b.wax -= 1

    def start_safe(self, rng):
        low = {"leader": 0, "wax": 0}
        return [Group(1, {"leader": 1, "wax": self.height}), Group(self.n - 1, low)]

    safe = exactly(1, lambda a, p: a.leader == 1) & everywhere(lambda a, p: a.leader == 0 or a.wax == p.height)


class OneLeader(PopulationProtocol):
    """All fields are 0 at the start, but for the leader's `leader`."""

    def start_safe(self, rng):
        zero = dict.fromkeys(self.space.bounds, 0)
        return [Group(1, zero | {"leader": 1}), Group(self.n - 1, zero)]

    safe = exactly(1, lambda a, p: a.leader == 1)


class Modes(OneLeader):
    """The leader is lost after `lose` heads in a row; after `switch` tails in a row it needs `then` heads (0: it is
    never lost any more), until `back` tails in a row (0: never) switch back."""

    lose = Parameter(6, low=1)
    switch = Parameter(20, low=1)
    then = Parameter(40, low=0)
    back = Parameter(0, low=0)
    longest = Parameter("max(lose, switch, then, back)", low=1)

    class State:
        leader: Bit
        mode: Bit
        tails: Bit  # what the run is of
        run: Range(0, "longest")

    def interact(a, b, p):
        if a.leader == 1:
            a.run = 1 if a.tails == 1 else min(a.run + 1, p.longest)
            a.tails = 0
            needed = p.lose if a.mode == 0 else p.then
            if needed > 0 and a.run >= needed:
                a.leader = 0
        elif b.leader == 1:
            b.run = 1 if b.tails == 0 else min(b.run + 1, p.longest)
            b.tails = 1
            needed = p.switch if b.mode == 0 else p.back
            if needed > 0 and b.run >= needed:
                b.mode, b.run = 1 - b.mode, 0


class Hidden(OneLeader):
    """The same with a mode that only the parity of a field of middle width shows, which no cell tells apart."""

    lose = Parameter(6, low=1)
    switch = Parameter(20, low=1)
    then = Parameter(40, low=1)
    longest = Parameter("max(lose, switch, then)", low=1)

    class State:
        leader: Bit
        tails: Bit
        tag: Range(0, 5)
        run: Range(0, "longest")

    def interact(a, b, p):
        if a.leader == 1:
            a.run = 1 if a.tails == 1 else min(a.run + 1, p.longest)
            a.tails = 0
            a.tag = (a.tag + 2) % 6
            if a.run >= (p.lose if a.tag % 2 == 0 else p.then):
                a.leader = 0
        elif b.leader == 1:
            b.run = 1 if b.tails == 0 else min(b.run + 1, p.longest)
            b.tails = 1
            if b.tag % 2 == 0 and b.run >= p.switch:
                b.tag = b.tag + 1


class Parity(OneLeader):
    """The same with a mode that no single agent shows: whether the bits of leader and follower differ."""

    lose = Parameter(6, low=1)
    switch = Parameter(20, low=1)
    then = Parameter(40, low=1)
    longest = Parameter("max(lose, switch, then)", low=1)

    class State:
        leader: Bit
        bit: Bit
        tails: Bit
        run: Range(0, "longest")

    def interact(a, b, p):
        differ = a.bit != b.bit
        if a.leader == 1:
            a.run = 1 if a.tails == 1 else min(a.run + 1, p.longest)
            a.tails = 0
            a.bit = 1 - a.bit
            b.bit = 1 - b.bit
            if a.run >= (p.then if differ else p.lose):
                a.leader = 0
        elif b.leader == 1:
            b.run = 1 if b.tails == 0 else min(b.run + 1, p.longest)
            b.tails = 1
            if not differ and b.run >= p.switch:
                b.bit = 1 - b.bit


class Fuse(OneLeader):
    """The leader is lost after `lose` heads in a row, or `length` steps after `light` tails in a row."""

    lose = Parameter(20, low=1)
    light = Parameter(10, low=1)
    length = Parameter(1000, low=1)
    longest = Parameter("max(lose, light, length)", low=1)

    class State:
        leader: Bit
        tails: Bit
        lit: Bit
        run: Range(0, "longest")

    def interact(a, b, p):
        if a.leader == 1:
            if a.lit == 0:
                a.run = 1 if a.tails == 1 else min(a.run + 1, p.longest)
                a.tails = 0
                if a.run >= p.lose:
                    a.leader = 0
        elif b.leader == 1:
            if b.lit == 0:
                b.run = 1 if b.tails == 0 else min(b.run + 1, p.longest)
                b.tails = 1
                if b.run >= p.light:
                    b.lit, b.run = 1, p.longest
        if a.lit == 1 or b.lit == 1:
            if a.lit == 1:
                a.run = max(a.run - 1, 0)
                if a.run + p.length <= p.longest:
                    a.leader = 0
            else:
                b.run = max(b.run - 1, 0)
                if b.run + p.length <= p.longest:
                    b.leader = 0


class Clock(OneLeader):
    """A clock of the leader goes round; only in the last `window` of its `period` steps do `lose` heads in a row lose
    the leader."""

    period = Parameter(100, low=2)
    window = Parameter(20, low=1)
    lose = Parameter(10, low=1)

    class State:
        leader: Bit
        heads: Range(0, "lose")
        time: Range(0, "period - 1")

    def interact(a, b, p):
        if a.leader == 1:
            a.heads = min(a.heads + 1, p.lose) if a.time >= p.period - p.window else 0
            a.time = (a.time + 1) % p.period
            if a.heads >= p.lose:
                a.leader = 0
        elif b.leader == 1:
            b.heads = 0
            b.time = (b.time + 1) % p.period


class Opinions(OneLeader):
    """Followers hold an opinion and adopt the other one when they met it often enough; now and then one changes it.
    The leader is lost after `lose` meetings in a row as responder where it hears opinion 0, and after `then` where it
    hears 1: two modes that single agents show only by their number."""

    lose = Parameter(6, low=1)
    then = Parameter(12, low=1)
    longest = Parameter("max(lose, then)", low=1)

    class State:
        leader: Bit
        opinion: Bit
        doubt: Range(0, 2)
        run: Range(0, "longest")

    def interact(a, b, p):
        if a.leader == 1:
            a.run = 0
            if b.doubt == 2:
                b.doubt = 0
        elif b.leader == 1:
            b.run = min(b.run + 1, p.longest)
            if b.run >= (p.then if a.opinion == 1 else p.lose):
                b.leader = 0
        elif a.opinion != b.opinion:
            if b.doubt == 2:
                b.opinion, b.doubt = a.opinion, 0
            else:
                b.doubt += 1
        elif a.doubt == 2:
            b.opinion, a.doubt = 1 - b.opinion, 0  # noise
        else:
            a.doubt += 1


class Case(NamedTuple):
    protocol: PopulationProtocol
    graph: str | None = None
    start: str = "safe"

    def __str__(self) -> str:
        return " ".join(str(part) for part in self if part)


FAMILIES = {
    "timers": [
        Case(Timer(n=3, s=3)),
        Case(Timer(n=3, s=12)),
        Case(Timer(n=3, s=36)),
        Case(Timer(n=3, s=12), None, "barely-safe"),
        Case(Timer(n=4, s=6)),
        Case(Timer(n=4, s=20)),
        Case(Timer(n=6, s=7)),
        Case(TimeOptimal(n=3)),
        Case(TimeOptimal(n=4, r_max=8, b_max=8)),
    ],
    "candles": [Case(Candle(n=4, height=8)), Case(Candle(n=8, height=40)), Case(Candle(n=8, height=63))],
    "rings": [
        Case(Timer(n=4, s=9), "ring:4"),
        Case(Timer(n=5, s=5), "ring:5"),
        Case(Candle(n=5, height=30), "ring:5"),
        Case(Modes(n=4, lose=6, switch=5, then=8), "ring:4"),
    ],
    "modes, rare": [Case(Modes(n=2, lose=6, switch=switch, then=2 * switch)) for switch in (20, 30, 60)],
    "modes, slow": [
        Case(Modes(n=2, lose=18, switch=12, then=20)),
        Case(Modes(n=2, lose=18, switch=19, then=21)),
        Case(Modes(n=2, lose=13, switch=12, then=60)),
        Case(Modes(n=2, lose=18, switch=16, then=12)),
        Case(Modes(n=2, lose=12, switch=14, then=16, back=14)),
    ],
    "modes, fast": [
        Case(Modes(n=2, lose=18, switch=4, then=20)),
        Case(Modes(n=2, lose=20, switch=16, then=4)),
        Case(Modes(n=2, lose=10, switch=4, then=30, back=4)),
        Case(Modes(n=3, lose=12, switch=3, then=14, back=2)),
    ],
    "modes, hidden": [
        Case(Hidden(n=2, lose=6, switch=20, then=40)),
        Case(Hidden(n=2, lose=14, switch=10, then=18)),
        Case(Parity(n=2, lose=14, switch=10, then=18)),
        Case(Parity(n=2, lose=10, switch=4, then=14)),
    ],
    "several ways": [
        Case(Fuse(n=2, lose=12, light=12, length=5)),
        Case(Fuse(n=2, lose=16, light=10, length=60)),
        Case(Fuse(n=2, lose=20, light=14, length=400)),
        Case(Fuse(n=2, lose=25, light=20, length=400)),
    ],
    "periodic": [
        Case(Clock(n=2, period=40, window=20, lose=12)),
        Case(Clock(n=2, period=150, window=12, lose=10)),
    ],
    "traps": [
        Case(Modes(n=2, lose=12, switch=12, then=0)),
        Case(Modes(n=2, lose=6, switch=24, then=0)),
        Case(Modes(n=2, lose=10, switch=40, then=0)),
        Case(Modes(n=2, lose=8, switch=10, then=0, back=12)),
    ],
    "opinions": [Case(Opinions(n=5, lose=8, then=12)), Case(Opinions(n=4, lose=10, then=10))],
}


@cache
def exact(case: Case) -> float:
    """Expected steps until the leader is lost; infinite where it may be held forever."""
    if type(case.protocol) is Modes and case.protocol.n == 2 and not case.protocol.back:
        return exact_modes(case.protocol)
    found = hg.verify(case.protocol, property="holding", graph=case.graph, start=case.start).holding
    return found.from_starts[case.start]


def exact_modes(protocol: Modes) -> float:
    """The same for two agents and a mode that is never left, at any size: the first of two runs of a fair coin ends it,
    where a run of k takes 2^(k + 1) - 2 steps on average."""
    lose, switch, then = (2.0 ** (k + 1) - 2 for k in (protocol.lose, protocol.switch, protocol.then or math.inf))
    return lose * switch / (lose + switch) + lose / (lose + switch) * then


def measured(case: Case, seed: int, budget: int = 10**7) -> Holding:
    return hg.holding(
        case.protocol, graph=case.graph, start=case.start, seed=seed, relative=0.5, budget=budget, workers=1
    )


def covers(found: Holding, truth: float) -> bool:
    low, high = found.interval
    return low <= truth <= (math.inf if high is None else high)
