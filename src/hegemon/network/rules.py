"""A protocol as members of a network use it: plain Python on codes of states, and no more than that."""

import random
from functools import lru_cache

from hegemon.errors import InvalidInput
from hegemon.network.nodes import MessageCodes

REMEMBERED = 1 << 16  # pairs of states whose interaction is remembered, by all agents of one process


class MemberRules:
    """What two states become, which states are leaders, and which states there are. `interact` sees states only."""

    def __init__(self, protocol):
        self.works_in_rounds = protocol.model.has_rounds
        self.works_by_messages = protocol.model.wakes
        if self.works_by_messages:
            self._require_told(protocol)
            self.protocol, self.size = protocol, 1
            return
        if not self.works_in_rounds and not protocol.model.has_interactions:
            raise InvalidInput(
                f"{protocol.id} is of the {protocol.model} model; members of a network need a protocol with finitely "
                "many states that elects from any of them, such as time-optimal or trains"
            )
        if getattr(protocol, "oriented", False):
            raise InvalidInput(f"{protocol.id} needs to know left from right, which a list of peers does not show")
        if getattr(protocol, "needs_exact_n", False):
            raise InvalidInput(
                f"{protocol.id} needs to know the exact number of members, which no member of a network does; "
                "choose one that needs an upper bound, such as time-optimal or timer"
            )
        if getattr(protocol, "needs_oracle", False):
            raise InvalidInput(
                f"{protocol.id} needs an oracle that reports whether a leader exists; choose time-optimal"
            )
        if protocol.inputs:
            raise InvalidInput(
                f"{protocol.id} gives some agents an input ({', '.join(protocol.inputs)}), which members of a "
                "network do not have"
            )
        if not self.works_in_rounds:
            protocol.refuse_coins("members of a network, which must agree on an interaction's outcome, do not run it")
        protocol.require_sound()
        self.protocol = protocol
        self.size = protocol.space.size
        if not self.works_in_rounds:
            self.interact = lru_cache(REMEMBERED)(protocol.transition_codes)
        self.is_leader = lru_cache(REMEMBERED)(self._is_leader) if protocol.elects_leader else lambda code: False

    def _is_leader(self, code: int) -> bool:
        return self.protocol.holds(self.protocol.output, self.protocol.space.namespace(code))

    def _require_told(self, protocol) -> None:
        """Nodes that pass messages know their ports, and of the graph only what the parameters say."""
        if protocol.untold:
            raise InvalidInput(f"members of {protocol.id} know nothing of the graph: give {protocol.untold}")
        MessageCodes(protocol)  # refuses messages that fit into no word

    def start(self, name: str | None, rng: random.Random) -> int:
        """A member's own first state: drawn from all states, or a start in which all agents are alike."""
        if self.works_by_messages:
            if name is not None:
                raise InvalidInput(f"{self.protocol.id} has one start, in which all nodes are alike; leave --start out")
            return 0
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

    def mapping(self, code: int) -> dict:
        """A state as people read it."""
        return self.protocol.space.mapping_of(code)


def neighbours_of(n: int, topology=None) -> list[list[int]]:
    """Whom each agent asks: everybody, or its out-neighbours in the topology."""
    if topology is None or topology.is_complete:
        return [[other for other in range(n) if other != v] for v in range(n)]
    return [topology.neighbours(v).tolist() for v in range(n)]
