"""A protocol in the language of PRISM and Storm: one step of the protocol is a step of the model.

On complete graphs a variable counts the agents of every state that occurs, so the model is short and symmetry costs
nothing. On other graphs, and for rounds, every agent has a variable; a round is one action of all nodes, each with
its own coins. The reward `steps` is 1 in every state; each set is a label.
"""

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.exact.configurations import transition_tables
from hegemon.exact.instance import EVERYTHING, fixed_start
from hegemon.exact.rounds import RoundConfigurations
from hegemon.exact.schedules import parse_daemon
from hegemon.graphs.topology import Topology
from hegemon.models.neighbourhoods import require_alike
from hegemon.models.protocol import Protocol
from hegemon.models.sets import ConfigurationSet
from hegemon.process.schedulers.reading import scheduler_for
from hegemon.runs.setting import Graph, Start, topology_for

if TYPE_CHECKING:
    from hegemon.models.population import PopulationProtocol
    from hegemon.process.schedulers.scheduler import Scheduler

Pair = tuple[int, int]
Meetings = dict[Pair, dict[Pair, Fraction]]  # what pairs of states become, with probabilities

MOST_TERMS = 200_000  # of all commands together
MOST_SITUATIONS = 50_000  # of a node and its neighbours
MOST_LISTED = 20_000  # configurations that are tried for a set that is no sum of counts


def prism(
    protocol: Protocol, graph: Graph = None, start: Start = None, scheduler: "str | Scheduler | None" = None
) -> str:
    """The text of the model."""
    protocol.model.require("chain")
    daemon = parse_daemon(scheduler, protocol)
    if daemon is not None and (daemon != ("central", "") or not protocol.model.has_rounds):
        raise InvalidInput(
            f"the language of PRISM is written for chance and for the daemon central of rounds, not for {daemon[0]}; "
            "export all schedules with --to drn"
        )
    protocol.require_sound()
    topology = topology_for(protocol, graph)
    law = str(scheduler_for(scheduler, protocol, topology)) if daemon is None else protocol.model.scheduler
    if law != protocol.model.scheduler:
        raise InvalidInput(
            f"the language of PRISM is written for the scheduler {protocol.model.scheduler}, not for {law}; export its "
            "chain with --to drn"
        )
    if protocol.model.has_rounds:
        kind: type[_Model] = _Rounds if daemon is None else _Central
        return "\n".join(kind(protocol, topology, start).lines()) + "\n"
    whole = any(chosen.whole for chosen in protocol.sets.values())
    kind = _Counts if topology.is_complete and not whole else _Agents
    return "\n".join(kind(protocol, topology, start).lines()) + "\n"


class _Model:
    """Common to all forms: the head, labels and rewards."""

    form = "dtmc"

    def __init__(self, protocol: Any, topology: Topology, start: Start):
        self.protocol, self.topology, self.q, self.n = protocol, topology, protocol.states, protocol.n
        start = start if start is not None else protocol.default_start
        uniform = protocol.starts.get("random") is Protocol.start_random
        anywhere = isinstance(start, str) and (start == EVERYTHING or (start == "random" and uniform))
        if anywhere and protocol.inputs:
            raise InvalidInput(
                f"{protocol.id} has inputs, so a PRISM model needs one start; give --start NAME or a file"
            )
        self.start = None if anywhere else [int(code) for code in fixed_start(protocol, start, topology)]

    def lines(self) -> Iterator[str]:
        named = "".join(f", {name} = {value}" for name, value in self.protocol.parameters.items())
        yield f"// {self.protocol.id}, n = {self.n}{named}, {self.topology.name}"
        yield from (f"// {line}" for line in self.legend())
        yield from ("", self.form, "")
        yield from self.body()
        for name, chosen in self.protocol.sets.items():
            condition = self.inside(chosen)
            word = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
            unlisted = f"// the set {name} is no sum of counts, and is not listed"
            yield f'label "{word}" = {condition};' if condition else unlisted
        yield from ("", 'rewards "steps"', "  true : 1;", "endrewards")

    def legend(self) -> Iterator[str]:
        if self.q > 200:
            yield f"states are numbered 0..{self.q - 1}, as `hegemon show` counts them"
            return
        for code in range(self.q):
            fields = " ".join(f"{name}={value}" for name, value in self.protocol.space.mapping_of(code).items())
            yield f"state {code}: {fields}"

    def body(self) -> Iterator[str]:
        raise NotImplementedError

    def inside(self, chosen: ConfigurationSet) -> str:
        """The condition that the configuration is in the set; empty if it cannot be written."""
        if chosen.whole:
            return self.listed(chosen)
        bounds = chosen.bounds(self.protocol.values)
        rows = [" & ".join(self._between(*bound) for bound in row.items()) for row in bounds]
        return " | ".join(f"({row or 'true'})" for row in rows) if len(rows) > 1 else rows[0] or "true"

    def _between(self, condition: Callable[..., Any], bounds: tuple[int, int]) -> str:
        """The condition that this number of agents satisfies a condition."""
        total = self.total([code for code in range(self.q) if self._holds(condition, code)])
        parts = [f"{total} >= {bounds[0]}"] * (bounds[0] > 0) + [f"{total} <= {bounds[1]}"] * (bounds[1] < self.n)
        return " & ".join(parts) or "true"

    def _holds(self, condition: Callable[..., Any], code: int) -> bool:
        return self.protocol.holds(condition, self.protocol.space.namespace(code))

    def total(self, codes: list[int]) -> str:
        """How many agents are in one of the states."""
        raise NotImplementedError

    def listed(self, chosen: ConfigurationSet) -> str:
        """The configurations of a set one by one."""
        if self.q**self.n > MOST_LISTED:
            return ""
        protocol = self.protocol
        graph = (self.topology.offsets, self.topology.targets) if protocol.reads_graph else ()
        configurations = []
        for codes in itertools.product(range(self.q), repeat=self.n):
            agents = [protocol.space.namespace(code) for code in codes]
            if chosen.contains(agents, protocol.p, protocol.values, *graph):
                configurations.append("(" + " & ".join(f"x{v}={code}" for v, code in enumerate(codes)) + ")")
        return " | ".join(configurations) or "false"

    def begin(self) -> list[str]:
        """The lines for the initial configurations, unless there is only one."""
        return [] if self.start is not None else ["init true endinit", ""]


