"""Moves an engine from milestone to milestone: records, faults, the exact first step inside a set."""

import numpy as np

from hegemon.compute.sampling import take
from hegemon.engines.membership import Membership
from hegemon.engines.stopping import never
from hegemon.errors import InvalidInput
from hegemon.models.configuration import Configuration, Group
from hegemon.runs.run import Fault


class Driver:
    def __init__(self, protocol, topology, chosen, configuration, stop, rng, history, progress, **options):
        self.protocol, self.stop, self.history, self.progress = protocol, stop, history, progress
        looks_now_and_then = stop.whole and not chosen.checks_whole
        self.membership = Membership(protocol, stop) if looks_now_and_then else None
        counted = never(stop.name) if looks_now_and_then else stop
        self.engine = chosen(protocol, topology, configuration, counted, rng, **options)
        self.interrupted = False
        self._record()

    def run(self, limit: int | None, until_met: bool) -> bool:
        """To the step `limit` (None: for ever) or, when `until_met`, to the first step that meets the stop."""
        self.engine.horizon = limit
        if until_met and self._inside():
            return True
        while not self.interrupted and (limit is None or self.engine.step < limit):
            if limit is None and self.engine.is_silent:
                return False  # nothing will ever change again
            record = self.history.next_step(self.engine.step) if self.history else None
            goal = min(g for g in (self.engine.step + self.engine.chunk, limit, record) if g is not None)
            met = self._reach(goal) if until_met else self._pass(goal)
            if met or self.engine.step in (limit, record):
                self._record()
            if met:
                return True
            if self.progress and self.progress(self.engine.step):
                self.interrupted = True
        return False

    def follow(self, schedule, limit: int | None) -> bool:
        """Make prescribed interactions, as far as the limit and the stop allow; whether the stop is met."""
        protocol = self.protocol
        for pair in schedule:
            if self._inside() or self.engine.step == limit:
                break
            codes = protocol.space.encode_array(self.engine.configuration().agents)
            before = [protocol.space.namespace(codes[agent]) for agent in pair]
            codes[list(pair)] = protocol.transition_codes(*codes[list(pair)])
            after = [protocol.space.namespace(codes[agent]) for agent in pair]
            self.engine.load(Configuration(protocol.space, agents=protocol.space.decode_array(codes)))
            self.engine.step += 1
            self._record()
            if self.stop.watch and any(
                protocol.output(old, protocol.p) != protocol.output(new, protocol.p)
                for old, new in zip(before, after, strict=True)
            ):
                return True
        return self._inside()

    def corrupt(self, fault: Fault, rng) -> None:
        """Replace the states of randomly chosen agents."""
        self.engine.load(corrupted(fault, self.engine, rng))
        self._record()

    def _pass(self, goal: int) -> bool:
        while self.engine.step < goal:
            self.engine.advance(goal)
        return False

    def _inside(self) -> bool:
        if self.membership is None:
            return self.engine.counts_hold()
        return self.membership.holds(self.engine.configuration().agents)

    def _reach(self, goal: int) -> bool:
        """Towards `goal`, or exactly to the first step inside the set.

        A set with whole predicates is looked at now and then. If it is closed, a run that is inside now
        entered once and stayed, so bisection over replays from the last snapshot finds the very step; if
        it is not, every step is looked at.
        """
        if self.membership is None:
            return self.engine.advance(goal)
        stride = self.engine.stride if self.stop.closed else 1
        before = self.engine.snapshot()
        self.engine.advance(min(goal, self.engine.step + stride))
        if self._inside():
            self._rewind_to_entry(before)
            return True
        return False

    def _rewind_to_entry(self, outside) -> None:
        """From a snapshot outside the closed set and the present inside it, go back to the step of entry."""
        start, end = outside[0], self.engine.step
        while end - start > 1:
            middle = (start + end) // 2
            self.engine.restore(outside)
            self._pass(middle)
            if self._inside():
                end = middle
            else:
                start, outside = middle, self.engine.snapshot()
        self.engine.restore(outside)
        self._pass(end)

    def _record(self) -> None:
        if self.history:
            self.history.record(self.engine.step, self.engine.configuration())


