"""Lockstep for the engine `rounds`: while equal nodes move alike, the cost of a round depends on the number of classes.

On a large graph few different states may be left, each at thousands of nodes, for a very long time. Then it is enough
to move every class of equal nodes once, as long as each stays together. Nothing is skipped and nothing is drawn anew:
the rounds, the coins and all private fields are those of the plain engine. `lockstep_kernels` defines classes.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hegemon.compute.compilation import part, specialize
from hegemon.compute.fingerprints import speaks_of
from hegemon.compute.records import marker
from hegemon.engines.pacing import Pace
from hegemon.engines.rounds import fast_forward_kernels, kernels
from hegemon.engines.rounds import lockstep_kernels as lockstep
from hegemon.engines.rounds.fast_forward import LARGEST_CHAIN, hidden_part, number_of_private_states
from hegemon.engines.rounds.lockstep_kernels import APART, CREDIT, Classes, Learnt, Own, Work
from hegemon.errors import pass_interrupt
from hegemon.models.rounds import CROWDS

if TYPE_CHECKING:
    from hegemon.engines.rounds.rounds import Rounds

FEWEST_NODES = 4096  # below, plain rounds are fast enough
MOST_CLASSES = 64  # a set of classes is a word of bits
MOST_TRIED = 4  # updates that are tried, per node, in a round in which everything is new
ADVANCE = 64  # such updates per node before the rounds made must have saved more than these cost
MOST_LEARNT = 1 << 22  # numbers that are kept of what was tried: 32 MB
SHORTEST_WAIT = 16  # rounds until the next attempt
FIRST_WAIT = 1 << 26  # nodes and arcs that plain rounds read before the first attempt: it takes seconds to compile


class Formation(NamedTuple):
    """The nodes in classes, and what was learnt about these."""

    classes: Classes
    learnt: Learnt
    own: Own
    work: Work


class Lockstep:
    """Makes rounds class by class where possible. The result does not depend on where it is used."""

    def __init__(self, engine: "Rounds"):
        self.engine = engine
        protocol, stop = engine.protocol, engine.stop
        self._tries = number_of_private_states(protocol) * protocol.coin_values
        self._is_possible = (
            protocol.n >= FEWEST_NODES
            and protocol.neighbourhood == "set"
            and not protocol.oriented
            and int(engine.topology.degrees.max(initial=0)) <= CROWDS[-1]
            and self._tries <= LARGEST_CHAIN
            and not speaks_of(stop.conditions, protocol.private)
        )
        self.rounds_made = 0
        self._earliest = FIRST_WAIT // (protocol.n + engine.topology.arcs)
        self.forget()

    def forget(self) -> None:
        """The configuration was replaced."""
        self._formation: Formation | None = None
        self._last = -1  # the round after which it was written down
        self._wait = SHORTEST_WAIT
        self._next = max(self.engine.step + SHORTEST_WAIT, self._earliest)

    @property
    def pause(self) -> int:
        """For how many rounds, at least one, plain rounds are better."""
        return max(1, self._next - self.engine.step) if self._is_possible_now else 1 << 62

    @property
    def _is_possible_now(self) -> bool:
        """Not for a stop that waits for a change of output, which may be set later: it needs every node."""
        return self._is_possible and not self.engine.stop.watch

    def rounds(self, limit: int) -> int | None:
        """Make at most `limit` rounds; returns early when something is to be evaluated. None: no round was made."""
        engine = self.engine
        if not self._is_possible_now or engine.step < self._next:
            return None
        if self._formation is not None and engine.step != self._last:
            self._formation = None  # plain rounds were made since
        if self._formation is None:
            self._hidden = hidden_part(engine.protocol, engine.packing)
            self._formation, self._begin, self._pace = self._formed(), engine.step, Pace(1)
        if self._formation is None:
            self._put_off()
            return None
        return self._march(self._formation, limit)

    def _put_off(self) -> None:
        """Wait longer after every attempt that fails."""
        self._formation = None
        self._wait += 1 + self._wait // 8
        self._next = self.engine.step + self._wait

    def _march(self, formation: Formation, limit: int) -> int | None:
        engine, begin = self.engine, self.engine.step
        if not hasattr(self, "_kernel"):
            self._compile()
        self._pace.start()
        try:
            status = self._kernel(
                min(limit, self._pace.amount), *formation, engine._state, engine.shares.room(), engine._counts,
                engine._goal, engine._search, engine._coins, self._public, self._hidden, engine.given,
            )  # fmt: skip
        except Exception as error:  # the round was not made: plain rounds raise the error if they come to it
            pass_interrupt(error)
            self._is_possible, status = False, APART
        finally:  # also after an interrupt: rounds that are counted are written down
            self._last = engine.step
            made = self._last - begin
            if made:
                self._write(formation)
        self._pace.done(made)
        self.rounds_made += made
        if status & APART:
            if engine.step - self._begin > self._wait and formation.work.notes[CREDIT] >= 0:
                self._wait = SHORTEST_WAIT
            self._put_off()
        return status & ~APART if made else None

    def _write(self, formation: Formation) -> None:
        """Write down the states of all nodes, and set the marks of the conditions from them."""
        engine, (classes, _, own, _) = self.engine, formation
        self._muster(classes, own, self._hidden.values, *engine.frame, engine.shares.room(), engine.given.layout)
        engine.recount()

    def _formed(self) -> Formation | None:
        """The present configuration in classes; None if there are too many to gain from it."""
        engine, tries = self.engine, self._tries
        classes = classes_of(engine, MOST_TRIED * engine.protocol.n // tries)
        if classes is None:
            return None
        number, width = len(classes.words), classes.near.shape[1] + 2
        rows = 1 << ((MOST_LEARNT // (width + tries)).bit_length() - 1)
        learnt = Learnt(np.zeros(rows, np.int8), np.zeros((rows, width), np.int64), np.zeros((rows, tries), np.int64))
        places = np.zeros((2, engine.protocol.n), np.uint8)
        places[0] = self._hidden.places[engine.words & engine.words.dtype.type(engine.private)]
        own = Own(places, np.zeros(1, np.int64), np.zeros((number, tries), np.uint8))
        work = Work(
            np.zeros(number, np.int64), np.zeros(width, np.int64), np.zeros(tries, np.int64),
            np.zeros(len(engine.stop.conditions), np.int8), np.array([0, ADVANCE * engine.protocol.n]),
        )  # fmt: skip
        return Formation(classes, learnt, own, work)

    def _compile(self) -> None:
        engine = self.engine
        protocol, packing, author = engine.protocol, engine.packing, engine.bound.author
        self._public = sum(((1 << packing.widths[name]) - 1) << packing.shifts[name] for name in protocol.public_names)
        records = protocol.record_types
        move = {name: author[name] for name in ("pack", "unpack", "clear", "update", "fits")}
        shown = {name: author[name] for name in ("unpack", "show")}
        transition = part(fast_forward_kernels.transition, records, **move)
        learn = part(lockstep.learn, records, transition=transition, **shown)
        coins_of = part(lockstep.coins_of, toss=engine.bound.toss)
        self._kernel = specialize(
            lockstep.march,
            records,
            agree=part(lockstep.agree, records, learn=learn, row_of=lockstep.row_of, is_in=lockstep.is_in),
            tabulate=part(lockstep.tabulate, coins_of=coins_of),
            draw=part(lockstep.draw, toss=engine.bound.toss),
            recurs_in_step=part(lockstep.recurs_in_step),
            unpack=author["unpack"],
            note=marker(engine.stop.conditions),
            meets=part(kernels.meets),
        )
        self._muster = specialize(lockstep.muster, records, **shown)


def classes_of(engine: "Rounds", most: int) -> Classes | None:
    """The classes of the present configuration; None if these are too many, or their kinds more than `most`."""
    of, owners, sets = np.empty(engine.protocol.n, np.uint8), np.empty(most, np.uint8), np.empty(most, np.uint64)
    words, sizes, first = (np.empty(MOST_CLASSES, np.int64) for _ in range(3))
    classify = specialize(lockstep.classify, mixed=lockstep.mixed)
    number = classify(engine.words, engine.private, of, words, sizes, first)
    if number < 0:
        return None
    slots = np.full(1 << (2 * most + 1).bit_length(), -1)
    sort_out = specialize(lockstep.sort_out, mixed=lockstep.mixed)
    kinds = sort_out(of, engine.given.offsets, engine.given.targets, slots, owners, sets)
    if kinds < 0:
        return None
    order = np.argsort(owners[:kinds], kind="stable")
    begins = np.searchsorted(owners[order], np.arange(number + 1))
    is_near = (sets[order, None] >> np.arange(number, dtype=np.uint64)) & np.uint64(1) != 0
    widths = is_near.sum(axis=1)
    near = np.argsort(~is_near, axis=1, kind="stable")[:, : widths.max()].astype(np.uint8)
    later = np.zeros(number, np.int64)
    return Classes(of, words[:number], later, sizes[:number], first[:number], begins, near, widths)
