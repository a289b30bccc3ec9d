"""Engine `tokens`: walks of ranked tokens on any graph, merged per node, and the way back of their survivors.

Memory that is never written costs nothing (it comes zeroed from the system), and every round visits only
the nodes that hold tokens: time follows the messages. Ranks are places in their order, 1 the lowest; 0 is ⊥.
"""

from typing import Any

import numpy as np

from hegemon.compute.border import ingredient
from hegemon.compute.compilation import specialize
from hegemon.compute.randomness import KERNEL, next_below, next_word, stream
from hegemon.engines.messages.contacts import draw_ranks
from hegemon.engines.messages.engine import MessageEngine, MessageOutcome
from hegemon.engines.pacing import Pace
from hegemon.graphs.topology import Topology
from hegemon.models.messages import MessageProtocol, failure
from hegemon.process.messages.surroundings import Surroundings

LARGEST_GRAPH = 2**26  # nodes, 56 bytes each
ALIVE, MESSAGES, MET = 0, 1, 2  # what `counts` counts: nodes that hold tokens, messages, nodes where ranks met

NODE = np.dtype(
    [
        ("winner", np.int32),  # winner-so-far
        ("own", np.int32),  # the rank of a candidate
        ("origin", np.int64),  # where the first token of the winner came from
        ("held", np.int64),  # tokens of the winner, or notifications on their way back
        ("best", np.int32),  # of the round `seen`: the best rank received, how many tokens of it, from whom
        ("met", np.int32),  # whether tokens of different ranks met here
        ("received", np.int64),
        ("sender", np.int64),
        ("seen", np.int64),
    ]
)

NO_ROWS = np.zeros(0, np.int64), np.zeros(0, np.int32)  # of an implicit complete graph
for _array in NO_ROWS:
    _array.setflags(write=False)  # as those of a Topology: one compiled kernel serves both


@ingredient()
def neighbour(v, port, offsets, targets):  # type: ignore[no-untyped-def]
    """On an implicit complete graph there are no targets."""
    if len(targets) == 0:
        return port + (1 if port >= v else 0)
    return np.int64(targets[offsets[v] + port])


@ingredient()
def touch(nodes, w, round, touched, number):  # type: ignore[no-untyped-def]
    """At the first call in a round: reset what node w has received, and list w in `touched`."""
    if nodes[w].seen != round:
        nodes[w].seen = round
        nodes[w].best = 0
        nodes[w].received = 0
        touched[number] = w
        number += 1
    return number


@ingredient()
def mark_meeting(nodes, w, counts):  # type: ignore[no-untyped-def]
    counts[MET] += 1 - nodes[w].met
    nodes[w].met = 1


@ingredient()
def send_tokens(nodes, v, w, rank, count, round, touched, number, counts):  # type: ignore[no-untyped-def]
    """One message ⟨rank, count⟩ from v to w; tokens below the best of the round are discarded (line 5)."""
    counts[MESSAGES] += 1
    number = touch(nodes, w, round, touched, number)
    if nodes[w].best != 0 and nodes[w].best != rank:
        mark_meeting(nodes, w, counts)
    if rank > nodes[w].best:
        nodes[w].best = rank
        nodes[w].received = count
        nodes[w].sender = v
    elif rank == nodes[w].best:
        nodes[w].received += count
        nodes[w].sender = min(nodes[w].sender, v)  # arbitrary in line 7: the lowest port
    return number


@ingredient()
def movers(tokens, rng):  # type: ignore[no-untyped-def]
    """How many of the tokens leave in a lazy step: a fair coin each."""
    moving = 0
    while tokens > 0:
        word = next_word(rng)
        for _ in range(min(tokens, 64)):
            moving += np.int64(word & np.uint64(1))
            word >>= np.uint64(1)
        tokens -= 64
    return moving


def move_tokens(nodes, alive, counts, first, last, lazy, offsets, targets, rng, scratch):  # type: ignore[no-untyped-def]
    """The rounds first..last of the walks. `alive` lists the nodes that hold tokens."""
    touched = np.empty_like(alive)
    ports = np.empty(len(alive), np.int64)
    for round in range(first, last + 1):
        number = 0
        for index in range(counts[ALIVE]):
            v = alive[index]
            rank, tokens = nodes[v].winner, nodes[v].held
            moving = movers(tokens, rng) if lazy else tokens
            nodes[v].held = tokens - moving
            if moving < tokens:
                number = touch(nodes, v, round, touched, number)
            degree = len(nodes) - 1 if len(targets) == 0 else offsets[v + 1] - offsets[v]
            if degree <= len(scratch) and degree <= 4 * moving:
                for _ in range(moving):
                    scratch[next_below(rng, degree)] += 1
                for port in range(degree):
                    if scratch[port] > 0:
                        w = neighbour(v, port, offsets, targets)
                        number = send_tokens(nodes, v, w, rank, scratch[port], round, touched, number, counts)
                        scratch[port] = 0
                continue
            for k in range(moving):
                ports[k] = next_below(rng, degree)
            chosen = ports[:moving]
            if moving > 1:
                chosen.sort()
            start = 0
            while start < moving:
                end = start
                while end < moving and chosen[end] == chosen[start]:
                    end += 1
                w = neighbour(v, chosen[start], offsets, targets)
                number = send_tokens(nodes, v, w, rank, end - start, round, touched, number, counts)
                start = end
        counts[ALIVE] = 0
        for index in range(number):
            w = touched[index]
            best = nodes[w].best
            if best > nodes[w].winner:  # lines 6 and 7; tokens that stayed here can no longer win
                if nodes[w].winner != 0:
                    mark_meeting(nodes, w, counts)
                nodes[w].winner = best
                nodes[w].origin = nodes[w].sender
                nodes[w].held = nodes[w].received
            elif best == nodes[w].winner:
                nodes[w].held += nodes[w].received
            elif best != 0:
                mark_meeting(nodes, w, counts)
            if nodes[w].held > 0:
                alive[counts[ALIVE]] = w
                counts[ALIVE] += 1


