"""The kernels of engine `rounds`, bound to a protocol, a stop and a graph."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from hegemon.compute.compilation import part, specialize
from hegemon.compute.records import clearer, copier, fitter, marker, packer, updating
from hegemon.engines.rounds import kernels
from hegemon.engines.rounds.kernels import Given, Shown
from hegemon.graphs.topology import Topology
from hegemon.models.packing import Packing
from hegemon.models.rounds import RoundsProtocol
from hegemon.process.membership import Membership
from hegemon.process.stopping import Stop


class RoundsKernels:
    """`author` are the parts that the kernels of fast-forward and lockstep are bound to as well; `given` is what they
    read in every call, and `shown` what whole predicates read."""

    def __init__(
        self, protocol: RoundsProtocol, topology: Topology, stop: Stop, packing: Packing, membership: Membership
    ):
        pack, unpack, layout = packer(packing)
        records, ports = protocol.record_types, protocol.neighbourhood == "ports"
        show = copier(protocol.public_names)
        self.toss: Callable[..., Any] = kernels.toss_values if protocol.coin_fields else kernels.toss_bits
        self.author: dict[str, Any] = {
            "pack": pack,
            "unpack": unpack,
            "clear": clearer(protocol.space, words=4),
            "show": show,
            "gather": part(kernels.gather_ports, records, show=show) if ports else kernels.gather,
            "fits": fitter(protocol.degree_fitting.source()),
            "update": updating(protocol.update, protocol.coins.names, protocol.coins.biased),
        }
        # As unsigned numbers: the compiler need not test whether an index is negative.
        graph = topology.offsets.view(np.uint64), topology.targets.view(np.uint32)
        back = topology.back if ports else np.zeros(0, np.int64)
        self.given = Given(protocol.compiled_p, layout, *graph, back, protocol.degree_fitting.limits)
        self.pack = specialize(kernels.pack_all, records, pack=pack, show=show)
        self.unpack = specialize(kernels.unpack_all, records, unpack=unpack)
        self.show = specialize(kernels.show_all, records, unpack=unpack, show=show)
        # Shared by all stops: it takes long to compile.
        self.sweep = specialize(kernels.sweep, records, **self.author, toss=self.toss)
        self.tally = specialize(kernels.tally, records, unpack=unpack, note=marker(stop.conditions))
        moved = {"sweep": self.sweep, "tally": self.tally}
        self.part_of_round = specialize(kernels.part_of_round, records, **moved)
        self.recurs = specialize(kernels.recurs)
        holds, checks = kernels.nothing_more, membership.whole_checks
        if checks:
            every = reduce(lambda a, b: part(kernels.both, records, first=a, second=b), checks)
            holds = part(kernels.whole_met, records, unpack=unpack, check=every)
        together = {"part_of_round": part(kernels.part_of_round, records, **moved), "holds": holds}
        together |= {"meets": part(kernels.meets), "recurs": part(kernels.recurs)}
        self.run = specialize(kernels.run, records, **together)
        agents = np.zeros(topology.n if checks else 0, protocol.space.dtype)
        self.shown = Shown(agents, topology.offsets, topology.targets)
