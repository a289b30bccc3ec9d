"""The counterexample along a path of configurations, as a story."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from hegemon.runs.stories import Trace

if TYPE_CHECKING:
    from hegemon.exact.chain import Chain


def trace(chain: "Chain", path: list[int], changes: Sequence[bool | None] | None = None) -> Trace:
    """The story along a path of configurations; `changes`: for each step, whether an output must change."""
    space = chain.space
    codes = chain.codes_at(path[:1])[0]
    start, interactions = space.mappings(codes), []
    for begin, goal, change in zip(path, path[1:], changes or [None] * (len(path) - 1), strict=False):
        step, codes = space.step(codes, chain.keys[goal], change, int(chain.keys[begin] % space.memories))
        interactions.append(step)
    protocol = space.protocol
    return Trace.of(protocol, start, tuple(interactions), space.topology.name)


def path_from_start(chain: "Chain", index: int) -> list[int]:
    """The shortest path from a start to a configuration; every configuration is one in a whole chain."""
    return [index] if chain.is_whole else walked(cast(np.ndarray, chain.parents), index)


def walked(parents: np.ndarray, index: int) -> list[int]:
    """The path to a configuration, along which each has its predecessor among the parents; a start has none."""
    path = [index]
    while parents[path[-1]] >= 0:
        path.append(int(parents[path[-1]]))
    return path[::-1]
