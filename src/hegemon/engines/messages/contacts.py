"""Engine `contacts`: candidates contact random nodes of a complete graph, of any size, by ranks.

Only contacts are kept, one number each, sorted so that those of one node stand together: time and memory
follow the messages, whatever n is. The course of events is that of the pattern `Contacts`; ranks matter
only by their order.
"""

from typing import Any

import numpy as np

from hegemon.compute.border import ingredient
from hegemon.compute.compilation import specialize
from hegemon.compute.randomness import KERNEL, START, next_below, python_generator, stream
from hegemon.engines.messages.clouds import MOST_CLOUDS, closure, cloud_measures, cloud_sizes, many_clouds
from hegemon.engines.messages.engine import MessageEngine, MessageOutcome
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.messages import MessageProtocol, failure
from hegemon.process.messages.surroundings import Surroundings

LARGEST_NUMBER = 2**28  # contacts in memory: 2 GiB
AT_ONCE = 1 << 20  # contacts between two reports of progress
NEVER = np.iinfo(np.int64).max


def draw_contacts(nodes, first, last, n, number, rng, keys):  # type: ignore[no-untyped-def]
    """`number` different nodes other than itself for the candidates first..last-1 (Floyd's sampling), as keys
    node * c + index."""
    c = len(nodes)
    slots = 4
    while slots < 2 * number:
        slots *= 2
    table = np.empty(slots, np.int64)
    at = first * number
    for index in range(first, last):
        table[:] = -1
        for bound in range(n - 1 - number, n - 1):
            port = next_below(rng, bound + 1)
            slot = find(table, port)
            if table[slot] == port:
                port = bound
                slot = find(table, port)
            table[slot] = port
            keys[at] = (port + (1 if port >= nodes[index] else 0)) * c + index
            at += 1


