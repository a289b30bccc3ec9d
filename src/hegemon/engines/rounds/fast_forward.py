"""Exact fast-forward for the engine `rounds`.

When what neighbours can see of all nodes repeats with a period, it goes on repeating until some node's own
coins make it depart. The private fields of different nodes are then independent chains, so the round of the
first departure, the nodes that depart in it, and the private fields of all nodes at that moment can be drawn from
their exact law, and all rounds before it skipped. Three steps: `Survey` follows one more real period and
learns every node's chain over it; `plan` draws the first departure and replays the path to the round before
it; a `Flight` is the result, ready to land.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.compute.compilation import part, specialize
from hegemon.compute.fingerprints import speaks_of
from hegemon.compute.philox import double_at
from hegemon.engines.rounds import fast_forward_kernels as kernels
from hegemon.engines.rounds.fast_forward_kernels import Chains, Hidden, Landing, Powers
from hegemon.engines.rounds.kernels import Frame
from hegemon.models.configuration import Configuration
from hegemon.models.packing import Packing
from hegemon.models.rounds import RoundsProtocol

if TYPE_CHECKING:
    from hegemon.engines.rounds.rounds import Rounds

LARGEST_CHAIN = 64  # private states times coin outcomes that are tried for every node and round
LONGEST_JUMP = 2**61


def can_skip(protocol: RoundsProtocol, watched: Iterable[Callable[..., Any]]) -> bool:
    """Whether rounds can be skipped: no watched function reads a private field, and nodes have few private states."""
    tried = number_of_private_states(protocol) * len(protocol.coin_faces)
    return tried <= LARGEST_CHAIN and not speaks_of(watched, protocol.private)


def number_of_private_states(protocol: RoundsProtocol) -> int:
    bounds = [protocol.space.bounds[name] for name in protocol.private]
    return int(np.prod([high - low + 1 for low, high in bounds], dtype=np.int64))


@dataclass
class Flight:
    """From the round `departure` to `landing`; `frame` is the configuration there."""

    departure: int
    landing: int
    frame: Frame
    path: "Path"
    shown: dict[int, Configuration] = field(default_factory=dict)

    def configuration(self, step: int) -> Configuration:
        phase = (step - self.departure) % self.path.period
        if phase not in self.shown:
            self.shown[phase] = self.path.engine.unpacked(self.path.words_at(phase))
        return self.shown[phase]


class Path:
    """A period of real rounds, to be replayed from its first configuration."""

    def __init__(self, engine: "Rounds", period: int):
        self.engine, self.period = engine, period
        self.begin, self.first = engine.step, Frame(*(part.copy() for part in engine.frame))

    def replay(self) -> Iterator[tuple[Frame, Frame]]:
        """The period's rounds again, as pairs of configurations before and after."""
        room = self.engine.new_frame(), self.engine.new_frame()
        old = self.first
        for k in range(self.period):
            self.engine.heartbeat()
            new = room[k % 2]
            self.engine.sweep(old, new, self.begin + k)
            yield old, new
            old = new

    def words_at(self, phase: int) -> np.ndarray:
        return next(old.words for k, (old, _) in enumerate(self.replay()) if k == phase)