def _meetings(protocol: "PopulationProtocol") -> Meetings:
    """What pairs of states may become, with probabilities, where something may change."""
    first, second = transition_tables(protocol)
    q, values = protocol.states, protocol.coins.size
    meetings: Meetings = {}
    for a, b in itertools.product(range(q), repeat=2):
        outcomes: dict[tuple[int, int], int] = {}
        for coin in range(values):
            after = int(first[coin * q + a, b]), int(second[coin * q + a, b])
            outcomes[after] = outcomes.get(after, 0) + 1
        if set(outcomes) != {(a, b)}:
            meetings[a, b] = {after: Fraction(count, values) for after, count in outcomes.items()}
    return meetings


def _require_size(terms: int, protocol: Protocol) -> None:
    if terms > MOST_TERMS:
        raise InvalidInput(
            f"the model of {protocol.id} would have {terms:,} terms, more than {MOST_TERMS:,}; take smaller parameters "
            "or export the chain itself with --to drn"
        )


class _Counts(_Model):
    """Complete graphs: `c3` agents are in state 3."""

    def body(self) -> Iterator[str]:
        meetings = _meetings(self.protocol)
        states = self._occurring(meetings)
        self.states = states
        kept = {pair: after for pair, after in meetings.items() if set(pair) <= set(states)}
        _require_size(sum(map(len, kept.values())), self.protocol)
        yield f"const int n = {self.n};"
        yield ""
        if self.start is None:
            yield from (f"global c{code} : [0..n];" for code in states)
            yield ""
        yield "module agents"
        if self.start is not None:
            yield from (f"  c{code} : [0..n] init {self.start.count(code)};" for code in states)
        yield from self._command(kept)
        yield from ("endmodule", "")
        if self.start is None:
            yield from (f"init {' + '.join(f'c{code}' for code in states)} = n endinit", "")

    def _occurring(self, meetings: Meetings) -> list[int]:
        """The states that may occur at all."""
        if self.start is None:
            return list(range(self.q))
        states = set(self.start)
        while True:
            new = {
                code
                for (a, b), after in meetings.items()
                if a in states and b in states
                for pair in after
                for code in pair
            } - states
            if not new:
                return sorted(states)
            states |= new

    def _command(self, meetings: Meetings) -> Iterator[str]:
        """One command: the probability of every change, and that of none."""
        terms: dict[tuple[Any, ...], list[str]] = {}
        for (a, b), outcomes in meetings.items():
            pairs = f"c{a}*(c{b}-1)" if a == b else f"c{a}*c{b}"
            for after, chance in outcomes.items():
                change = {code: after.count(code) - (a, b).count(code) for code in {a, b, *after}}
                key = tuple(sorted((code, by) for code, by in change.items() if by))
                if key:
                    share = "" if chance == 1 else f"{chance.numerator}/{chance.denominator}*"
                    terms.setdefault(key, []).append(share + pairs)
        moving = " + ".join(text for texts in terms.values() for text in texts) or "0"
        yield f"  [] true -> 1 - ({moving})/(n*(n-1)) : true"
        for moves, texts in terms.items():
            updates = " & ".join(f"(c{code}'={_moved(code, by)})" for code, by in moves)
            yield f"    + ({' + '.join(texts)})/(n*(n-1)) : {updates}"
        yield "    ;"

    def total(self, codes: list[int]) -> str:
        return " + ".join(f"c{code}" for code in codes if code in self.states) or "0"


def _moved(code: int, by: int) -> str:
    """A count after a change, kept in its range where the change has probability 0."""
    return f"min(c{code}+{by},n)" if by > 0 else f"max(c{code}-{-by},0)"


