"""Engine `compiled`: a protocol whose messages and nodes are declared fields, as machine code.

It draws the coins of engine `nodes`, in the same order, and calls the same nodes with the same messages: the story is
the same word for word. Where compiled code cannot go on (a number leaves 64 bits, a value is outside its domain, a
message has no such field), the engine returns to the last round that it has kept and engine `nodes` plays from there:
it computes what Python computes, or reports the error.
"""

from collections import defaultdict
from typing import Any

import numpy as np

from hegemon.compute.border import NumbaError
from hegemon.compute.mersenne import set_words, words_of
from hegemon.compute.randomness import KERNEL, python_generator
from hegemon.engines.messages.compiled.kernel import (
    BITS,
    CALLS,
    ENDED,
    FULL,
    LARGEST,
    MESSAGES,
    MOST_CALLS,
    ROUND,
    WAITING,
    WOKEN,
)  # fmt: skip
from hegemon.engines.messages.compiled.kinds import TEXT, Untranslatable
from hegemon.engines.messages.compiled.program import READ_ONLY, Program, refusal
from hegemon.engines.messages.engine import MessageEngine, MessageOutcome
from hegemon.engines.messages.nodes import Nodes
from hegemon.graphs.topology import Topology
from hegemon.models.messages import ELECTED, MessageProtocol
from hegemon.models.node_calls import measured
from hegemon.models.readings import MISSING, Readings, functions_in
from hegemon.process.messages.surroundings import Surroundings

MOST_KEPT = 8  # translated protocols
MOST_ARCS = 2**23  # each takes two places for a message
NEVER = 2**62
LEAST_CALLS = 2**18  # of nodes, between two readings of the clock
BOX = np.dtype([("round", np.int64), ("heard", np.int64), ("lowest", np.int64), ("highest", np.int64)])
KEPT = ("nodes", "boxes", "slots", "flags", "blocks", "groups", "heap", "state", "words")  # all that changes