@ingredient()
def find(table, key):  # type: ignore[no-untyped-def]
    """The slot that holds the key, or the empty one where it belongs: open addressing, Fibonacci hashing."""
    mask = len(table) - 1
    slot = ((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & np.uint64(mask)
    place = np.int64(slot)
    while table[place] != -1 and table[place] != key:
        place = (place + 1) & mask
    return place


def referee(keys, nodes, ranks, rounds, limit, wins, leads_to, alone, heard):  # type: ignore[no-untyped-def]
    """Go through the contacts node by node; returns how many answered, were shared, and answered on a contact.

    Of the candidates that contacted it in its first round, a referee answers the one with the highest rank, in
    the round after (if that is not beyond `limit`); among equal ranks, the one at the lowest port (lowest index).
    For the clouds (if `leads_to` is not empty): `leads_to[i, j]` when a message went from i or its referees
    to j; `alone[i]` counts the nodes in no other cloud; `heard[i]` is the first round in which i was contacted.
    """
    c = len(nodes)
    answers = shared = merged = 0
    candidate = 0  # the first candidate whose node is not behind the present one
    start = 0
    while start < len(keys):
        node = keys[start] // c
        best = keys[start] - node * c
        end = start
        while end < len(keys) and keys[end] < (node + 1) * c:
            i = keys[end] - node * c
            if rounds[i] < rounds[best] or (rounds[i] == rounds[best] and ranks[i] > ranks[best]):
                best = i
            end += 1
        while candidate < c and nodes[candidate] < node:
            candidate += 1
        is_candidate = candidate < c and nodes[candidate] == node
        answered = rounds[best] < limit
        if answered:
            answers += 1
            wins[best] += 1
        if end - start > 1:
            shared += 1
        if is_candidate:
            heard[candidate] = rounds[best]
            if answered and rounds[candidate] == rounds[best] + 1:
                key = nodes[best] * c + candidate
                at = np.searchsorted(keys, key)
                merged += at < len(keys) and keys[at] == key
        if len(leads_to):
            for k in range(start, end):
                i = keys[k] - node * c
                leads_to[i, best] |= answered
                if is_candidate:
                    leads_to[i, candidate] = True
            if is_candidate:
                leads_to[candidate, best] |= answered
                alone[candidate] -= 1
            elif end - start == 1:
                alone[best] += 1
        start = end
    return answers, shared, merged


def list_shared(keys, nodes):  # type: ignore[no-untyped-def]
    """The nodes that several clouds may hold (contacted twice, or candidates), as bounds into a list of candidates."""
    c = len(nodes)
    bounds = [0]
    owners = [np.int64(0) for _ in range(0)]
    candidate = 0
    start = 0
    while start < len(keys):
        node = keys[start] // c
        end = start
        while end < len(keys) and keys[end] < (node + 1) * c:
            end += 1
        while candidate < c and nodes[candidate] < node:
            candidate += 1
        is_candidate = candidate < c and nodes[candidate] == node
        if end - start > 1 or is_candidate:
            for k in range(start, end):
                owners.append(keys[k] - node * c)
            if is_candidate:
                owners.append(candidate)
            bounds.append(len(owners))
        start = end
    return np.array(bounds), np.array(owners)


class ContactsEngine(MessageEngine):
    """One run of a protocol with the pattern `Contacts`."""

    name = "contacts"

    @classmethod
    def suits(cls, topology: Topology, around: Surroundings) -> bool:
        return topology.is_complete and around.is_reliable

    def __init__(self, protocol: MessageProtocol, topology: Topology, around: Surroundings, seed: int, trial: int):
        super().__init__(protocol, topology, around, seed, trial)
        self.pattern = protocol.pattern
        self.nodes, self.rounds = self.chosen, self.waking
        self.ranks = draw_ranks(len(self.nodes), self.pattern.ranks, seed, trial)
        self.rng = stream(seed, trial, KERNEL)
        self.drawn, self.keys = 0, np.empty(0, np.int64)  # candidates whose contacts stand in `keys`

    def freeze(self) -> tuple[Any, ...]:
        return 0, (self.drawn, self.keys[: self.drawn * self.pattern.contacts].copy(), self.rng.copy())

    def thaw(self, frozen: tuple[int, Any]) -> None:
        _, (self.drawn, self.keys, self.rng) = frozen

    def play(self, limit: int | None) -> MessageOutcome:
        limit = NEVER if limit is None else min(limit, NEVER)
        last = int(self.rounds.max(initial=0)) + 1
        c, s, n = len(self.nodes), self.pattern.contacts, self.protocol.n
        self._require_memory(c, s)
        keys = np.empty(c * s, np.int64)
        keys[: len(self.keys)] = self.keys
        self.keys = keys
        each = max(1, AT_ONCE // max(1, s))
        for first in range(self.drawn, c, each):
            self.drawn = min(first + each, c)
            specialize(draw_contacts)(self.nodes, first, self.drawn, n, s, self.rng, keys)
            if self.is_cancelled(0):
                return MessageOutcome(0, False, 0, self._count(0, 0, 0), interrupted=True)
        keys = self._until(limit, keys)
        c = len(self.nodes)
        keys.sort()
        watched = c if self.protocol.records_clouds and c <= MOST_CLOUDS else 0
        wins, alone, heard = np.zeros(c, np.int64), np.ones(c, np.int64), np.full(c, NEVER)
        leads_to = np.zeros((watched, watched), np.bool_)
        judge = specialize(referee)
        answers, shared, merged = judge(keys, self.nodes, self.ranks, self.rounds, limit, wins, leads_to, alone, heard)
        elected = (wins == s) & (self.rounds < limit)
        leaders = int(elected.sum())
        told = leaders if self.pattern.inform_bits and last < limit else 0
        last += leaders > 0 and self.pattern.inform_bits > 0
        measures = self._count(c * s, answers - merged, told * (n - 1))
        measures |= {
            "candidates": c,
            "shared_referees": shared,
            "cause": failure(self.ranks[elected].tolist(), self.ranks.tolist()),
        }
        if self.pattern.inform_bits:
            measures["informed"] = n if told else leaders  # a leader knows itself
        if self.protocol.records_clouds:
            measures |= self._clouds(keys, leads_to, alone, heard)
        return MessageOutcome(last, last <= limit, leaders, measures)

    def _until(self, limit: int, keys: np.ndarray) -> np.ndarray:
        """Drop the candidates that wake up beyond the limit; their coins have been drawn all the same."""
        awake = self.rounds <= limit
        if awake.all():
            return keys
        contacted, index = np.divmod(keys, len(awake))
        kept, place = awake[index], np.cumsum(awake) - 1
        self.nodes, self.rounds, self.ranks = self.nodes[awake], self.rounds[awake], self.ranks[awake]
        return contacted[kept] * len(self.nodes) + place[index[kept]]

    def _count(self, contacts: int, answers: int, informs: int) -> dict[str, Any]:
        """Messages and bits, by kind."""
        pattern = self.pattern
        sent = [(contacts, pattern.contact_bits), (answers, pattern.answer_bits), (informs, pattern.inform_bits)]
        return {
            "messages": sum(number for number, _ in sent),
            "bits": sum(number * bits for number, bits in sent),
            "largest_message": max(bits if number else 0 for number, bits in sent),
        }

    def _clouds(self, keys: np.ndarray, leads_to: np.ndarray, alone: np.ndarray, heard: np.ndarray) -> dict[str, Any]:
        initiated = heard >= self.rounds  # not influenced before sending
        if not self.pattern.contacts or not initiated.any():
            return cloud_measures([], 0)
        if not len(leads_to):
            return many_clouds(int(initiated.sum()))
        reach = closure(leads_to)
        rows, which = np.unique(reach[initiated], axis=0, return_inverse=True)
        union = reach[initiated].any(axis=0, keepdims=True)
        shared = specialize(list_shared)(keys, self.nodes)
        sizes = specialize(cloud_sizes)(np.concatenate((rows, union)), alone, *shared)
        return cloud_measures(sizes[:-1][which.ravel()], int(sizes[-1]))

    def _require_memory(self, c: int, s: int) -> None:
        if c * s > LARGEST_NUMBER or self.protocol.n * max(c, 1) >= 2**63:
            raise InvalidInput(
                f"{c} candidates with {s} contacts each do not fit in memory: at most {LARGEST_NUMBER} contacts may "
                "be made in all; take a smaller n, or fewer candidates or contacts"
            )


def draw_ranks(number: int, highest: int, seed: int, trial: int) -> np.ndarray:
    """Uniform ranks in 1..highest, of any size, replaced by their places in increasing order."""
    drawn = python_generator(seed, trial, START)
    ranks = [drawn.randint(1, highest) for _ in range(number)]
    place = {rank: order for order, rank in enumerate(sorted(set(ranks)))}
    return np.array([place[rank] for rank in ranks], np.int64)
