"""Faults at given steps: their effect on a configuration, and whether an agent's output changes.

Transient faults replace states. Bursts change the number of agents: some join, or some leave.
"""

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hegemon.compute.sampling import take
from hegemon.engines.engine import Engine
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration, Group
from hegemon.models.halting import HALTED, lasting
from hegemon.models.neighbourhoods import require_alike
from hegemon.models.protocol import Protocol
from hegemon.process.schedulers.scheduler import Scheduler
from hegemon.runs.run import Fault

if TYPE_CHECKING:
    from hegemon.models.state import StateSpace

Codes = tuple[np.ndarray, np.ndarray]  # a multiset: the codes, and the number of agents with each

FEWEST = 2  # this many agents always stay


class Damage(NamedTuple):
    configuration: Configuration
    is_seen: bool  # the output of at least one victim has changed


def damage_of(
    fault: Fault, engine: Engine, rng: np.random.Generator, output: Callable[..., Any] | None = None
) -> Damage:
    """Replace the states of the victims; `output(state)`, if given, is compared before and after."""
    configuration = engine.configuration()
    if not fault.values:
        require_alike(getattr(engine, "protocol", None), "a fault must name the values that it writes")
    leads = _Leads(configuration.space, output)
    if fault.kind == "join":
        return _joined(fault, configuration, leads, rng, engine.as_multiset)
    if not 1 <= fault.size <= configuration.n:
        raise InvalidInput(f"a fault with agents={fault.agents} is out of range 1..{configuration.n}")
    if engine.as_multiset and not isinstance(fault.agents, int):
        raise InvalidInput(f"engine {engine.name} keeps counts and knows no agent by its number; use engine agents")
    return (_damage_to_counts if engine.as_multiset else _damage_to_agents)(fault, configuration, leads, rng)


def _damage_to_agents(fault: Fault, configuration: Configuration, leads: Any, rng: np.random.Generator) -> Damage:
    space, agents = configuration.space, configuration.agents
    victims = _victims(fault, space, agents, rng)
    before = space.encode_array(agents[victims])
    if fault.kind == "leave":
        return Damage(Configuration(space, agents=np.delete(agents, victims)), bool(leads(before).any()))
    after = fault_codes(fault, space, before, rng)
    agents[victims] = space.decode_array(after)
    return Damage(Configuration(space, agents=agents), bool(np.any(leads(before) != leads(after))))


def _victims(fault: Fault, space: "StateSpace", agents: Any, rng: np.random.Generator) -> np.ndarray:
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


def _damage_to_counts(fault: Fault, configuration: Configuration, leads: Any, rng: np.random.Generator) -> Damage:
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
    if fault.kind == "leave":
        rest = spared > 0
        is_seen = bool(np.any(leads(codes) & (victims > 0)))
        return Damage(Configuration(space, codes=codes[rest], counts=spared[rest]), is_seen)
    if fault.values:
        changed, numbers = fault_codes(fault, space, codes, rng), victims
        is_seen = bool(np.any((leads(codes) != leads(changed)) & (victims > 0)))
    else:
        groups = _random_groups(space, codes, victims)
        changed, numbers = Configuration.from_groups(space, groups, rng, as_multiset=True).multiset
        is_seen = _matched_anew(victims[leads(codes)].sum(), numbers[leads(changed)].sum(), fault.size, rng)
    return Damage(_together(space, (codes, spared), (changed, numbers)), is_seen)


def _joined(
    fault: Fault, configuration: Configuration, leads: Any, rng: np.random.Generator, as_multiset: bool
) -> Damage:
    """Agents that join: with the fault's values and the lowest ones otherwise, or each in a uniformly random state."""
    space = configuration.space
    if fault.values:
        arrived = fault_codes(fault, space, np.zeros(1, np.int64), rng), np.array([fault.size])
    else:
        groups = [Group(fault.size, {}, random=True)]
        arrived = Configuration.from_groups(space, groups, rng, as_multiset=True).multiset
    is_seen = bool(leads(arrived[0]).any())
    if not as_multiset:
        agents = np.concatenate([configuration.agents, space.decode_array(np.repeat(*arrived))])
        return Damage(Configuration(space, agents=agents), is_seen)
    return Damage(_together(space, configuration.multiset, arrived), is_seen)


def _together(space: "StateSpace", first: Codes, second: Codes) -> Configuration:
    """Two multisets as one configuration."""
    codes, places = np.unique(np.concatenate([first[0], second[0]]), return_inverse=True)
    merged = np.zeros(len(codes), np.int64)
    np.add.at(merged, places, np.concatenate([first[1], second[1]]))
    return Configuration(space, codes=codes[merged > 0], counts=merged[merged > 0])


