"""Whether a set that is declared closed is left: a cheap random search for a counterexample in plain Python.

A run finds the first step inside a closed set by bisection, so a false declaration gives a wrong step. Configurations
inside are found along runs from the protocol's starts; every step from them must stay inside. The absence of a
counterexample is no proof: for a proof there is the exact closure of `verify`.
"""

from typing import cast

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.population import PopulationProtocol
from hegemon.models.protocol import Protocol
from hegemon.process.schedulers.uniform import UNIFORM

STEPS = 2000  # plain interactions per start
LARGEST_N = 64


def check_closed(
    protocol: Protocol, name: str, topology: Topology, rng: np.random.Generator, steps: int = STEPS
) -> int:
    """The number of steps seen inside a set that is declared closed; InvalidInput if a step leaves it.

    For population protocols of at most a few dozen agents; `topology` says who can meet. Runs begin where the claim
    holds: anywhere, or at the default start of a protocol that is not made to start anywhere.
    """
    chosen = protocol.set_named(name)
    if not chosen.closed or not protocol.model.has_interactions or protocol.n > LARGEST_N:
        return 0
    seen, meeting = 0, cast(PopulationProtocol, protocol)
    for start in protocol.starts if protocol.arbitrary_start else [protocol.default_start]:
        agents = protocol.initial(start, rng).agents
        nodes = [protocol.space.namespace(code) for code in protocol.space.encode_array(agents)]
        inside = chosen.contains(nodes, protocol.p, protocol.values)
        for _ in range(steps):
            first, second = UNIFORM.meet(topology, lambda bound: int(rng.integers(bound)))
            pair = protocol.space.code(nodes[first]), protocol.space.code(nodes[second])
            coin = int(rng.integers(meeting.coins.size)) if meeting.coin_fields else 0
            nodes[first], nodes[second] = map(protocol.space.namespace, meeting.transition_codes(*pair, coin))
            was, inside = inside, chosen.contains(nodes, protocol.p, protocol.values)
            seen += was
            if was and not inside:
                raise InvalidInput(
                    f"{protocol.id}: the set {name} claims to be closed, but the "
                    f"{meeting.shown_meeting(*pair, coin)} leaves it: the declaration or the protocol is wrong"
                )
    return seen
