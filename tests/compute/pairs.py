"""The uniform scheduler's pairs of a complete graph, one by one."""

from hegemon.compute.border import ingredient
from hegemon.compute.compilation import lean
from hegemon.process.schedulers.uniform import pair_complete

_pair = lean(pair_complete)


@ingredient()
def next_pair(state, n):
    i, j, state[0], state[1], state[2], state[3] = _pair(None, n, state[0], state[1], state[2], state[3])
    return i, j
