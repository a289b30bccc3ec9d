"""Ways to reach into a run, each as what it does to an engine and as what it makes of the exact law."""

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import hegemon as hg
from hegemon.compute.randomness import KERNEL, stream
from hegemon.models import Configuration
from hegemon.runs.faults import damage_of

LAST = 8  # where runs end
INTO = 0  # the code that a fault writes


class Setting(NamedTuple):
    """A protocol on a graph, and where its runs begin. On a complete graph agents have no names, elsewhere they do."""

    protocol: hg.PopulationProtocol
    topology: object
    start: tuple[int, ...]

    def key(self, codes) -> tuple[int, ...]:
        codes = [int(code) for code in codes]
        return tuple(sorted(codes) if self.topology.is_complete else codes)

    def configuration(self, codes) -> Configuration:
        space = self.protocol.space
        return Configuration(space, agents=space.decode_array(np.array(codes)))

    def following(self, codes) -> dict:
        """The law of the configuration one step later, from plain Python."""
        n, after = len(codes), defaultdict(float)
        pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
        if not self.topology.is_complete:  # a path
            pairs = [(i, j) for i, j in pairs if abs(i - j) == 1]
        for i, j in pairs:
            for coin in range(self.protocol.coins.size):
                changed = list(codes)
                changed[i], changed[j] = self.protocol.transition_codes(codes[i], codes[j], coin)
                after[self.key(changed)] += 1 / len(pairs) / self.protocol.coins.size
        return after


class Play:
    """One run on an engine, driven by commands."""

    def __init__(self, setting: Setting, make: Callable, trial: int):
        self.setting, self.make = setting, make
        self.engine = make(setting.configuration(setting.start), stream(5, trial, KERNEL))
        self.rng = np.random.default_rng(trial)

    def to(self, step: int) -> None:
        while self.engine.step < step:
            self.engine.advance(step)

    def look(self) -> tuple[int, ...]:
        self.engine.counts_hold()
        self.engine.recent_occupancy(10)
        return self.setting.key(self.setting.protocol.space.encode_array(self.engine.configuration().agents))

    def load(self, codes, steps: int = 0) -> None:
        self.engine.load(self.setting.configuration(codes), self.engine.step + steps if steps else None)


class Way:
    """A way in: at which steps, what is done then, and what that makes of a configuration (by default: nothing)."""

    steps: tuple[int, ...] = ()
    makes = 0  # steps

    def act(self, play: Play) -> None:
        return None

    def outcomes(self, setting: Setting, codes, step: int) -> dict:
        return {codes: 1.0}


class Nothing(Way):
    pass


class Looks(Way):
    steps = tuple(range(1, LAST))

    def act(self, play):
        play.look()


class Reloads(Way):
    """The same configuration again, at every step: the law stays what it was."""

    steps = tuple(range(1, LAST))

    def act(self, play):
        play.load(play.look())


class Damages(Way):
    """The lowest (the first) agent is given another state."""

    steps = (1, 2, 5)

    def act(self, play):
        play.load((INTO, *play.look()[1:]))

    def outcomes(self, setting, codes, step):
        return {setting.key((INTO, *codes[1:])): 1.0}


class Faults(Way):
    """A fault as `--fault` has it: one victim, any state."""

    steps = (1, 4)

    def act(self, play):
        play.engine.load(damage_of(hg.Fault(play.engine.step, 1), play.engine, play.rng).configuration)

    def outcomes(self, setting, codes, step):
        after, states = defaultdict(float), setting.protocol.space.size
        for victim in range(len(codes)):
            for state in range(states):
                changed = setting.key((*codes[:victim], state, *codes[victim + 1 :]))
                after[changed] += 1 / len(codes) / states
        return after


class Prescribes(Way):
    """The interaction of the first two agents, made from outside the engine, as a step of its own."""

    steps = (1, 3, 5)
    makes = 1

    def _after(self, setting, codes):
        return (*setting.protocol.transition_codes(codes[0], codes[1], 0), *codes[2:])

    def act(self, play):
        play.load(self._after(play.setting, play.look()), 1)

    def outcomes(self, setting, codes, step):
        return {setting.key(self._after(setting, codes)): 1.0}


class Replays(Reloads):
    """Advances, observes, restores, observes the same again, restores, and only then intervenes."""

    steps = (1, 3, 4, 6)

    def act(self, play):
        engine = play.engine
        step, here = engine.step, engine.snapshot()
        play.to(step + 2)
        middle = engine.snapshot()
        seen = play.look()
        play.to(step + 3)
        later = play.look()
        engine.restore(middle)
        assert play.look() == seen
        play.to(step + 3)
        assert play.look() == later
        engine.restore(here)
        play.to(step + 2)
        assert play.look() == seen
        engine.restore(here)
        super().act(play)


class Thaws(Reloads):
    """Another engine, elsewhere, goes on, and is reached into there."""

    steps = (1, 3, 4, 6)

    def act(self, play):
        frozen = play.engine.freeze()
        play.engine = play.make(play.setting.configuration(play.setting.start), np.arange(4, dtype=np.uint64))
        play.engine.thaw(frozen)
        super().act(play)


class Silences(Damages):
    """Tells the engine that nothing changes any more, where that is so; the damage comes later."""

    steps = (4, 6)

    def act(self, play):
        if play.engine.step == 6:
            return super().act(play)
        codes = play.look()
        if set(play.setting.following(codes)) == {codes}:
            play.engine.note_silence()

    def outcomes(self, setting, codes, step):
        return super().outcomes(setting, codes, step) if step == 6 else {codes: 1.0}


class Churns(Way):
    """A random agent leaves, and later two join, one more than there were at first; on complete graphs alone."""

    steps = (1, 3, 5)
    joining = {3: 1, 5: 2}  # their codes

    def _after(self, codes, step: int) -> list[tuple[int, ...]]:
        return [(*codes, self.joining[step])] if step > 1 else [codes[:k] + codes[k + 1 :] for k in range(len(codes))]

    def act(self, play):
        after = self._after(play.look(), play.engine.step)
        play.load(after[play.rng.integers(len(after))])

    def outcomes(self, setting, codes, step):
        found: dict = defaultdict(float)
        for after in (places := self._after(codes, step)):
            found[setting.key(after)] += 1 / len(places)
        return found


ALL = (Nothing, Looks, Reloads, Damages, Faults, Prescribes, Replays, Thaws, Silences, Churns)
WAYS = {way.__name__.lower(): way() for way in ALL}


def law(setting: Setting, way: Way) -> dict:
    """The probability of every (configuration first seen, configuration at the end): what is seen must not tell more
    about the rest than it does."""
    now = {(None, setting.key(setting.start)): 1.0}
    following: dict = {}
    step = 0
    while step < LAST:
        if step in way.steps:
            after: dict = defaultdict(float)
            for (seen, codes), chance in now.items():
                for new, share in way.outcomes(setting, codes, step).items():
                    after[(codes if seen is None else seen), new] += chance * share
            now = after
            step += way.makes
            if way.makes:
                continue
        after = defaultdict(float)
        for (seen, codes), chance in now.items():
            if codes not in following:
                following[codes] = setting.following(codes)
            for new, share in following[codes].items():
                after[seen, new] += chance * share
        now, step = after, step + 1
    assert abs(sum(now.values()) - 1) < 1e-9
    return now


def answer(play: Play, way: Way) -> tuple:
    """What one run shows."""
    seen = None
    for step in way.steps:
        play.to(step)
        seen = play.look() if seen is None else seen
        way.act(play)
    play.to(LAST)
    return seen, play.look()
