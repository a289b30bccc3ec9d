"""What a node sees of its neighbours: a set, a multiset or ports; and fields whose range depends on its degree.

All nodes have the same state space, that of the largest degree (the parameter `max_degree`). A field declared as
`parent: Range(-1, "degree - 1")` has fewer values at a node of smaller degree: the states that *fit* it.
"""

import re
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from hegemon.errors import InvalidInput, choose
from hegemon.graphs.topology import Topology

if TYPE_CHECKING:
    from hegemon.models.protocol import Protocol
    from hegemon.models.rounds import RoundsProtocol

NEIGHBOURHOODS = {
    "set": "nodes do not count equal neighbours",
    "multiset": "nodes count their neighbours and know their degree",
    "ports": "nodes number their neighbours, and know by which number each neighbour calls them",
}
BACK = "back"  # of a neighbour: the port there that leads back
MOST_DRAWN = 10_000  # states that are drawn until one fits a degree


def check_neighbourhood(cls: "type[RoundsProtocol]") -> None:
    """Refuse a declaration without a meaning."""
    if cls.neighbourhood not in NEIGHBOURHOODS:
        raise InvalidInput(
            f"{cls.__name__}: neighbourhood = {cls.neighbourhood!r} is not known; {choose(NEIGHBOURHOODS)}"
        )
    if cls.oriented and cls.neighbourhood != "set":
        raise InvalidInput(
            f"{cls.__name__} is oriented, so its neighbours are (left, right) already; drop neighbourhood = "
            f"{cls.neighbourhood!r}"
        )
    names = [field.name for field in cls.fields]
    if cls.neighbourhood == "ports" and BACK in names:
        raise InvalidInput(
            f"{cls.__name__}: a field cannot be named back, which is the port that leads back; rename it"
        )
    for field in cls.fields:
        if field.domain.length is None:
            continue
        if cls.neighbourhood == "ports" or "degree" in f"{field.domain.low} {field.domain.high} {field.domain.length}":
            raise InvalidInput(
                f"{cls.__name__}: {field.name} is an array; nodes with ports cannot have one, and neither its range "
                "nor its length may depend on the degree; use single fields"
            )
    if bounded := bounded_by_degree(cls.fields):
        if cls.neighbourhood == "set" and not cls.oriented:
            raise InvalidInput(
                f"{cls.__name__}: the range of {bounded[0]} depends on the degree, which a set does not show; "
                "write neighbourhood = 'multiset' or 'ports'"
            )
        if "max_degree" not in cls.parameter_declarations:
            raise InvalidInput(
                f"{cls.__name__}: the range of {bounded[0]} depends on the degree, and nothing says how large it is; "
                'write max_degree = Parameter("n - 1", low=1) in the class'
            )


def bounded_by_degree(fields: tuple[Any, ...]) -> list[str]:
    """The fields whose range mentions `degree`."""
    texts = {field.name: f"{field.domain.low} {field.domain.high}" for field in fields}
    return [name for name, text in texts.items() if re.search(r"\bdegree\b", text)]


