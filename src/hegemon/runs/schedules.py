"""Start files may prescribe the first interactions or rounds, such as a counterexample; later ones are random."""

from typing import Any, TypeAlias, cast

import numpy as np

from hegemon.engines.engine import Engine
from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.configuration import Configuration
from hegemon.models.population import PopulationProtocol
from hegemon.models.protocol import Protocol
from hegemon.models.rounds import RoundsProtocol
from hegemon.models.start_files import StartFile, opened
from hegemon.runs.setting import Start

Prescribed: TypeAlias = tuple[int, int, int] | list[tuple[int, int]]  # initiator, responder, coins; or (node, code)


def read_rounds(start: Start | StartFile, protocol: Protocol, topology: Topology) -> list[list[tuple[int, int]]]:
    """The `rounds` of a JSON start file: in each, the nodes that change, with the codes of their next states.

    In the file a round is a list of [node, state]. Whether a node can reach the state is checked during the round.
    """
    rounds = []
    for number, told in enumerate(start.listed("rounds") if isinstance(start, StartFile) else (), start=1):
        what = f"{start}: round {number}"
        if not isinstance(told, list) or not all(isinstance(one, list) and len(one) == 2 for one in told):
            raise InvalidInput(f'{what} is not a list of changes such as [0, {{"field": value}}]')
        for node, _ in told:
            if type(node) is not int or not 0 <= node < topology.n:
                raise InvalidInput(f"{what}: {node!r} is not one of the nodes 0..{topology.n - 1}")
        rounds.append([(node, int(protocol.space.code(protocol.space.parse(state)))) for node, state in told])
    return rounds


def after_round(
    protocol: RoundsProtocol, topology: Topology, agents: np.ndarray, changes: list[tuple[int, int]], number: int
) -> np.ndarray:
    """The agents after a prescribed round, which some coins must allow; nodes that are not mentioned do not move."""
    space, codes = protocol.space, protocol.space.encode_array(agents)
    possible = protocol.outcomes(protocol.namespaces(agents), topology)
    for node, code in changes:
        if code not in [space.code(state) for state in possible[node]]:
            told = ", ".join(f"{name}={value}" for name, value in space.mapping_of(code).items())
            raise InvalidInput(f"round {number} cannot be followed: node {node} never becomes {told} there")
        codes[node] = code
    return space.decode_array(codes)


def read_interactions(
    start: Start | StartFile, protocol: PopulationProtocol, topology: Topology
) -> list[tuple[int, int, int]]:
    """The `interactions` of a JSON start file: initiator, responder, and the number of what their coins show.

    In the file an interaction is an arc [initiator, responder] of the graph, or [initiator, responder, {"coin": value}]
    where the protocol tosses coins.
    """
    schedule = []
    for told in start.listed("interactions") if isinstance(start, StartFile) else ():
        pair = told[:2] if isinstance(told, list) else told
        coins = told[2] if isinstance(told, list) and len(told) == 3 else {}
        whole = isinstance(pair, list) and len(told) in (2, 3) and all(type(agent) is int for agent in pair)
        if not whole or not all(0 <= agent < topology.n for agent in pair) or pair[0] == pair[1]:
            raise InvalidInput(f"{start}: the interaction {told} is not a pair of different agents 0..{topology.n - 1}")
        if not topology.is_complete and pair[1] not in topology.neighbours(pair[0]):
            raise InvalidInput(f"{start}: the interaction {told} is not an arc of {topology.name}")
        if not isinstance(coins, dict):
            raise InvalidInput(f'{start}: the coins of the interaction {told} must be given as {{"name": value}}')
        schedule.append((pair[0], pair[1], protocol.coins.number(coins)))
    return schedule


def prescribed_steps(start: Start | StartFile, protocol: Protocol, topology: Topology) -> list[Any]:
    """The interactions or rounds of a start, or of the file that it names, for `carry_out`."""
    if not protocol.model.has_configurations:
        return []
    start = opened(start, protocol.starts)
    if protocol.model.has_rounds:
        return read_rounds(start, protocol, topology)
    return read_interactions(start, cast(PopulationProtocol, protocol), topology)


def carry_out(
    prescribed: Prescribed, protocol: Protocol, topology: Topology, engine: Engine
) -> tuple[list[int], np.ndarray, np.ndarray]:
    """Make a prescribed interaction or round; returns who acted, and their codes before and after.

    Nodes that a round does not mention do not move, as under a daemon that passes over them.
    """
    space, agents = protocol.space, engine.configuration().agents
    before = space.encode_array(agents)
    after = before.copy()
    if isinstance(prescribed, list):
        acting, moving = [node for node, _ in prescribed], cast(RoundsProtocol, protocol)
        after = space.encode_array(after_round(moving, topology, agents, prescribed, engine.step + 1))
    else:
        *acting, coin = prescribed
        first, second = before[acting]
        after[acting] = cast(PopulationProtocol, protocol).transition_codes(first, second, coin)
    engine.follow(acting, Configuration(space, agents=space.decode_array(after)))
    return acting, before[acting], after[acting]