def notify(nodes, alive, counts, first, last):  # type: ignore[no-untyped-def]
    """The rounds first..last of the way back: counts add up at the nodes of the same winner, and end at it."""
    touched = np.empty_like(alive)
    for round in range(first, last + 1):
        number = 0
        waiting = 0
        for index in range(counts[ALIVE]):
            v = alive[index]
            if nodes[v].own == nodes[v].winner:  # the candidate itself: it keeps the count in `held`
                continue
            w = nodes[v].origin
            counts[MESSAGES] += 1
            if nodes[w].winner == nodes[v].winner:
                number = touch(nodes, w, round, touched, number)
                nodes[w].received += nodes[v].held
            nodes[v].held = 0
        for index in range(number):
            w = touched[index]
            nodes[w].held += nodes[w].received
            alive[waiting] = w
            waiting += 1
        counts[ALIVE] = waiting


class TokensEngine(MessageEngine):
    """One run of a protocol with the pattern `Tokens`: all candidates begin at once."""

    name = "tokens"

    @classmethod
    def suits(cls, topology: Topology, around: Surroundings) -> bool:
        return topology.n <= LARGEST_GRAPH and around.wake.name == "all" and around.is_reliable

    def __init__(self, protocol: MessageProtocol, topology: Topology, around: Surroundings, seed: int, trial: int):
        super().__init__(protocol, topology, around, seed, trial)
        self.pattern, self.candidates = protocol.pattern, self.chosen
        self.ranks = 1 + draw_ranks(len(self.candidates), self.pattern.ranks, seed, trial)
        self.rng = stream(seed, trial, KERNEL)
        self.nodes = np.zeros(protocol.n, NODE)
        self.nodes["winner"][self.candidates] = self.nodes["own"][self.candidates] = self.ranks
        self.nodes["held"][self.candidates] = self.pattern.tokens
        if topology.is_complete:
            self.rows = NO_ROWS
            self.scratch = np.zeros(min(topology.n, 4 * self.pattern.tokens + 1), np.int64)
        else:
            self.rows = topology.offsets, topology.targets
            self.scratch = np.zeros(int(topology.degrees.max()), np.int64)

        c = len(self.candidates)
        self.alive = np.zeros(max(1, c * self.pattern.tokens), np.int64)
        self.alive[:c] = self.candidates
        self.counts = np.array([c, 0, 0])
        self.made = 0  # rounds
        self.back = 0  # messages that were sent before the way back

    def freeze(self) -> tuple[Any, ...]:
        touched = np.flatnonzero(self.nodes["seen"] | self.nodes["own"])
        alive = self.alive[: self.counts[ALIVE]].copy()
        return self.made, (touched, self.nodes[touched], alive, self.counts.copy(), self.back, self.rng.copy())

    def thaw(self, frozen: tuple[int, Any]) -> None:
        self.made, (touched, nodes, alive, self.counts, self.back, self.rng) = frozen
        self.nodes[touched] = nodes
        self.alive[: len(alive)] = alive

    def play(self, limit: int | None) -> MessageOutcome:
        c, steps, tokens = len(self.candidates), self.pattern.steps, self.pattern.tokens
        end = 2 * steps if c else 1
        stop = end if limit is None else min(end, limit)
        c = c if stop else 0  # within no rounds nobody has begun
        alive, counts = self.alive, self.counts
        way = self.pattern.lazy, *self.rows, self.rng, self.scratch
        interrupted = False
        pace, made = Pace(16), self.made
        while made < stop:
            first, last = made + 1, min(made + pace.amount, stop, steps if made < steps else stop)
            pace.start()
            if first <= steps:
                specialize(move_tokens)(self.nodes, alive, counts, first, last, *way)
                self.back = int(counts[MESSAGES])
            else:
                specialize(notify)(self.nodes, alive, counts, first, last)
            pace.done(last - made)
            self.made = made = last
            if self.is_cancelled(made):
                interrupted, stop = made < end, made
        finished = stop == end
        ended = self.nodes[self.candidates]
        elected = (ended["held"] == tokens) & (ended["winner"] == self.ranks) & finished
        out, home = self.back, int(counts[MESSAGES]) - self.back
        measures = {
            "messages": out + home,
            "bits": out * self.pattern.token_bits + home * self.pattern.win_bits,
            "largest_message": max(self.pattern.token_bits if out else 0, self.pattern.win_bits if home else 0),
            "candidates": c,
            "shared_referees": int(counts[MET]),
            "cause": failure(self.ranks[elected].tolist(), self.ranks[:c].tolist()),
        }
        return MessageOutcome(stop, finished, int(elected.sum()), measures, interrupted)
