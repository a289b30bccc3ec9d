"""The subject of an exact result: a protocol on a graph, from given starts or from everywhere, and its chain."""

from functools import cached_property
from typing import cast

import numpy as np

from hegemon.compute.randomness import generator
from hegemon.display import Show
from hegemon.errors import InvalidInput
from hegemon.exact.chain import MEMORY, Chain, estimate, reachable_chain, require_memory, whole_chain
from hegemon.exact.configurations import Configurations, StartCodes
from hegemon.exact.decisions import Decisions, decide, law_chain
from hegemon.exact.recomputed import RecomputedChain, can_be_recomputed
from hegemon.exact.rounds import RoundConfigurations, round_chain
from hegemon.graphs.topology import Topology
from hegemon.models.inputs import describe_inputs
from hegemon.models.population import PopulationProtocol
from hegemon.models.protocol import Protocol
from hegemon.models.rounds import RoundsProtocol
from hegemon.process.schedulers.daemons import DAEMONS
from hegemon.process.schedulers.nodes import All, NodeScheduler
from hegemon.process.schedulers.reading import scheduler_for
from hegemon.process.schedulers.scheduler import Scheduler
from hegemon.runs.setting import Graph, Start, initial_configuration, topology_for

EVERYTHING = "all"  # the start that stands for every configuration


class Instance:
    """A protocol on a graph from given starts, and its chain; under a daemon, also its decisions."""

    decisions: Decisions | None = None

    def __init__(
        self, protocol: Protocol, graph: Graph = None, start: Start = None, symmetry: bool = True,
        memory: float = MEMORY, progress: Show | None = None, scheduler: "str | Scheduler | None" = None,
        daemon: str | None = None,
    ):  # fmt: skip
        build = protocol.model.home("chain")
        if protocol.fields:
            protocol.space.require_codes("not all of them can be followed; simulate it, or take a shorter array")
        protocol.require_sound()
        self.protocol = protocol
        self.topology = topology_for(protocol, graph)
        start = start if start is not None else protocol.default_start
        uniform = protocol.starts.get("random") is Protocol.start_random
        if isinstance(start, str) and (start == EVERYTHING or start == "random" and uniform):
            inputs = f" with {describe_inputs(protocol)}" if protocol.inputs else ""
            self.covers, starts = f"all configurations{inputs}", None
        else:
            self.covers = f"reachable from {start}" if isinstance(start, str) else "reachable from the given start"
            starts = [fixed_start(protocol, start, self.topology)]
        self.daemon = daemon
        self.scheduler = None if isinstance(scheduler, str) and scheduler == protocol.model.scheduler else scheduler
        if protocol.model.has_rounds:
            self.protocol = protocol.counted_in("rounds" if daemon is None and self.scheduler is None else "steps")
        if daemon is None:
            chosen = scheduler_for(scheduler, protocol, self.topology)
            self.space, self.chain = build(protocol, self.topology, starts, symmetry, memory, progress, chosen)
        else:
            if protocol.model.has_interactions:
                self.space = Configurations(cast(PopulationProtocol, protocol), self.topology, symmetry=False)
            else:
                self.space = RoundConfigurations(cast(RoundsProtocol, protocol), self.topology)
            self.decisions = decide(self.space, DAEMONS.get(daemon, daemon), starts, memory, progress)
            self.chain = self.decisions.chain

    @property
    def is_intended(self) -> bool:
        """Whether start and daemon are those that the author's claims are about."""
        default = self.protocol.default_start
        by_law = self.daemon is None and (self.scheduler is not None and self.protocol.model.has_rounds)
        return (
            not by_law
            and (self.daemon or "") == self.protocol.daemon
            and (default == "random" or self.covers == f"reachable from {default}")
        )

    @cached_property
    def starts(self) -> dict[str, int]:
        """The named starts that are one configuration each, where they are in the chain."""
        places = {}
        for name in self.protocol.starts:
            try:
                codes = fixed_start(self.protocol, name, self.topology)
            except InvalidInput:
                continue
            index = self.chain.index(codes)
            if index is not None:
                places[name] = index
        return places


def rounds_chain(
    protocol: RoundsProtocol, topology: Topology, starts: StartCodes | None, symmetry: bool, memory: float,
    progress: Show | None, scheduler: NodeScheduler,
) -> tuple[RoundConfigurations, Chain]:  # fmt: skip
    """The configurations of a rounds protocol, and their chain."""
    space = RoundConfigurations(protocol, topology)
    if isinstance(scheduler, NodeScheduler) and not isinstance(scheduler, All):
        return space, law_chain(space, scheduler, starts, memory, progress)
    return space, round_chain(space, starts, memory, progress)


def population_chain(
    protocol: PopulationProtocol, topology: Topology, starts: StartCodes | None, symmetry: bool, memory: float,
    progress: Show | None, scheduler: Scheduler,
) -> tuple[Configurations, Chain | RecomputedChain]:  # fmt: skip
    """The configurations of a population protocol up to symmetry, and their chain.

    The chain is stored where memory allows: many results are then much faster.
    """
    if any(chosen.whole for chosen in protocol.sets.values()) and not topology.is_directed_ring:
        # a predicate on the whole array may distinguish agents; on rings invariance is checked instead
        symmetry = False
    space = Configurations(protocol, topology, symmetry, scheduler)
    if starts is not None:
        return space, reachable_chain(space, starts, memory, progress)
    if space.memories > 1:  # a run begins in any configuration, but with an empty memory of the scheduler
        require_memory(space, estimate(space).bytes, memory, "the chain of all configurations", space.size)
        return space, reachable_chain(space, space.codes(space.all_keys()), memory, progress)
    if estimate(space).gib > memory and can_be_recomputed(space, memory):
        return space, RecomputedChain(space, progress)
    return space, whole_chain(space, memory, progress)


def fixed_start(protocol: Protocol, start: Start, topology: Topology) -> np.ndarray:
    """The codes of a start that is one configuration, not a distribution over many."""
    if isinstance(start, str) and start in protocol.starts:
        drawn = [protocol.initial(start, generator(seed), topology=topology) for seed in range(3)]
        if any(not np.array_equal(drawn[0].agents, draw.agents) for draw in drawn):
            raise InvalidInput(
                f"the start {start!r} of {protocol.id} is drawn at random; give {EVERYTHING!r}, a fixed start or a file"
            )
        configuration = drawn[0]
    else:
        configuration = initial_configuration(protocol, start, 0, 0, topology=topology)
    return protocol.space.encode_array(configuration.agents)