def require_churn(protocol: Protocol, topology: Topology, scheduler: Scheduler) -> None:
    """Refuse joining and leaving where the neighbours or the inputs of a new agent are undefined."""
    if not protocol.model.has_interactions:
        raise InvalidInput(f"agents join and leave populations, and {protocol.id} is a protocol {protocol.model.kind}")
    if not topology.is_complete:
        raise InvalidInput(f"agents join and leave complete graphs only, and this one is {topology.name}")
    if protocol.space.inputs:
        raise InvalidInput(f"agents of {protocol.id} have inputs, so they cannot join and leave")
    if not scheduler.even:
        raise InvalidInput(
            f"the scheduler {scheduler} is for {protocol.n} agents, and here they come and go; use uniform"
        )


def agents_left(faults: Sequence[Fault], protocol: Protocol, limit: int | None) -> int:
    """The number of agents after all bursts up to the limit; InvalidInput if it is ever too large or too small."""
    number = protocol.n
    for fault in sorted(faults, key=lambda fault: fault.step):
        change = {"join": fault.size, "leave": -fault.size}.get(fault.kind, 0)
        if not change or limit is not None and fault.step > limit:
            continue
        if not FEWEST <= number + change <= protocol.n:
            raise InvalidInput(
                f"at step {fault.step} there are {number} agents, of which {fault.size} cannot {fault.kind}: there "
                f"are always {FEWEST} to {protocol.n}, the n of the protocol; let fewer leave, or take a larger n"
                if change < 0
                else f"at step {fault.step} there are {number} agents, and {fault.size} more cannot join: there are at "
                f"most {protocol.n}, the n of the protocol; take a larger n and let the others leave at step 0"
            )
        number += change
    return number


def _random_groups(space: "StateSpace", codes: np.ndarray, victims: np.ndarray) -> list[Group]:
    """The victims in random states; their inputs stay."""
    if not space.inputs:
        return [Group(int(victims.sum()), {}, random=True)]
    told = space.decode_array(codes)[list(space.inputs)]
    kinds = np.unique(told)
    return [
        Group(int(victims[told == kind].sum()), dict(zip(space.inputs, kind.tolist(), strict=True)), random=True)
        for kind in kinds
    ]


def _matched_anew(before: int, after: int, agents: int, rng: np.random.Generator) -> bool:
    """Whether some output changes when `before` of the victims were leaders and a random set of `after` are now."""
    if before != after:
        return True
    if before in (0, agents):
        return False
    ways = math.comb(agents, int(before)) if min(before, agents - before) < 64 else math.inf
    return bool(rng.random() >= 1 / ways)


def fault_codes(fault: Fault, space: "StateSpace", codes: np.ndarray, rng: Any) -> np.ndarray:
    """The victims' new codes: random states, or their own states with the given values."""
    if not fault.values:
        return lasting(space, codes, with_kept(space, codes, space.random_codes(rng, len(codes))))
    if written := set(fault.values) & set(space.inputs):
        raise InvalidInput(f"a fault writes {sorted(written)[0]}, an input: no fault changes an input")
    changed = {}
    for code in np.unique(codes):
        state = space.namespace(code)
        for name, value in space.spread(fault.values).items():
            space.require_field(name)
            index = space.domains[name].index(value)
            if not isinstance(index, int | np.integer):
                raise InvalidInput(f"a fault writes {name} = {value!r}, which is not a value of {name}")
            setattr(state, name, index)
        changed[code] = space.code(state)
    return lasting(space, codes, space.code_array([changed[code] for code in codes]))


def with_kept(space: "StateSpace", codes: np.ndarray, after: np.ndarray) -> np.ndarray:
    """The codes `after` with what no fault changes: inputs, and whether an agent is halted."""
    if kept := (*space.inputs, *(HALTED,) * space.halts):
        told, agents = space.decode_array(codes), space.decode_array(after)
        for name in kept:
            agents[name] = told[name]
        return space.encode_array(agents)
    return after


class _Leads:
    """Which states are leaders; every distinct state is evaluated once. Without an output, none is."""

    def __init__(self, space: "StateSpace", output: Callable[..., Any] | None):
        self._space, self._output = space, output

    def __call__(self, codes: np.ndarray) -> np.ndarray:
        if self._output is None:
            return np.zeros(len(codes), bool)
        different, places = np.unique(codes, return_inverse=True)
        return np.array([bool(self._output(self._space.namespace(code))) for code in different], bool)[places]
