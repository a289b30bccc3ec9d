"""A graph family: a function of whole numbers (and of `rng`, where it draws) that returns a topology."""

import numpy as np

from hegemon import InvalidInput, Topology


def wheel(n: int) -> Topology:
    """A hub, node 0, and a ring around it of the other n - 1 nodes."""
    if n < 4:
        raise InvalidInput(f"'wheel:{n}' has {n} nodes, but n must be at least 4: use for instance wheel:8")
    rim = np.arange(1, n)
    tails, heads = np.concatenate([np.zeros_like(rim), rim]), np.concatenate([rim, np.roll(rim, -1)])
    return Topology.from_edges(f"wheel:{n}", n, tails, heads)
