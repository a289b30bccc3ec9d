"""The exact long run of a population with events: how large a share of all steps has exactly one leader.

Events (`runs/rates.py`) are further transitions of the chain of all configurations; where agents come and go, of the
chains of every number of agents. The process returns to one configuration infinitely often, and what happens between
two returns decides every long-run share: expected steps with one leader over expected steps. Both are solutions of
systems whose residuals bound their error (see `solving`), so the share has a proved error too.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hegemon import display
from hegemon.display import Show
from hegemon.errors import InvalidInput
from hegemon.exact.chain import GIB, MEMORY, Chain, matrix, whole_chain
from hegemon.exact.configurations import Configurations
from hegemon.exact.graph_kernels import components
from hegemon.exact.numbering import count_marked
from hegemon.exact.solving import REQUIRED, ROUNDING, LinearSystem
from hegemon.exact.solving import unreliable as unsolved
from hegemon.graphs.families import complete
from hegemon.graphs.topology import Topology
from hegemon.models.halting import halting, lasting
from hegemon.models.population import PopulationProtocol
from hegemon.models.protocol import Protocol
from hegemon.models.unreliable import unreliable
from hegemon.process.schedulers.reading import scheduler_for
from hegemon.process.schedulers.scheduler import Scheduler
from hegemon.runs import kinds
from hegemon.runs.faults import FEWEST, fault_codes, require_churn, with_kept
from hegemon.runs.rates import EventProcess, Rate, churns, marks_of, read_rates
from hegemon.runs.setting import Graph, topology_for

LARGEST_DENOMINATOR = 2**53
PER_ENTRY = 60  # bytes, while the transitions are put together


@dataclass(frozen=True)
class LongRun:
    """`availability` is the share of steps with exactly one leader, within `error`.

    A gap lasts `mean_gap` steps on average, and one leader `mean_held`, each within the relative error; None where
    there are no gaps, or nothing else.
    """

    availability: float
    error: float
    mean_gap: float | None
    mean_held: float | None
    relative_error: float
    configurations: int
    transitions: int
    agents: tuple[int, ...]  # the numbers of agents that there can be

    def __str__(self) -> str:
        numbers = " … ".join(f"{n:,}" for n in sorted({self.agents[0], self.agents[-1]}))
        about = {
            "availability": f"{self.availability:.10g} ± {self.error:.2g}",
            "mean gap": self.mean_gap,
            "one leader for": self.mean_held,
            "configurations": self.configurations,
        }
        return display.plain(f"share of steps with exactly one leader in the long run, n = {numbers}", about)

    def record(self) -> dict[str, list[int] | float | None]:
        return {
            "availability": self.availability,
            "error": self.error,
            "mean_gap": self.mean_gap,
            "mean_held": self.mean_held,
            "relative_error": self.relative_error,
            "configurations": self.configurations,
            "transitions": self.transitions,
            "agents": list(self.agents),
        }


@kinds.door()
@display.with_progress
def availability(
    protocol: PopulationProtocol, *, rates: "Sequence[Rate | str]", graph: Graph = None,
    scheduler: "str | Scheduler | None" = None, loss: float | str = 0, one_sided: float | str = 0,
    memory: float = MEMORY, progress: display.Show | None = None,
) -> LongRun:  # fmt: skip
    """The exact long-run share of steps with exactly one leader, and the mean length of the gaps, under events.

    The options are those of `simulate`; `memory` is in GiB.
    """
    rates = read_rates(rates)
    protocol = unreliable(halting(protocol, marks_of(rates)), loss, one_sided)
    topology = topology_for(protocol, graph)
    protocol.require_sound()
    if not protocol.elects_leader:
        raise InvalidInput(f"availability is about exactly one leader, and {protocol.id} elects none")
    if not protocol.model.has_interactions:
        raise InvalidInput(f"events are for populations, and {protocol.id} is {protocol.model.kind}")
    if not rates:
        raise InvalidInput("availability is a share of the long run with events; give a rate such as corrupt=1/1000")
    EventProcess(rates, protocol, np.random.default_rng(0))  # refuses what a run refuses
    chosen, changes = scheduler_for(scheduler, protocol, topology), churns(rates)
    if changes:
        require_churn(protocol, topology, chosen)
    if protocol.space.inputs:
        raise InvalidInput(f"agents of {protocol.id} have inputs, which the chain with events does not follow; use run")
    numbers = tuple(range(FEWEST, protocol.n + 1)) if changes else (protocol.n,)
    spaces = {m: _configurations(protocol, complete(m) if changes else topology, chosen) for m in numbers}
    if any(space.memories > 1 for space in spaces.values()):
        raise InvalidInput(f"the scheduler {chosen} remembers what has happened; events need uniform or weighted")
    return LongRunChain(protocol, spaces, rates, memory, progress).answer()


def _configurations(protocol: PopulationProtocol, topology: Topology, scheduler: Scheduler) -> Configurations:
    """The configurations: multisets where every pair can meet. Events do not support rotations."""
    return Configurations(protocol, topology, topology.is_complete and not topology.is_directed_ring, scheduler)


class LongRunChain:
    """All configurations of all numbers of agents, one after the other, and the transitions between them."""

    def __init__(
        self,
        protocol: Protocol,
        spaces: dict[int, Configurations],
        rates: tuple[Rate, ...],
        memory: float,
        progress: Show | None,
    ):
        self.protocol, self.spaces, self.rates, self.progress = protocol, spaces, rates, progress
        sizes = [space.size for space in spaces.values()]
        entries = sum(s * (space.width + m * space.q) for s, (m, space) in zip(sizes, spaces.items(), strict=True))
        if entries * PER_ENTRY > memory * GIB:
            raise InvalidInput(
                f"the chain of {protocol.id} with these events would take about {entries * PER_ENTRY / GIB:.3g} GiB, "
                f"more than the {memory:g} GiB allowed; raise the memory (--memory), or take a "
                "smaller n or smaller parameters"
            )
        self.first = dict(zip(spaces, np.concatenate([[0], np.cumsum(sizes)[:-1]]).tolist(), strict=True))
        self.size = sum(sizes)
        self.codes = {m: space.codes(space.all_keys()) for m, space in spaces.items()}
        self.denominator = self._common_denominator()
        has_one_leader = [count_marked(codes, spaces[m].outputs) == 1 for m, codes in self.codes.items()]
        self.inside = np.concatenate(has_one_leader)
        rows = [self._interactions(m) for m in spaces] + [part for m in spaces for part in self._events(m)]
        from scipy.sparse import coo_array  # only here: it takes long to load

        sources, targets, weights = (np.concatenate(part) for part in zip(*rows, strict=True))
        table = coo_array((weights, (sources, targets)), (self.size, self.size)).tocsr()
        table.sum_duplicates()
        self.offsets, self.targets, self.weights = table.indptr.astype(np.int64), table.indices, table.data
        assert np.all(np.add.reduceat(self.weights, self.offsets[:-1]) == self.denominator)

    def _common_denominator(self) -> int:
        left = Fraction(1 - sum(rate.rate for rate in self.rates))
        parts: list[Fraction] = []
        for m, space in self.spaces.items():
            parts.append(left / space.arcs)
            for rate in self.rates:
                parts.append(Fraction(rate.rate, (1 if rate.kind == "join" else m) * self._states(rate)))
        common = math.lcm(*(part.denominator for part in parts))
        if common > LARGEST_DENOMINATOR:
            raise InvalidInput(
                "the rates are too fine for an exact chain: write them with fewer digits, such as 1/1000"
            )
        return common

    def _states(self, rate: Rate) -> int:
        """The number of states that the affected agent may get, all equally likely."""
        return self.protocol.space.size if rate.is_random else 1

    def _interactions(self, m: int) -> tuple[Any, ...]:
        space = self.spaces[m]
        chain: Chain = whole_chain(space, 1e9, self.progress)
        scale = self.denominator * (1 - sum(rate.rate for rate in self.rates)) / space.arcs
        sources = np.repeat(np.arange(chain.size), np.diff(chain.offsets)) + self.first[m]
        return sources, chain.targets.astype(np.int64) + self.first[m], chain.weights.astype(np.int64) * int(scale)

    def _events(self, m: int) -> Iterator[Any]:
        codes, q = self.codes[m], self.protocol.space.size
        sources = np.arange(len(codes)) + self.first[m]
        for rate in self.rates:
            share = self.denominator * rate.rate / (1 if rate.kind == "join" else m) / self._states(rate)
            weights = np.full(len(codes), int(share))
            possible = {"join": m + 1 in self.spaces, "leave": m - 1 in self.spaces}.get(rate.kind, True)
            if not possible:
                yield sources, sources, np.full(len(codes), int(self.denominator * rate.rate))
            elif rate.kind == "join":
                for code in range(q) if rate.is_random else (0,):
                    joining = self._after(rate, np.zeros(1, np.int64), code)
                    joined = np.concatenate([codes, np.full((len(codes), 1), joining)], axis=1)
                    yield sources, self._places(m + 1, joined), weights
            else:
                for place in range(m):
                    if rate.kind == "leave":
                        yield sources, self._places(m - 1, np.delete(codes, place, axis=1)), weights
                        continue
                    for code in range(q) if rate.is_random else (0,):
                        changed = codes.copy()
                        changed[:, place] = self._after(rate, codes[:, place], code)
                        yield sources, self._places(m, changed), weights

    def _after(self, rate: Rate, codes: np.ndarray, code: int) -> np.ndarray:
        """The states after the event: with the given values, or the random state `code`."""
        space = self.protocol.space
        if rate.is_random:
            return lasting(space, codes, with_kept(space, codes, np.full(len(codes), code)))
        return fault_codes(rate.fault, space, codes, None)

    def _places(self, m: int, codes: np.ndarray) -> np.ndarray:
        space = self.spaces[m]
        if space.multiset:
            keys = space.model.choose[np.arange(m), np.sort(codes, axis=1)].sum(axis=1)
        else:
            keys = codes @ np.array([space.q**place for place in range(m)], np.int64)
        return keys + self.first[m]

    def answer(self) -> LongRun:
        if self.progress:
            self.progress("the long run", 0, self.size)
        everywhere = np.ones(self.size, bool)
        label, order, _ = components(self.offsets, self.targets, everywhere)
        leaves = np.zeros(label.max() + 1, bool)
        sources = np.repeat(np.arange(self.size), np.diff(self.offsets))
        leaves[label[sources[label[sources] != label[self.targets]]]] = True
        if not np.any(self.inside & ~leaves[label]):  # in the long run there is never exactly one leader
            return LongRun(0.0, 0.0, None, None, 0.0, self.size, len(self.targets), tuple(self.spaces))
        if np.count_nonzero(~leaves) != 1:
            raise InvalidInput(
                "the long run depends on the start: some configurations can never be left for others; give a rate such "
                "as corrupt=1e-4 without values, which leads everywhere"
            )
        recurrent = label == np.flatnonzero(~leaves)[0]
        held = np.flatnonzero(recurrent & self.inside)
        home = int(held[0]) if len(held) else int(np.flatnonzero(recurrent)[0])
        active = recurrent.copy()
        active[home] = False
        system = LinearSystem(self.offsets, self.targets, self.weights, self.denominator, active)
        table = matrix(self.weights, self.targets, self.offsets)
        lost = (table @ (~self.inside).astype(np.int64)) * self.inside  # into a gap, of the denominator
        rewards = {"steps": np.full(self.size, self.denominator), "held": self.denominator * self.inside, "gaps": lost}
        totals: dict[str, Any] = {}
        for name, reward in rewards.items():
            values, residual = system.refined(np.where(active, reward, 0).astype(float))
            if not residual < REQUIRED:
                raise unsolved(residual, "on the long run")
            ahead = float((table[[home]] @ values)[0]) / self.denominator
            totals[name] = reward[home] / self.denominator + ahead, residual + 8 * ROUNDING
        return self._shares(totals)

    def _shares(self, totals: dict[str, tuple[float, float]]) -> LongRun:
        """The error of each expectation is at most its residual times the expected steps. Quotients are bounded to
        first order, with a margin for the second."""
        (steps, e_steps), (held, e_held), (gaps, e_gaps) = (totals[name] for name in ("steps", "held", "gaps"))
        worst = 2 * max(e_steps, e_held, e_gaps) * steps
        lost = steps - held
        has_gaps = gaps > 2 * worst and lost > 2 * worst
        relative = 2 * worst / min(gaps, lost, held) if has_gaps and held > worst else math.inf
        known = has_gaps and relative < REQUIRED
        return LongRun(
            availability=float(held / steps),
            error=float(2 * worst / steps + ROUNDING),
            mean_gap=float(lost / gaps) if known else None,
            mean_held=float(held / gaps) if known else None,
            relative_error=float(relative) if known else 0.0,
            configurations=self.size,
            transitions=len(self.targets),
            agents=tuple(self.spaces),
        )
