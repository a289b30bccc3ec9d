"""A scheduler: a subclass of `Scheduler`, or a function that reads what follows the colon and returns one."""

from hegemon.process.schedulers.cyclic import Cyclic
from hegemon.process.schedulers.uniform import all_arcs


def read_back_and_forth(words, protocol, topology):
    """All arcs in turn, then the same arcs in the opposite order, again and again; nothing follows the colon."""
    arcs = all_arcs(topology).tolist()
    return Cyclic([*arcs, *reversed(arcs)], "back-and-forth")
