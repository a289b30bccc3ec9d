"""The rounds model: synchronous rounds in which every node reads its neighbours' states (Dijkstra, CACM 1974)."""

import copy
import dis
import itertools
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.graphs.topology import Topology
from hegemon.models.authors import declared, where
from hegemon.models.coins import CoinProtocol
from hegemon.models.configuration import Configuration
from hegemon.models.model import ROUNDS
from hegemon.models.neighbourhoods import BACK, Fitting, check_neighbourhood, facing, without_back
from hegemon.models.protocol import Protocol
from hegemon.models.purity import require_pure
from hegemon.models.soundness import check_functions, check_transition
from hegemon.models.words import Word, check_fields, checked

# How often each neighbour is repeated when `update` is tried: an `update` that counts up to a dozen neighbours is found
# too. Nodes with more neighbours than the last number are never treated as if `update` did not count.
CROWDS = (*(2, 3, 5, 8, 13, 34, 144) * 14, 1 << 12)


class RoundsProtocol(CoinProtocol):
    """Declare `class State:` and `def update(me, neighbours, coins, p)`.

    `update` changes `me`, a copy of the node's own state, after reading `neighbours`, the states of its
    neighbours before the round: a sequence whose order and repetitions mean nothing (`neighbourhood = "set"`). With
    "multiset" it may count them, and its length is the degree; with "ports" `neighbours[k]` is the one on port k, and
    `neighbours[k].back` the port there that leads back; on an `oriented` ring it is (left, right). `coins`
    is a number of `random_bits` fair bits, fresh for every node and round; or, with `class Coins:`, `coins.x` is a bit,
    fair or not, or a uniform number.

    `public` names the fields that neighbours read (by default all that are not private): the fewer, the
    faster. Fields named in `private` are read by the node itself only; they are a separate chain at every
    node as long as nothing else changes course, which is what lets an engine skip rounds exactly.

    `label(a, p)` and `highlight(a, p)`, if given, are for pictures: a short text, and whether a node stands out.
    """

    update: Callable[..., Any]  # (me, neighbours, coins, p) -> None

    model = ROUNDS
    time_unit = "rounds"
    functions = {"update": "me, neighbours, coins, p", "output": "a, p", "label": "a, p", "highlight": "a, p"}
    reads_graph = True
    smallest_n = 1
    random_bits = 0
    neighbourhood = "set"  # or multiset, or ports: what update may depend on (models/neighbourhoods.py)
    oriented = False  # on an oriented ring, `neighbours` is (left, right), in this order
    public: tuple[str, ...] = ()
    private: tuple[str, ...] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        check_neighbourhood(cls)
        fields = {field.name: field for field in cls.fields}
        for name in cls.private:
            if name not in fields or fields[name].domain.condition:
                raise InvalidInput(f"{cls.__name__}: private names {name!r}, which is not a field of every state")
            if fields[name].domain.length is not None:
                raise InvalidInput(f"{cls.__name__}: private names {name!r}, which is an array; make it public")
        inherited = "State" in vars(cls) and "public" not in vars(cls)  # of other fields: all are public anew
        cls.public = () if inherited else cls.public
        cls.public = cls.public or tuple(name for name in fields if name not in cls.private)
        for name in cls.public:
            if name not in fields or name in cls.private:
                raise InvalidInput(f"{cls.__name__}: public names {name!r}, which is private or not a field")
        if not 0 <= cls.random_bits <= 16:
            raise InvalidInput(f"{cls.__name__}: random_bits = {cls.random_bits} is out of range 0..16")
        if cls.random_bits and cls.coin_fields:
            raise InvalidInput(
                f"{cls.__name__} has random_bits = {cls.random_bits} and `class Coins:`; use one of them"
            )

    def __init__(self, n: int | float, **given: Any):
        if not self.fields or not hasattr(self, "update"):
            raise InvalidInput(
                f"{type(self).__name__} needs a `class State:` with fields and `def update(me, neighbours, coins, p)`"
                f"{declared(type(self))}"
            )
        super().__init__(n, **given)
        self.coins.require_drawable()
        if self.coin_fields:
            _ = self.coin_faces  # refused if there are too many to be tried

    @property
    def compiled_values(self) -> dict[str, Any]:
        return self.values | self.coins.layout

    @property
    def public_names(self) -> tuple[str, ...]:
        """The public fields, arrays element by element."""
        return tuple(one for name in self.public for one in self.space.elements(name))

    @property
    def range_values(self) -> dict[str, Any]:
        return self.values | ({"degree": self.values["max_degree"]} if "max_degree" in self.values else {})

    @cached_property
    def degree_fitting(self) -> Fitting:
        """Which states fit a node of which degree."""
        return Fitting(self)

    @property
    def is_ordered(self) -> bool:
        """Whether a node can distinguish its neighbours."""
        return self.oriented or self.neighbourhood == "ports"

    def initial(
        self, name: Any, rng: np.random.Generator, as_multiset: bool = False, topology: Topology | None = None
    ) -> Configuration:
        made = super().initial(name, rng, as_multiset, topology)
        if not self.degree_fitting.names or topology is None:
            return made
        agents = made.agents
        if str(name) == "random" and self.starts[str(name)] is Protocol.start_random:
            agents = self.degree_fitting.redrawn(agents, topology.degrees, rng)
        self.degree_fitting.require_all(agents, topology, f"{self.id}: the start {name}")
        return Configuration(self.space, agents=agents)

    def check_topology(self, topology: Topology) -> None:
        super().check_topology(topology)
        self.degree_fitting.check_topology(topology)
        if self.oriented:
            topology.require("oriented-ring", self.id)
        if topology.directed:
            raise InvalidInput(
                f"{self.id} runs on undirected graphs, and {topology.name} is directed; use for instance "
                f"ring:{topology.n}, or drop the directions"
            )

    # -- by hand ----------------------------------------------------------------------------------------

    @property
    def coin_values(self) -> int:
        """How many equally likely values the coins of a node have in a round: they are numbered from 0."""
        return self.coins.size if self.coin_fields else 1 << self.random_bits

    @cached_property
    def coin_faces(self) -> list[tuple[int, int]]:
        """All outcomes of a node's coins: for each, the first value that shows it, and the number of values that do."""
        return list(self.coins.faces.values()) if self.coin_fields else [(k, 1) for k in range(self.coin_values)]

    @cached_property
    def _face_numbers(self) -> dict[Any, int]:
        return {shown: place for place, shown in enumerate(self.coins.faces)}

    def coin_face(self, number: int) -> int:
        """The index of the face that this value of the coins shows."""
        return self._face_numbers[self.coins.value(number)] if self.coin_fields else number

    def coins_shown(self, number: int) -> Any:
        """The argument `coins` of `update` if they have this value."""
        return self.coins.value(number) if self.coin_fields else number

    def _checked_coins(self, number: int) -> Any:
        return self.coins.kind._make(map(Word, self.coins.value(number))) if self.coin_fields else Word(number)

    def coins_in_words(self, number: int) -> str:
        """The same in words."""
        return str(self.coins.mapping(number) if self.coin_fields else number)

    def transition(self, me: Any, neighbours: Any, coins: int | Mapping[str, int] = 0) -> dict[str, Any]:
        """The state of a node after a round, from its own and its neighbours' states; all states are mappings."""
        state = self.space.parse(me)
        self.degree_fitting.require(state, len(neighbours))
        if self.coin_fields or not isinstance(coins, int):
            coins = self.coins.number(coins if isinstance(coins, Mapping) else {})
        given = [without_back(other) for other in neighbours]
        backs = [back for _, back in given]
        if (self.neighbourhood == "ports") != all(back is not None for back in backs) and backs:
            needed = "needs" if self.neighbourhood == "ports" else "has no"
            raise InvalidInput(f"{self.id}: a neighbour {needed} `back`, the port there that leads back")
        self.move(state, self.as_seen([self.space.parse(other) for other, _ in given], backs), coins)
        self.space.code(state)  # refuses values out of range
        return self.space.mapping(state)

    def move(self, me: Any, neighbours: list[Any], coins: int) -> None:
        """The update of a node, in place, calculated as machine code does it."""
        check_fields(me)
        self.update(me, [checked(state) for state in neighbours], self._checked_coins(coins), self.checked_p)
        self.degree_fitting.require(me, len(neighbours))

    def as_seen(self, states: list[Any], backs: Any) -> list[Any]:
        """Neighbours as `update` gets them; `backs` are the ports there that lead back."""
        return facing(states, backs) if self.neighbourhood == "ports" else states

    def neighbours_of(self, nodes: list[Any], topology: Topology, v: int) -> list[Any]:
        """The neighbours of a node, likewise."""
        return self.as_seen([nodes[u] for u in topology.neighbours(v)], self.ports_back(topology, v))

    def ports_back(self, topology: Topology, v: int) -> tuple[int, ...]:
        """The ports of a node's neighbours that lead back to it, where the protocol reads ports."""
        return tuple(topology.backs(v).tolist()) if self.neighbourhood == "ports" else ()

    def outcomes(self, nodes: list[Any], topology: Topology) -> list[list[Any]]:
        """For every node the different states that it may have after one round, over all its coins."""
        result = []
        for v, me in enumerate(nodes):
            near = self.neighbours_of(nodes, topology, v)
            found = {}
            for coins, _ in self.coin_faces:
                state = copy.copy(me)
                self.move(state, near, coins)
                code = self.space.code(state)
                found[code] = self.space.namespace(code)
            result.append(list(found.values()))
        return result

    def successors(self, nodes: list[Any], topology: Topology) -> Iterator[Any]:
        """Every configuration that can follow in one round, over all coins of all nodes; for small graphs."""
        for choice in itertools.product(*self.outcomes(nodes, topology)):
            yield list(choice)

    def namespaces(self, agents: np.ndarray) -> list[Any]:
        """An array of records as the mutable objects that the plain-Python `update` works on."""
        return [self.space.namespace(code) for code in self.space.encode_array(agents)]

    def check_sound(self) -> None:
        """Refuse a protocol whose functions cannot be trusted: see models/soundness.py."""
        require_pure(self.update, f"{self.id}: update", "its only randomness is `coins`")
        self._require_coins()
        self.check_update(np.random.default_rng(0))
        check_functions(self)

    def _require_coins(self) -> None:
        """`coins` without any random bits would always be 0."""
        code = self.update.__code__
        coins = code.co_varnames[2]
        for step in dis.get_instructions(code):
            if (
                not self.random_bits
                and not self.coin_fields
                and step.opname.startswith("LOAD_")
                and step.argval == coins
            ):
                line = step.positions.lineno if step.positions else None
                raise InvalidInput(
                    f"{self.id}: update reads {coins} ({where(self.update, line)}), but random_bits is 0, so it would "
                    "never change; write for example random_bits = 1 in the class"
                )

    def check_update(self, rng: np.random.Generator, samples: int = 200) -> None:
        """Try `update` on a few hundred neighbourhoods; besides what every transition must fulfil, it may not depend
        on what its neighbourhood does not show, nor read a neighbour's field that is not public."""
        situations = [self._situation(rng) for _ in range(samples)]

        def states_of(situation: tuple[Any, ...]) -> list[Any]:
            return [checked(self.space.namespace(code)) for code in situation[0]]

        def shown(situation: tuple[Any, ...]) -> str:
            me, *near = (self.space.mapping(state) for state in states_of(situation))
            if self.neighbourhood == "ports":
                near = [state | {"back": back} for state, back in zip(near, situation[1], strict=True)]
            return f"node {me}, neighbours {near}, coins {self.coins_in_words(situation[2])}"

        def call(states: list[Any], situation: tuple[Any, ...]) -> Any:
            near = self.as_seen(states[1:], situation[1])
            answer = self.update(states[0], near, self._checked_coins(situation[2]), self.checked_p)
            self.degree_fitting.require(states[0], len(near))
            return answer

        check_transition(self, "update", situations, states_of, call, shown)
        for number, situation in enumerate(situations):
            expected = self._updated(states_of(situation), situation)
            for change, what in (
                *self._blindness(CROWDS[number % len(CROWDS)]),
                (self._disguised, "reads a field of a neighbour that is not public"),
            ):
                if self._updated(change(states_of(situation)), situation) != expected:
                    raise InvalidInput(f"{self.id}: update {what} ({shown(situation)})")
            near = self.as_seen(states_of(situation)[1:], situation[1])
            self.update(self.space.namespace(situation[0][0]), near, self.coins_shown(situation[2]), self.p)
            ports = tuple(getattr(state, BACK) for state in near) if self.neighbourhood == "ports" else situation[1]
            if [self.space.code(state) for state in near] != list(situation[0][1:]) or ports != situation[1]:
                place = where(self.update)
                raise InvalidInput(f"{self.id}: update changes a neighbour; it may only change its own state ({place})")

    def _blindness(self, crowd: int) -> list[tuple[Callable[..., Any], str]]:
        """Changes of the neighbours that must not affect `update`; `crowd`: how often a set may repeat each."""
        if self.is_ordered:
            return []
        if self.neighbourhood == "multiset":
            what = (
                "depends on the order of the neighbours, which a multiset does not show; neighbourhood = 'ports' does"
            )
            return [(_backwards, what), (_rotated, what)]
        what = "depends on the order of the neighbours, or counts equal ones"
        hint = "; neighbourhood = 'multiset' lets it count, 'ports' number them"
        changes = (_reordered, _rotated, partial(_crowded, crowd))
        return [(change, what + hint) for change in changes]

    def _situation(self, rng: np.random.Generator) -> tuple[tuple[int, ...], tuple[int, ...], int]:
        """The codes of a node and its neighbours, the ports that lead back, and the number of what the coins show."""
        fitting = self.degree_fitting
        most = max(fitting.fewest, min(4, fitting.largest if fitting.largest is not None else 4))
        degree = 2 if self.oriented else int(rng.integers(fitting.fewest, most + 1))
        codes = self.space.telling_states(rng, 1 + degree)
        coins = self.coin_faces[rng.integers(len(self.coin_faces))][0]
        if self.neighbourhood == "set":
            return tuple(codes), (), coins
        degrees = np.append(degree, rng.integers(max(1, fitting.fewest), most + 1, size=degree))
        backs = tuple(int(rng.integers(other)) for other in degrees[1:])
        states = fitting.redrawn(self.space.decode_array(np.array(codes)), degrees, rng)
        return tuple(self.space.encode_array(states).tolist()), backs, coins

    def _updated(self, states: list[Any], situation: tuple[Any, ...]) -> int:
        near = self.as_seen(states[1:], situation[1])
        self.update(states[0], near, self.coins_shown(situation[2]), self.p)
        return self.space.code(states[0])

    def _disguised(self, states: list[Any]) -> list[Any]:
        for state in states[1:]:
            for name in set(self.space.names) - set(self.public_names):
                low, high = self.space.bounds[name]
                setattr(state, name, low + high - getattr(state, name))
        return states


def _backwards(states: list[Any]) -> list[Any]:
    return states[:1] + states[:0:-1]


def _rotated(states: list[Any]) -> list[Any]:
    return states[:1] + states[2:] + states[1:2]


def _reordered(states: list[Any]) -> list[Any]:
    """The neighbours backwards and one of them twice: as a set they are the same."""
    return _backwards(states) + states[1:2]


def _crowded(times: int, states: list[Any]) -> list[Any]:
    """Every neighbour repeated."""
    return states[:1] + states[1:] * times