class Compiled(MessageEngine):
    """The engine for protocols of declared fields, in synchronous rounds where all arrives and all live."""

    name = "compiled"

    @classmethod
    def suits(cls, topology: Topology, around: Surroundings) -> bool:
        return around.is_reliable and topology.arcs <= MOST_ARCS

    @classmethod
    def require(cls, protocol: MessageProtocol) -> None:
        """Raise InvalidInput, with the reason and the line, if the protocol cannot be compiled."""
        if protocol.records_clouds:
            raise refusal(protocol, Untranslatable("its measures follow who influenced whom (records_clouds)"))
        try:
            _Arrays(program_of(protocol), _pair()).play(0, 0)
        except (Untranslatable, NumbaError) as reason:
            raise refusal(protocol, reason) from None

    def __init__(self, protocol: MessageProtocol, topology: Topology, around: Surroundings, seed: int, trial: int):
        super().__init__(protocol, topology, around, seed, trial)
        self.program = program_of(protocol)
        self.arrays = self._first()
        self._plain: Nodes | None = None  # goes on from where compiled code could not

    def _first(self) -> "_Arrays":
        """Before the first round."""
        arrays = _Arrays(self.program, self.topology)
        by_round = np.argsort(self.waking, kind="stable")
        words = words_of(python_generator(self.seed, self.trial, KERNEL))
        arrays.begin(self.chosen[by_round], self.waking[by_round], self.identifiers, words)
        return arrays

    def play(self, limit: int | None) -> MessageOutcome:
        arrays, last = self.arrays, NEVER if limit is None else limit
        ended = interrupted = False
        budget = max(LEAST_CALLS, self.topology.arcs // 4)
        while self._plain is None and not ended and not interrupted:
            kept, before = arrays.copy() if arrays.round else None, arrays.calls
            try:
                status = arrays.play(last, budget)
            except Exception:  # in the author's functions, or in ours, which cannot do all that Python does
                self._return_to(kept)
                self._plain = self._as_nodes()
                break
            if status == FULL:
                self._return_to(kept)
                arrays.grow()
                continue
            ended = status == ENDED
            interrupted = arrays.calls > before and self.is_cancelled(arrays.round)
            if not ended and arrays.calls < before + budget:
                break  # the next round is beyond the limit
        if self._plain is not None:
            self._plain._progress, self._plain._rest = self._progress, self._rest
            return self._plain.play(limit)
        state = arrays.state
        leaders = int(np.count_nonzero(arrays.nodes["status"] == self.program.code(ELECTED)))
        measures = {"messages": int(state[MESSAGES]), "bits": int(state[BITS]), "largest_message": int(state[LARGEST])}
        if type(self.protocol).measure is not MessageProtocol.measure:
            measures |= measured(self.protocol, list(self._made_nodes().values()), measures)
        return MessageOutcome(max(1, arrays.round), ended, leaders, measures, interrupted)

    def _return_to(self, kept: dict[str, np.ndarray] | None) -> None:
        """Go back to the kept arrays, or to the moment before the first round, which can be built again."""
        room = self.arrays.heap.shape
        self.arrays.restore(self._first().copy() if kept is None else kept)
        while self.arrays.heap.shape[1] < room[1]:
            self.arrays.grow()

    def freeze(self) -> tuple[int, Any]:
        if self._plain is not None:
            return self._plain.freeze()
        return self.arrays.round, self.arrays.copy()

    def thaw(self, frozen: tuple[int, Any]) -> None:
        if isinstance(frozen[1], dict):
            self.arrays.restore(frozen[1])
        else:  # engine `nodes` had taken over
            self._plain = self._as_nodes()
            self._plain.thaw(frozen)

    # -- the same moment in plain Python ---------------------------------------------------------------------------

    def _made_nodes(self) -> dict[int, Any]:
        """The nodes that have acted, in the order of their numbers."""
        program = self.program
        kinds = {**program.node_kinds, "status": TEXT}
        acted = np.flatnonzero(self.arrays.nodes["round"])
        rows = self.arrays.nodes[acted]
        columns = {word: rows[word].tolist() for word in rows.dtype.names}
        made = {}
        for k, v in enumerate(acted.tolist()):
            node = made[v] = self.protocol.node_type()
            for word, kind in kinds.items():
                setattr(node, word, program.shown(kind, columns[word][k]))
            for word in READ_ONLY:
                if word != "identifier" or self.protocol.has_identifiers:
                    setattr(node, word, columns[word][k])
        return made

    def _as_nodes(self) -> Nodes:
        """Engine `nodes` at the same moment."""
        arrays, state = self.arrays, self.arrays.state
        plain = Nodes(self.protocol, self.topology, self.around, self.seed, self.trial)
        plain.round, plain.messages, plain.bits, plain.largest = state[[ROUND, MESSAGES, BITS, LARGEST]].tolist()
        plain.nodes = self._made_nodes()
        set_words(plain.rng, arrays.words)
        for round in [one for one in plain.beginners if one <= plain.round]:
            del plain.beginners[round]
        for round, v in arrays.heap[:, : state[WAITING]].T.tolist():
            plain.calls[round].add(v)
        ahead, n = plain.round + 1, self.topology.n
        odd = ahead & 1
        if state[WOKEN] == ahead:
            marked = np.flatnonzero(arrays.flags[odd * n : (odd + 1) * n]).tolist()
            plain.calls[ahead] |= set(marked)
        arcs = self.topology.arcs
        slots = arrays.slots[odd * arcs : (odd + 1) * arcs]
        outbox: dict[int, dict[int, Any]] = defaultdict(dict)
        for arc in np.sort(arrays.cross[np.flatnonzero(slots["_round"] == ahead)]).tolist():
            v = int(np.searchsorted(arrays.offsets, arc, side="right")) - 1
            outbox[v][arc - int(arrays.offsets[v])] = self._message(slots[arrays.cross[arc]])
        plain.outbox = outbox
        return plain

    def _message(self, row: Any) -> Any:
        given: dict[str, Any] = {}
        for field in self.protocol.message_fields:
            if all(given.get(other) in allowed for other, allowed in field.domain.condition):
                given[field.name] = self.program.shown(self.program.message_kinds[field.name], int(row[field.name]))
        return self.protocol.message(**given)


class _Kept:
    """A translated protocol, and all that it was made of."""

    def __init__(self, protocol: MessageProtocol):
        kind = type(protocol)
        self.program = Program(protocol)
        bases = kind.__mro__[: kind.__mro__.index(MessageProtocol)]
        self._named = [(vars(one), dict(vars(one))) for one in (protocol, *bases)]
        self._readings = Readings(functions_in(kind, MessageProtocol))

    def is_valid(self) -> bool:
        """Whether functions, constants, defaults and closures are those of the translation."""
        for now, before in self._named:
            if len(now) != len(before) or any(now.get(name, MISSING) is not value for name, value in before.items()):
                return False
        return self._readings.last()


_kept: dict[int, _Kept] = {}  # by the identity of the protocol, which the kept object holds on to


def program_of(protocol: MessageProtocol) -> Program:
    """The translated protocol, the same for all trials as long as nothing that it was made of changes."""
    kept = _kept.pop(id(protocol), None)
    if kept is None or kept.program.protocol is not protocol or not kept.is_valid():
        kept = _Kept(protocol)
    if len(_kept) >= MOST_KEPT:
        del _kept[next(iter(_kept))]
    _kept[id(protocol)] = kept
    return kept.program


class _Arrays:
    """The arrays that the kernel works on."""

    def __init__(self, program: Program, topology: Topology):
        n, arcs = topology.n, topology.arcs
        self.kernel, self.allowed = program.kernel, program.protocol.largest_allowed
        self.offsets, self.targets, self.back = map(_fixed, (topology.offsets, topology.targets, topology.back))
        self.cross = self.offsets[self.targets] + self.back  # the place of a message at its receiver
        self.nodes = np.zeros(n, program.node_record)
        for field in program.protocol.node_fields:
            self.nodes[field.name] = program.code(field.default)
        self.nodes["status"] = program.code(program.protocol.node_type.status)
        self.nodes["degree"] = topology.degrees
        self.boxes, self.slots = np.zeros(2 * n, BOX), np.zeros(2 * arcs, program.message_record)
        self.flags, self.blocks, self.groups = (np.zeros(2 * (n // k + (k > 1)), np.uint8) for k in (1, 64, 4096))
        self.heap = np.zeros((2, n + 64), np.int64)
        self.state, self.words = np.zeros(12, np.int64), np.zeros(625, np.uint32)
        self.beginners = self.rounds = np.zeros(0, np.int64)
        self.numbers, self.reals, self.layout = program.arrays()
        most = int(topology.degrees.max()) + 1 if n else 1
        self.ports = np.zeros(most, np.int64)
        self.rows = np.zeros((most, len(program.message_kinds) + 1), np.int64)
        self.count, self.wanted = np.zeros(2, np.int64), np.zeros(MOST_CALLS, np.int64)

    def begin(
        self, beginners: np.ndarray, rounds: np.ndarray, identifiers: np.ndarray | None, words: np.ndarray
    ) -> None:
        self.beginners, self.rounds, self.words = beginners.astype(np.int64), rounds.astype(np.int64), words
        if identifiers is not None:
            self.nodes["identifier"] = identifiers

    @property
    def round(self) -> int:
        return int(self.state[ROUND])

    @property
    def calls(self) -> int:
        return int(self.state[CALLS])

    def play(self, limit: int, budget: int) -> int:
        return int(self.kernel(
            self.nodes, self.boxes, self.slots, self.flags, self.blocks, self.groups, self.heap, self.state,
            self.words, self.offsets, self.targets, self.cross, self.back, self.beginners, self.rounds, self.numbers,
            self.reals, self.layout, self.ports, self.rows, self.count, self.wanted, self.allowed, limit, budget,
        ))  # fmt: skip

    def copy(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name).copy() for name in KEPT}

    def restore(self, kept: dict[str, np.ndarray]) -> None:
        for name in KEPT:
            setattr(self, name, kept[name].copy())
        self.count[:] = 0

    def grow(self) -> None:
        """Double the room for calls that nodes have requested."""
        self.heap = np.concatenate((self.heap, np.zeros_like(self.heap)), axis=1)


def _fixed(array: np.ndarray) -> np.ndarray:
    """The same array as one that cannot be written: a kernel is compiled once for all graphs."""
    seen = array.view()
    seen.setflags(write=False)
    return seen


def _pair() -> Topology:
    """The smallest graph, on which a kernel is compiled."""
    return Topology.from_edges("pair", 2, [0], [1])
