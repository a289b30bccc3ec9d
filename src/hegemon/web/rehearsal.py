"""Which values the fields of a run take, found before it is shown, by a few interactions in plain Python.

A field with values up to 2304 that stays between 2290 and 2304 would have one shade. The values found here decide where
shades are fine. No run changes by this, and values that were not met have a shade too.
"""

import contextlib
from typing import Any

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.process.schedulers.uniform import UNIFORM

MOST_MEETINGS, MOST_AGENTS, ROUNDS = 480, 200, 20


def rehearsed(protocol: Any, topology: Topology, agents: np.ndarray) -> np.ndarray:
    """The agents of a start and after each of some rounds: one row of records per moment.

    In rounds, and in large populations, the start alone.
    """
    if not protocol.model.has_interactions or protocol.n > MOST_AGENTS:
        return agents[np.newaxis]
    rng = np.random.default_rng(0)
    space = protocol.space
    codes = list(map(int, space.encode_array(agents)))
    kept = [*codes]
    with contextlib.suppress(InvalidInput):  # the author's code failed: the run itself reports it
        for step in range(1, min(MOST_MEETINGS, ROUNDS * protocol.n) + 1):
            first, second = UNIFORM.meet(topology, lambda bound: int(rng.integers(bound)))
            coin = int(rng.integers(protocol.coins.size)) if protocol.coin_fields else 0
            codes[first], codes[second] = protocol.transition_codes(codes[first], codes[second], coin)
            if step % protocol.n == 0:
                kept += codes
    return space.decode_array(np.array(kept, np.int64 if space.has_codes else object)).reshape(-1, protocol.n)