class _Agents(_Model):
    """Any graph: agent 3 is in state `x3`; every arc is equally likely."""

    def body(self) -> Iterator[str]:
        meetings = _meetings(self.protocol)
        sources = np.repeat(np.arange(self.n), np.diff(self.topology.offsets))
        arcs = list(zip(sources.tolist(), self.topology.targets.tolist(), strict=True))
        _require_size(len(arcs) * sum(map(len, meetings.values())), self.protocol)
        yield "module agents"
        for v in range(self.n):
            begin = f" init {self.start[v]}" if self.start is not None else ""
            yield f"  x{v} : [0..{self.q - 1}]{begin};"
        yield "  [] true ->"
        terms = []
        for u, v in arcs:
            faces = self._faces(meetings)
            for share, table in faces:
                chance = share / len(arcs)
                first, second = (self._value(table, u, v, side) for side in (0, 1))
                terms.append(f"    {chance.numerator}/{chance.denominator} : (x{u}'={first}) & (x{v}'={second})")
        yield " +\n".join(terms) + ";"
        yield from ("endmodule", "")
        yield from self.begin()

    def _faces(self, meetings: Meetings) -> list[tuple[Fraction, dict[Pair, Pair]]]:
        """Tables of what every pair becomes, each with its probability, which together have the law of the coins."""
        cuts = sorted({Fraction(0), Fraction(1), *(end for after in meetings.values() for end in _ends(after))})
        faces = []
        for low, high in itertools.pairwise(cuts):
            table: dict[Pair, Pair] = {}
            for pair, outcomes in meetings.items():
                chosen = next(after for after, end in zip(outcomes, _ends(outcomes), strict=True) if end > low)
                if chosen != pair:
                    table[pair] = chosen
            faces.append((high - low, table))
        return faces

    def _value(self, table: dict[Pair, Pair], u: int, v: int, side: int) -> str:
        """The state of one of two agents after they met: the states are halved again and again, because
        a long chain of conditions is more than parsers can take."""
        changed = {pair: after[side] for pair, after in table.items() if after[side] != pair[side]}
        rows: dict[int, dict[int, int]] = {}
        for (a, b), after in changed.items():
            rows.setdefault(a, {})[b] = after
        same = f"x{(u, v)[side]}"
        inner = {a: _chosen(f"x{v}", {b: str(after) for b, after in row.items()}, same) for a, row in rows.items()}
        return _chosen(f"x{u}", inner, same)

    def total(self, codes: list[int]) -> str:
        if not codes:
            return "0"
        return "(" + " + ".join(f"({_one_of(f'x{v}', codes)} ? 1 : 0)" for v in range(self.n)) + ")"


def _chosen(variable: str, values: dict[int, str], otherwise: str) -> str:
    """An expression with the value for each value of the variable, and `otherwise` for all others."""
    if not values:
        return otherwise
    codes = sorted(values)
    if len(codes) == 1:
        return f"({variable}={codes[0]} ? {values[codes[0]]} : {otherwise})"
    middle = codes[len(codes) // 2]
    below, above = ({c: values[c] for c in codes if (c < middle) is side} for side in (True, False))
    return f"({variable}<{middle} ? {_chosen(variable, below, otherwise)} : {_chosen(variable, above, otherwise)})"


def _ends(outcomes: dict[Pair, Fraction]) -> list[Fraction]:
    return list(itertools.accumulate(outcomes.values()))


def _one_of(variable: str, codes: list[int]) -> str:
    return "(" + " | ".join(f"{variable}={code}" for code in codes) + ")"


class _Rounds(_Agents):
    """Rounds: a module for every node; all move together, and probabilities multiply."""

    action = "round"

    def body(self) -> Iterator[str]:
        space = RoundConfigurations(self.protocol, self.topology)
        whole = self.protocol.coin_values
        require_alike(self.protocol, "it is not written in the language of PRISM; export the chain with --to drn")
        for v in range(self.n):
            near = [int(u) for u in self.topology.neighbours(v)]
            if self.q ** (len(near) + 1) > MOST_SITUATIONS:
                raise InvalidInput(
                    f"a node of {self.protocol.id} with {len(near)} neighbours has more than {MOST_SITUATIONS:,} "
                    "situations; take smaller parameters, or export the chain itself with --to drn"
                )
            begin = f" init {self.start[v]}" if self.start is not None else ""
            yield from (f"module node{v}", f"  x{v} : [0..{self.q - 1}]{begin};")
            for codes in itertools.product(range(self.q), repeat=len(near) + 1):
                seen = codes[1:] if self.protocol.is_ordered else tuple(sorted(codes[1:]))
                outcomes = space.outcomes(codes[0], seen, self.protocol.ports_back(self.topology, v))
                guard = " & ".join(f"x{u}={code}" for u, code in zip((v, *near), codes, strict=True))
                after = " + ".join(f"{count}/{whole} : (x{v}'={code})" for code, count in outcomes.items())
                if self.action or set(outcomes) != {codes[0]}:
                    yield f"  [{self.action}] {guard} -> {after};"
            yield from ("endmodule", "")
        yield from self.begin()


class _Central(_Rounds):
    """A daemon chooses one node that can change its state: a Markov decision process."""

    form, action = "mdp", ""