def corrupted(fault: Fault, engine, rng) -> Configuration:
    """The engine's configuration after a fault."""
    configuration = engine.configuration()
    if not 1 <= fault.size <= configuration.n:
        raise InvalidInput(f"a fault with agents={fault.agents} is out of range 1..{configuration.n}")
    if engine.as_multiset and not isinstance(fault.agents, int):
        raise InvalidInput(f"engine {engine.name} keeps counts and knows no agent by its number; use engine agents")
    return (corrupted_counts if engine.as_multiset else corrupted_agents)(fault, configuration, rng)


def corrupted_agents(fault: Fault, configuration: Configuration, rng) -> Configuration:
    space, agents = configuration.space, configuration.agents
    victims = _victims(fault, space, agents, rng)
    agents[victims] = space.decode_array(fault_codes(fault, space, space.encode_array(agents[victims]), rng))
    return Configuration(space, agents=agents)


def _victims(fault: Fault, space, agents, rng) -> np.ndarray:
    if not isinstance(fault.agents, int):
        if len(set(fault.agents)) < fault.size or not all(0 <= agent < len(agents) for agent in fault.agents):
            raise InvalidInput(
                f"a fault names the agents {list(fault.agents)}; give different ones of 0..{len(agents) - 1}"
            )
        return np.array(fault.agents)
    if fault.of is None:
        return rng.choice(len(agents), size=fault.agents, replace=False)
    candidates = np.flatnonzero(space.encode_array(agents) == space.code(space.parse(fault.of)))
    _require_enough(fault, len(candidates))
    return rng.choice(candidates, size=fault.agents, replace=False)


def _require_enough(fault: Fault, present: int) -> None:
    if fault.size > present:
        raise InvalidInput(
            f"a fault at step {fault.step} takes {fault.size} agents of {fault.of}, but there are {present}"
        )


def corrupted_counts(fault: Fault, configuration: Configuration, rng) -> Configuration:
    """The same for a multiset, at a cost that does not depend on the number of agents."""
    space = configuration.space
    codes, counts = configuration.multiset
    spared, victims = counts.copy(), np.zeros_like(counts)
    if fault.of is None:
        take(rng.integers(2**64, size=4, dtype=np.uint64), spared, len(codes), counts.sum(), fault.agents, victims)
    else:
        chosen = codes == space.code(space.parse(fault.of))
        _require_enough(fault, int(counts[chosen].sum()))
        spared[chosen] -= fault.agents
        victims[chosen] += fault.agents
    if fault.values:
        changed = fault_codes(fault, space, codes, rng)
    else:
        random = Configuration.from_groups(space, [Group(fault.agents, {}, random=True)], rng, as_multiset=True)
        changed, victims = random.multiset
    codes, places = np.unique(np.concatenate([codes, changed]), return_inverse=True)
    merged = np.zeros(len(codes), np.int64)
    np.add.at(merged, places, np.concatenate([spared, victims]))
    return Configuration(space, codes=codes[merged > 0], counts=merged[merged > 0])


def fault_codes(fault: Fault, space, codes: np.ndarray, rng) -> np.ndarray:
    """What the victims' codes become: random states, or their own with the given values written in."""
    if not fault.values:
        return rng.integers(space.size, size=len(codes))
    changed = {}
    for code in np.unique(codes):
        state = space.namespace(code)
        for name, value in fault.values.items():
            space.require_field(name)
            index = space.domains[name].index(value)
            if not isinstance(index, int | np.integer):
                raise InvalidInput(f"a fault writes {name} = {value!r}, which is not a value of {name}")
            setattr(state, name, index)
        changed[code] = space.code(state)
    return np.array([changed[code] for code in codes])
