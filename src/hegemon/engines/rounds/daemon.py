"""Engine `daemon`: of the enabled nodes of a graph some act in every step, as a scheduler says. Plain Python.

What a node may become is computed once per local situation. After a step only the nodes that acted and their neighbours
are tested again. Moves count actions of nodes; a *round* ends when every node that was enabled at its beginning has
acted or was not enabled at some moment since (neutralized), as in the literature on self-stabilization.
"""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from hegemon.engines.engine import Engine, Snapshot, require_size
from hegemon.engines.pacing import Deadline
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.rounds import RoundsProtocol
from hegemon.models.words import checked
from hegemon.process.membership import Membership
from hegemon.process.schedulers.nodes import NodeScheduler
from hegemon.process.stopping import Stop

STILL = "no node is enabled any more, and the stop is not met"
PLAIN = 200_000  # nodes that plain Python evaluates before whole predicates are compiled


class DaemonEngine(Engine):
    """The engine: `advance` runs up to a step of the daemon, exactly to the first that meets the whole stop."""

    name = "daemon"
    honours = ()

    @classmethod
    def watches(cls, stop: Stop) -> bool:
        return True  # a round costs as much as reading the configuration

    def __init__(
        self,
        protocol: RoundsProtocol,
        topology: Topology,
        configuration: Configuration,
        stop: Stop,
        key: np.ndarray,
        scheduler: NodeScheduler,
    ):
        self.protocol, self.topology, self.space, self.stop = protocol, topology, protocol.space, stop
        self.scheduler = scheduler
        self.near = [topology.neighbours(v).tolist() for v in range(topology.n)]
        self._backs = [protocol.ports_back(topology, v) for v in range(topology.n)]
        self.rng = random.Random(int.from_bytes(np.asarray(key).tobytes(), "little"))
        self._situations: dict[tuple[Any, ...], list[int]] = {}
        self._marked: dict[int, tuple[bool, ...]] = {}
        self._looked = 0
        self._membership: Membership | None = None
        self._time = self.moves = self._rounds = self._cycle = 0
        self._anchor: tuple[Any, ...] | None
        self.acted: Sequence[int] = ()
        self.tossed: dict[int, int] = {}
        self._begin(configuration)

    # -- what a scheduler sees -----------------------------------------------------------------------------

    @property
    def step(self) -> int:
        return self._time

    def states(self) -> list[dict[str, Any]]:
        return [self.space.mapping_of(code) for code in self.codes]

    def outcomes(self, node: int) -> list[int]:
        """The codes that a node may have after it acts, one for each outcome of its coins."""
        codes = [self.codes[other] for other in self.near[node]]
        near = tuple(codes if self.protocol.is_ordered else sorted(codes))
        situation = (self.codes[node], near, self._backs[node])
        if situation not in self._situations:
            found, others = [], self.protocol.as_seen([self.space.namespace(code) for code in near], self._backs[node])
            for coins, _ in self.protocol.coin_faces:
                me = self.space.namespace(situation[0])
                self.protocol.move(me, others, coins)
                found.append(int(self.space.code(me)))
            self._situations[situation] = found
        return self._situations[situation]

    def leads(self, node: int) -> bool:
        """Whether a node leads, or may lead after it acts."""
        output = self.protocol.output
        codes = {self.codes[node], *self.outcomes(node)}
        return any(self.protocol.holds(output, self.space.namespace(code)) for code in codes)

    def gain(self, node: int) -> float:
        """How many more nodes are enabled after a node acts, on average over its coins."""
        before, gained, outcomes = self.codes[node], 0, list(self.outcomes(node))
        for code, (_, weight) in zip(outcomes, self.protocol.coin_faces, strict=True):
            self.codes[node] = code
            more = sum(self._can_act(other) - (other in self._place) for other in (node, *self.near[node]))
            gained += weight * more
        self.codes[node] = before
        return gained / self.protocol.coin_values

    def _can_act(self, node: int) -> bool:
        return any(code != self.codes[node] for code in self.outcomes(node))

    # -- what the driver uses ------------------------------------------------------------------------------

    def _begin(self, configuration: Configuration) -> None:
        """In this configuration, at step 0, before the first round."""
        self.codes = self._codes_of(configuration)
        self.since = [0] * len(self.codes)
        self.enabled: list[int] = []
        self._place: dict[int, int] = {}  # of every enabled node among them
        for node in range(len(self.codes)):
            self._note(node)
        self._pending, self._begun = set(self.enabled), False
        self._memory = 0
        self._resume()

    def load(self, configuration: Configuration, step: int | None = None) -> None:
        self._time = self._time if step is None else step
        codes = self._codes_of(configuration)
        changed = [node for node, code in enumerate(codes) if code != self.codes[node]]
        for node in changed:
            self.codes[node] = codes[node]
        self._look_around(changed)
        if self._begun:
            self._close_round()
        else:
            self._pending = set(self.enabled)
        self._resume()

    def _codes_of(self, configuration: Configuration) -> list[int]:
        require_size(self, configuration, self.topology.n)
        self.protocol.degree_fitting.require_all(configuration.agents, self.topology, self.protocol.id)
        return [int(code) for code in self.space.encode_array(configuration.agents)]

    def _resume(self) -> None:
        """Forget what was concluded from earlier states alone."""
        self._counts, self._changed = self._counted(), False
        self.hopeless = "" if self.enabled else STILL
        self._anchor, self._power, self._length = None, 1, 0

    def _look_around(self, changed: Sequence[int]) -> None:
        """After these nodes have changed: who is enabled now, and who no longer has to act in this round."""
        for node in {other for center in changed for other in (center, *self.near[center])}:
            self._note(node)
            if node not in self._place:
                self._pending.discard(node)

    def _close_round(self) -> None:
        """If every node that was enabled at its beginning has acted or was disabled since, the round is over."""
        if not self._pending:
            self._rounds, self._begun, self._pending = self._rounds + 1, False, set(self.enabled)

    def _note(self, node: int) -> None:
        """Keep the list of enabled nodes up to date."""
        able, known = self._can_act(node), node in self._place
        if able and not known:
            self._place[node] = len(self.enabled)
            self.enabled.append(node)
            self.since[node] = self._time
        elif known and not able:
            place, last = self._place.pop(node), self.enabled.pop()
            if last != node:
                self.enabled[place], self._place[last] = last, place

    def advance(self, limit: int) -> bool:
        deadline = Deadline()
        while self._time < limit and not deadline.is_over:
            if not self.enabled:
                self._time = limit
                break
            self._move()
            if self._met():
                return True
            if self.hopeless and self.horizon is None:
                break
        return False

    def _move(self) -> None:
        """One step of the daemon."""
        acted, self._memory = self.scheduler.choose(self, self._memory, self.rng)
        outcomes = [(node, self.outcomes(node)) for node in acted]
        tosses = self.protocol.coin_values
        self.tossed = {node: self.rng.randrange(tosses) if tosses > 1 else 0 for node in acted}
        self._act({node: after[self.protocol.coin_face(self.tossed[node])] for node, after in outcomes})
        if self.enabled and not self.scheduler.is_random and self.protocol.coin_values == 1:
            self._look_for_cycle()

    def follow(self, acting: Sequence[int], configuration: Configuration) -> None:
        """Take a prescribed step; nodes that are not enabled do not act."""
        codes = self.space.encode_array(configuration.agents)
        self.tossed = {}
        self._act({node: int(codes[node]) for node in acting if node in self._place})
        self._anchor, self._power, self._length = None, 1, 0  # prescribed steps are not a cycle of the scheduler

    def _act(self, codes: dict[int, int]) -> None:
        """Let enabled nodes become these codes, all at once, in one step."""
        acted = list(codes)
        self._time += 1
        self._changed = False
        for node, code in codes.items():
            self._become(node, code)
        self.acted = acted
        self.moves += len(acted)
        self._look_around(acted)
        for node in acted:
            self.since[node] = self._time
        self._pending.difference_update(acted)
        self._begun = True
        self._close_round()
        if not self.enabled:
            self.hopeless = STILL

    def _become(self, node: int, code: int) -> None:
        old, new = self._marks(self.codes[node]), self._marks(code)
        self.codes[node] = code
        for place, (before, after) in enumerate(zip(old, new, strict=True)):
            self._counts[place] += after - before
        self._changed |= bool(old) and old[0] != new[0]

    def _look_for_cycle(self) -> None:
        """Detect a cycle (Brent): without randomness, a configuration that recurs once recurs forever."""
        waits = tuple(self._time - self.since[node] for node in self.enabled) if self.scheduler.waits else ()
        now = (tuple(self.codes), self._memory % len(self.codes), waits)
        if now == self._anchor and not self.hopeless:
            self._cycle = self._length + 1
            steps = f"{self._cycle} step{'s' * (self._cycle != 1)}"
            self.hopeless = f"the run goes round a cycle of {steps}, and the stop is not met on it"
        self._length += 1
        if self._length == self._power:
            self._anchor, self._power, self._length = now, 2 * self._power, 0

    # -- the stop ------------------------------------------------------------------------------------------

    def _marks(self, code: int) -> tuple[bool, ...]:
        if code not in self._marked:
            state, p = checked(self.space.namespace(code)), self.protocol.checked_p
            self._marked[code] = tuple(bool(holds(state, p)) for holds in self.stop.conditions)
        return self._marked[code]

    def _counted(self) -> list[int]:
        marks = [self._marks(code) for code in self.codes]
        return [sum(column) for column in zip(*marks, strict=True)]

    def counts_hold(self) -> bool:
        self._changed = False
        return self._met()

    def _met(self) -> bool:
        stop = self.stop
        if stop.silent:
            return not self.enabled
        if stop.watch:
            return self._changed
        if not stop.conditions and not stop.whole:
            return False
        if stop.conditions and not stop.holds(self._counts):
            return False
        return self._whole_holds()

    def _whole_holds(self) -> bool:
        if not self.stop.whole:
            return True
        self._looked += len(self.codes)
        if self._looked > PLAIN:
            self._membership = self._membership or Membership(self.protocol, self.stop, self.topology)
            return self._membership.whole_holds(self.configuration().agents)
        states = [checked(self.space.namespace(code)) for code in self.codes]
        graph = self.topology.offsets, self.topology.targets
        return all(holds(states, *graph, self.protocol.checked_p) for holds in self.stop.whole)

    # -- what it is now --------------------------------------------------------------------------------------

    @property
    def is_silent(self) -> bool:
        return not self.enabled

    @property
    def rounds(self) -> int:
        """How many rounds have begun: the one in which a run ends counts."""
        return self._rounds + self._begun

    def last_coins(self, node: int) -> int:
        return self.tossed.get(node, 0)

    def configuration(self) -> Configuration:
        return Configuration(self.space, agents=self.space.decode_array(np.array(self.codes, np.int64)))

    def measures(self) -> dict[str, Any]:
        found: dict[str, Any] = {"moves": self.moves}
        if self.protocol.time_unit != "rounds":  # where every step is a round, the run counts them
            found["rounds"] = self.rounds
        return found | ({"cycle": self._cycle} if "cycle of" in self.hopeless else {})

    def snapshot(self, into: Snapshot | None = None) -> Snapshot:
        return self._time, (
            tuple(self.codes), tuple(self.enabled), tuple(self.since), tuple(sorted(self._pending)), self._begun,
            self._memory, self.moves, self._rounds, self.rng.getstate(),
        )  # fmt: skip

    def restore(self, snapshot: Snapshot) -> None:
        self._time, (codes, enabled, since, pending, begun, memory, moves, rounds, state) = snapshot
        self.codes, self.enabled, self.since = list(codes), list(enabled), list(since)
        self._place = {node: place for place, node in enumerate(self.enabled)}
        self._pending, self._begun, self._memory, self.moves, self._rounds = set(pending), begun, memory, moves, rounds
        version, inner, gauss = state
        self.rng.setstate((version, tuple(inner), gauss))
        self._resume()