class Survey:
    """Follows one period round by round and learns each node's chain of private states along it."""

    def __init__(self, engine: "Rounds", period: int):
        self.engine, self.path = engine, Path(engine, period)
        self.hidden = hidden_part(engine.protocol, engine.packing)
        records, author = engine.protocol.record_types, engine.bound.author
        move = {name: author[name] for name in ("pack", "unpack", "clear", "update", "fits")}
        transition = part(kernels.transition, records, **move)  # one for both kernels: it takes long to compile
        self._observe = specialize(kernels.observe, records, transition=transition, gather=author["gather"])
        show = {name: author[name] for name in ("unpack", "show", "gather")}
        chain: dict[str, Any] = {"powers": kernels.powers, "proceed": kernels.proceed}
        along = part(kernels.after_periods, **chain)
        self._land = specialize(kernels.land, records, transition=transition, after_periods=along, **show)
        self._first_departure = specialize(kernels.first_departure, **chain)
        self._after_periods = specialize(kernels.after_periods, **chain)
        self.chains = self._at_home(engine.protocol.n)

    def _at_home(self, nodes: int) -> Chains:
        """The chains over zero rounds."""
        number = len(self.hidden.values)
        return Chains(np.tile(np.eye(number), (nodes, 1, 1)), np.zeros((nodes, number)))

    def follow(self, old: Frame, new: Frame) -> bool:
        """Take in one more round; whether the period is complete."""
        self.engine.shares.spread(self._observe, 0, old, new.words, self.hidden, self.chains, self.engine.given)
        return self.engine.step == self.path.begin + self.path.period

    def plan(self) -> Flight | None:
        """The flight to the first departure, or to the horizon; None if the last period was not like the one before."""
        engine, period = self.engine, self.path.period
        now, horizon, words = engine.step, engine.horizon, engine.words.copy()
        if np.any((words ^ self.path.first.words) & ~words.dtype.type(engine.private)):
            return None
        last = LONGEST_JUMP // period if horizon is None else (horizon - now - 1) // period
        if last < 0:
            return None
        candidates = np.empty(len(words), np.int64)
        periods, found = self._first_departure(
            words, self.chains, self.hidden, engine.key[1], now, last, candidates, self._room()
        )
        if not found and horizon is None:
            engine.hopeless = (
                f"everything repeats itself every {period} rounds from round {now} on, outside the set of the stop, "
                "and no coin can change that"
            )
            return None
        return self._fly(words, now, periods, candidates[:found])

    def _fly(self, words: np.ndarray, now: int, periods: int, candidates: np.ndarray) -> Flight:
        """Replay the period up to the round in which the first of the candidates departs, and land there."""
        engine, period = self.engine, self.path.period
        begun = self._at_home(len(words))
        for k, (old, new) in enumerate(self.path.replay()):
            landing = now + periods * period + k + 1
            leaving = np.zeros(len(words), np.bool_)
            for v in candidates:
                # In the last round of the period it is certain; rounding must not move the departure later.
                leaving[v] = k == period - 1 or self._leaves(v, words, now, periods, old, new, begun)
            if leaving.any() or landing == engine.horizon:
                result = engine.new_frame()
                there = Landing(periods, begun.stay, leaving, engine.key[2], landing)
                landed = engine.shares.spread(
                    self._land, words, old, new.words, result, self.chains, there, self.hidden, engine.given
                )
                if not all(landed):
                    engine.refuse_update()
                return Flight(now, landing, result, self.path)
            engine.shares.spread(self._observe, 0, old, new.words, self.hidden, begun, engine.given)
        raise AssertionError("somebody departs within the period, or the horizon is in it")

    def _leaves(self, v: int, words: np.ndarray, now: int, periods: int, old: Frame, new: Frame, begun: Chains) -> bool:
        """Whether node v departs in the round from `old` to `new` of the period in which it does depart."""
        engine = self.engine
        own = Chains(begun.stay[v : v + 1].copy(), begun.leave[v : v + 1].copy())
        self._observe(v, v + 1, engine.shares.room(), v, old, new.words, self.hidden, own, engine.given)
        begin, room = self.hidden.places[words[v] & engine.private], self._room()
        left = self._after_periods(begin, self.chains, v, periods, room)
        return left + room.row @ own.leave[0] > double_at(engine.key[1], now, v)

    def _room(self) -> Powers:
        number = len(self.hidden.values)
        return Powers(np.empty((64, number, number)), np.empty((64, number)), np.empty(number), np.empty(number))


def hidden_part(protocol: RoundsProtocol, packing: Packing) -> Hidden:
    values, places = private_words(protocol, packing), np.zeros(packing.private_mask + 1, np.int64)
    places[values] = np.arange(len(values))
    numbers, weights = np.array(protocol.coin_faces, np.int64).T
    return Hidden(
        packing.private_mask, values, places, numbers.copy(), weights.astype(np.float64), protocol.coin_values
    )


def private_words(protocol: RoundsProtocol, packing: Packing) -> np.ndarray:
    """The low bits of a word for every combination of values of the private fields."""
    words = np.zeros(1, np.int64)
    for name in protocol.private:
        low, high = protocol.space.bounds[name]
        words = (words[:, None] | (np.arange(high - low + 1) << packing.shifts[name])[None, :]).ravel()
    return words