class Fitting:
    """Which states fit which degree; with no field that depends on it, all do."""

    def __init__(self, protocol: "Protocol"):
        self.owner, self.space = protocol.id, protocol.space
        self.names = bounded_by_degree(protocol.fields)
        self.largest = cast(Any, protocol.values.get("max_degree"))
        degrees = range(self.largest + 1) if self.names else ()
        domains = [protocol.space.domains[name] for name in self.names]
        bounds = [[domain.bounds(protocol.values | {"degree": d}) for domain in domains] for d in degrees]
        self.limits = np.array(bounds, np.int64).reshape(len(bounds), 2 * len(domains))

    @property
    def fewest(self) -> int:
        """The smallest degree at which no range is empty."""
        full = (self.limits[:, ::2] <= self.limits[:, 1::2]).all(axis=1)
        return int(full.argmax()) if self.names and full.any() else 0

    def require(self, state: Any, degree: int) -> None:
        """Refuse a state that a transition wrote and that does not fit."""
        for place, name in enumerate(self.names):
            low, high = self.limits[degree, 2 * place : 2 * place + 2]
            if name in self.space.present(vars(state)) and not low <= (value := getattr(state, name)) <= high:
                raise InvalidInput(
                    f"{self.owner}: the transition wrote {name} = {value}, outside {low}..{high} at a node of degree "
                    f"{degree}; fix the transition or the range of the field"
                )

    def misfits(self, agents: np.ndarray, degrees: np.ndarray) -> np.ndarray:
        """Which of these states do not fit their node."""
        wrong = np.zeros(len(agents), bool)
        for place, name in enumerate(self.names):
            low, high = self.limits[degrees, 2 * place], self.limits[degrees, 2 * place + 1]
            wrong |= self.space._exists(agents, name) & ((agents[name] < low) | (agents[name] > high))
        return wrong

    def require_all(self, agents: np.ndarray, topology: Topology, what: str) -> None:
        if not self.names:
            return
        wrong = np.flatnonzero(self.misfits(agents, topology.degrees))
        if len(wrong):
            node = int(wrong[0])
            state, degree = self.space.mapping(agents[node]), int(topology.degrees[node])
            raise InvalidInput(f"{what}: node {node} has degree {degree}, and no such node can be in the state {state}")

    def redrawn(self, agents: np.ndarray, degrees: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The same with new states, uniform among those that fit, where a state does not; inputs stay."""
        agents = agents.copy()
        for _ in range(MOST_DRAWN):
            wrong = np.flatnonzero(self.misfits(agents, degrees)) if self.names else ()
            if not len(wrong):
                return agents
            fresh = self.space.decode_array(rng.integers(self.space.size, size=len(wrong)))
            for name in self.space.inputs:
                fresh[name] = agents[name][wrong]
            agents[wrong] = fresh
        raise InvalidInput(f"{self.owner}: no states were found that fit nodes of the degrees {sorted(set(degrees))}")

    def fits(self, topology: Topology) -> np.ndarray:
        """For every node the codes that fit it, as a table of truths: node by code."""
        states = self.space.decode_array(np.arange(self.space.size))
        return np.array([~self.misfits(states, np.full(len(states), degree)) for degree in topology.degrees])

    def check_topology(self, topology: Topology) -> None:
        if self.largest is not None and (most := int(topology.degrees.max(initial=0))) > self.largest:
            raise InvalidInput(
                f"{self.owner}: max_degree = {self.largest}, and {topology.name} has a node of degree {most}; give "
                f"--set max_degree={most}"
            )
        for degree in np.unique(topology.degrees) if self.names else ():
            for place, name in enumerate(self.names):
                low, high = self.limits[degree, 2 * place : 2 * place + 2]
                if high < low:
                    raise InvalidInput(
                        f"{self.owner}: the range of {name} is empty at the nodes of degree {degree} of {topology.name}"
                    )

    def source(self) -> str:
        """`fits(a, degree, limits)` as Python text, for kernels."""
        lines = ["def fits(a, degree, limits):"]
        for place, name in enumerate(self.names):
            low, high = f"limits[degree, {2 * place}]", f"limits[degree, {2 * place + 1}]"
            exists = self.space.existence_test(name)
            guard = f"({exists}) and " if exists else ""
            lines += [f"    if {guard}(a.{name} < {low} or a.{name} > {high}):", "        return False"]
        return "\n".join([*lines, "    return True", ""])


def require_alike(protocol: "Protocol | None", what: str) -> None:
    """Raise InvalidInput if ranges depend on the degree; for code that assumes that every node can have every state."""
    fitting = getattr(protocol, "degree_fitting", None)
    if fitting and fitting.names:
        raise InvalidInput(
            f"the range of {fitting.names[0]} in {fitting.owner} depends on the degree of a node, so {what}"
        )


def facing(states: list[Any], backs: Any) -> list[Any]:
    """Neighbours on ports: copies of their states, each with the port that leads back."""
    return [type(state)(**vars(state), **{BACK: int(back)}) for state, back in zip(states, backs, strict=True)]


def without_back(mapping: Any) -> tuple[dict[str, Any], int | None]:
    """A neighbour as a user writes it: its state, and the port back."""
    state = dict(mapping)
    return state, state.pop(BACK, None)
