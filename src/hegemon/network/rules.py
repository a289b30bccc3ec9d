"""A protocol as members of a network use it, one class per model: plain Python on codes of states."""

import os
import random
import secrets
from functools import lru_cache
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.messages import MessageProtocol
from hegemon.models.neighbourhoods import require_alike
from hegemon.models.population import PopulationProtocol
from hegemon.models.protocol import Protocol
from hegemon.models.rounds import RoundsProtocol
from hegemon.network.agent import Agent
from hegemon.network.nodes import MessageCodes, MessageNode, RoundsNode
from hegemon.network.synchronizer import Synchronizer

REMEMBERED = 1 << 16  # pairs of states whose interaction is remembered, by all agents of one process


class MemberRules:
    """Which states a member may have, which of them are leaders, and what follows its exchanges with others."""

    elects_once = False
    usual_rate = 10.0  # rounds per second, or interactions that a member begins
    size: int

    def __init__(self, protocol: Protocol):
        if getattr(protocol, "oriented", False):
            raise InvalidInput(f"{protocol.id} needs to know left from right, which a list of peers does not show")
        if getattr(protocol, "neighbourhood", "set") == "ports":
            raise InvalidInput(
                f"{protocol.id} needs ports: a member knows its peers, but not by which number each of them calls it"
            )
        require_alike(protocol, "members, whose peers come and go, do not run it")
        if protocol.needs_exact_n:
            raise InvalidInput(
                f"{protocol.id} needs to know the exact number of members, which no member of a network does; "
                "choose one that needs an upper bound, such as time-optimal or timer"
            )
        if protocol.needs_oracle:
            raise InvalidInput(
                f"{protocol.id} needs an oracle that reports whether a leader exists; choose time-optimal"
            )
        if protocol.inputs:
            raise InvalidInput(
                f"{protocol.id} gives some agents an input ({', '.join(protocol.inputs)}), which members of a "
                "network do not have"
            )
        protocol.space.require_codes("they do not fit into the 64 bits of a datagram; take a shorter array")
        protocol.require_sound()
        self.protocol, self.size = protocol, protocol.space.size
        self.is_leader = lru_cache(REMEMBERED)(self._is_leader) if protocol.elects_leader else lambda code: False

    def _is_leader(self, code: int) -> bool:
        return self.protocol.holds(self.protocol.output, self.protocol.space.namespace(code))

    @classmethod
    def informed(cls, protocol: Protocol, topology: Topology) -> Protocol:
        """The protocol with all that its nodes know about the graph."""
        return protocol

    def start(self, name: str | None, rng: random.Random) -> int:
        """A member's own first state: drawn from all states, or a start in which all agents are alike."""
        name = name or ("random" if self.protocol.arbitrary_start else self.protocol.default_start)
        if name == "random":
            return rng.randrange(self.size)
        import numpy as np

        if self.protocol.reads_graph:
            raise InvalidInput(f"{self.protocol.id}: only the start random needs no graph, and members know of none")
        configuration = self.protocol.initial(name, np.random.default_rng(rng.getrandbits(64)))
        codes, _ = configuration.multiset
        if len(codes) != 1:
            raise InvalidInput(
                f"the start {name} of {self.protocol.id} gives its agents different states, and members do not know "
                "which of them they are; use random, or one in which all are alike"
            )
        return int(codes[0])

    def agent(self, state: int, degree: int, *where: Any, **options: Any) -> Agent | Synchronizer:
        """The object that makes the exchanges of a member with `degree` peers; `where` is wire, transport, clock."""
        raise NotImplementedError

    def shown(self, agent: Any) -> dict[str, Any]:
        """A member's state in readable form."""
        return self.protocol.space.mapping_of(agent.state)


class InteractionRules(MemberRules):
    """Two members meet."""

    usual_rate = 50.0

    def __init__(self, protocol: PopulationProtocol):
        protocol.refuse_coins("members of a network, which must agree on an interaction's outcome, do not run it")
        super().__init__(protocol)
        self.interact = lru_cache(REMEMBERED)(protocol.transition_codes)

    def agent(self, state: int, degree: int, *where: Any, **options: Any) -> Agent:
        return Agent(self, *where, state=state, **options)


class RoundsRules(MemberRules):
    """A member reads its peers' states in every round."""

    protocol: RoundsProtocol

    def agent(self, state: int, degree: int, *where: Any, **options: Any) -> Synchronizer:
        tosses = self.protocol.coin_values
        node = RoundsNode(self.protocol, state, lambda round: secrets.randbelow(tosses))
        return Synchronizer(node, *where, **options)


class MessageRules(MemberRules):
    """A member passes messages. It knows its ports, and of the graph only what the parameters say."""

    elects_once = True
    size = 1
    protocol: MessageProtocol

    def __init__(self, protocol: MessageProtocol):
        if protocol.missing_parameters:
            missing = protocol.missing_parameters
            raise InvalidInput(f"members of {protocol.id} know nothing of the graph: give {missing}")
        if protocol.has_identifiers:
            raise InvalidInput(
                f"members of a network are anonymous, and nodes of {protocol.id} have identifiers; simulate it by run, "
                "or take an anonymous protocol such as itai-rodeh"
            )
        MessageCodes(protocol)  # raises InvalidInput if a message does not fit into a word
        self.protocol = protocol

    @classmethod
    def informed(cls, protocol: Any, topology: Topology) -> Protocol:
        made: Protocol = type(protocol)(protocol.n, **protocol.parameters | protocol.adapt(topology).graph_parameters)
        return made

    def start(self, name: str | None, rng: random.Random) -> int:
        if name is not None:
            raise InvalidInput(f"{self.protocol.id} has one start, in which all nodes are alike; leave --start out")
        return 0

    def agent(self, state: int, degree: int, *where: Any, **options: Any) -> Synchronizer:
        node = MessageNode(self.protocol, degree, random.Random(os.urandom(32)))
        return Synchronizer(node, *where, **options)

    def shown(self, agent: Any) -> dict[str, Any]:
        return {"status": agent.node.status}


def neighbours_of(n: int, topology: Topology | None = None) -> list[list[int]]:
    """The peers that each agent contacts: all others, or its out-neighbours in the topology."""
    if topology is None or topology.is_complete:
        return [[other for other in range(n) if other != v] for v in range(n)]
    return [topology.neighbours(v).tolist() for v in range(n)]
