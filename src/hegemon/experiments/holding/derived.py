"""Importance from the exact chain at a small n: its committor, in observables that exist at every n.

The committor of a configuration is the probability that the leader is lost before the usual state is seen again. It
and the expected visits come from one linear system each, exact at the small n. Averaged over the entries of
the table that `sketch` describes, the logarithm of the committor is an importance for every n.
"""

import dataclasses

import numpy as np
from scipy.sparse import csr_array

from hegemon.errors import InvalidInput
from hegemon.exact.chain import Chain
from hegemon.exact.instance import Instance
from hegemon.exact.solving import LinearSystem
from hegemon.experiments.holding import sketch
from hegemon.experiments.holding.learning import LearntTable, committor_table, learnt, resized
from hegemon.experiments.holding.process import Process, Walker

LARGEST = 10_000  # configurations: a larger chain is not followed by one with another agent
MEMORY = 0.5  # GiB for a chain


def derived(process: Process, seed: int, tell=lambda *_: None) -> LearntTable:
    """From the largest n whose chain from the start is still small."""
    protocol, start = process.protocol, process.named_start
    if start is None or not process.topology.is_complete:
        raise InvalidInput("importance can be derived for a named start on the complete graph; take learnt instead")
    found = None
    for n in range(max(protocol.smallest_n, 3), protocol.n + 1):
        tell("deriving importance from the exact chain", n, None)
        try:
            small = Process(resized(protocol, n), None, start)
            chain = Instance(small.protocol, None, start, True, MEMORY).chain
        except InvalidInput:
            break
        found = small, chain
        if chain.size > LARGEST:
            break
    if found is None:
        raise InvalidInput(f"no exact chain of {protocol.id} is small enough to derive an importance; take learnt")
    small, chain = found
    walker = Walker(small, LearntTable("nothing", "", sketch.blank(small).table).logging(chain.size))
    gain, weight = _averaged(walker, chain)
    sentence = f"derived from the exact committor at n = {small.protocol.n}, refined by pilot splitting at growing n"
    first = LearntTable("derived", sentence, committor_table(gain, weight, None, -1.0))
    return dataclasses.replace(learnt(process, seed, tell, first), name="derived", sentence=sentence)


def _averaged(walker: Walker, chain: Chain) -> tuple[np.ndarray, np.ndarray]:
    committor, visits = _solved(chain)
    rows = np.flatnonzero(visits > 0)
    tables = walker.model.tables
    for row in rows:
        walker.importance(chain.codes[row].astype(walker.process.kind), walker.model)
    log, clocks = tables.log[: len(rows)], tables.clocks[: len(rows)]
    weight = sketch.spread(tables, log, clocks, visits[rows])
    return sketch.spread(tables, log, clocks, visits[rows] * committor[rows]), weight


def _solved(chain: Chain) -> tuple[np.ndarray, np.ndarray]:
    """Of every configuration: by how much it shortens the holding time, and expected visits before the loss.

    From x the leader is held for h(x) steps. Either it is lost before the usual state is reached, with probability
    q(x), or everything begins anew: so h(x) is about (1 - q(x)) times the longest.
    """
    active = np.ones(chain.size, bool)
    times = LinearSystem(chain.offsets, chain.targets, chain.keeps, chain.denominator, active).expected_steps().values
    size, start = chain.size, chain.starts[0]
    matrix = csr_array((chain.keeps, chain.targets, chain.offsets), (size, size)).tocsc()
    backwards = LinearSystem(matrix.indptr.astype(np.int64), matrix.indices, matrix.data, chain.denominator, active)
    begin = np.zeros(size)
    begin[start] = chain.denominator
    visits, _ = backwards.refined(begin)
    return np.clip(1 - times / times.max(), 0.0, 1.0), np.maximum(visits, 0.0)
