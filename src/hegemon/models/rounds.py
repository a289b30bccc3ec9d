"""The state model: synchronous rounds in which every node reads its neighbours' states (Dijkstra, CACM 1974)."""

import copy
import itertools

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.models.protocol import Protocol


class NeighbourProtocol(Protocol):
    """Declare `class State:` and `def update(me, neighbours, coins, p)`.

    `update` changes `me`, a copy of the node's own state, after reading `neighbours`, the states of its
    neighbours before the round: a sequence whose order means nothing, unless the protocol is `oriented`. `coins`
    is a number of `random_bits` fair bits, fresh for every node and round.

    `public` names the fields that neighbours read (by default all that are not private): the fewer, the
    faster. Fields named in `private` are read by the node itself only; they are a separate chain at every
    node as long as nothing else changes course, which is what lets an engine skip rounds exactly.

    `label(a, p)` and `highlight(a, p)`, if given, are for pictures: a short text, and whether a node stands out.
    """

    model = "state"
    time_unit = "rounds"
    functions = ("update", "output", "label", "highlight")
    reads_graph = True
    smallest_n = 1
    random_bits = 0
    oriented = False  # on an oriented ring, `neighbours` is (left, right), in this order
    public: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    _is_sound = False

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        fields = {field.name: field for field in cls.fields}
        for name in cls.private:
            if name not in fields or fields[name].domain.condition:
                raise InvalidInput(f"{cls.__name__}: private names {name!r}, which is not a field of every state")
        cls.public = cls.public or tuple(name for name in fields if name not in cls.private)
        for name in cls.public:
            if name not in fields or name in cls.private:
                raise InvalidInput(f"{cls.__name__}: public names {name!r}, which is private or not a field")
        if not 0 <= cls.random_bits <= 16:
            raise InvalidInput(f"{cls.__name__}: random_bits = {cls.random_bits} is out of range 0..16")

    def __init__(self, n: int, **given):
        if not self.fields or not hasattr(self, "update"):
            raise InvalidInput(
                f"{type(self).__name__} needs a `class State:` with fields and `def update(me, neighbours, coins, p)`"
            )
        super().__init__(n, **given)

    def check_topology(self, topology) -> None:
        super().check_topology(topology)
        if self.oriented:
            topology.require_oriented_ring(self.id)
        if topology.directed:
            raise InvalidInput(
                f"{self.id} runs on undirected graphs, and {topology.name} is directed; use for instance "
                f"ring:{topology.n}, or drop the directions"
            )

    # -- by hand ----------------------------------------------------------------------------------------

    def transition(self, me, neighbours, coins: int = 0) -> dict:
        """The hand tool: the state of a node after a round, from states as mappings."""
        state = self.space.parse(me)
        self.update(state, [self.space.parse(other) for other in neighbours], coins, self.p)
        self.space.code(state)  # refuses values out of range
        return self.space.mapping(state)

    def outcomes(self, nodes: list, topology) -> list[list]:
        """For every node the different states that it may have after one round, over all its coins."""
        result = []
        for v, me in enumerate(nodes):
            near = [nodes[u] for u in topology.neighbours(v)]
            found = {}
            for coins in range(1 << self.random_bits):
                state = copy.copy(me)
                self.update(state, near, coins, self.p)
                code = self.space.code(state)
                found[code] = self.space.namespace(code)
            result.append(list(found.values()))
        return result

    def successors(self, nodes: list, topology):
        """Every configuration that can follow in one round, over all coins of all nodes; for small graphs."""
        for choice in itertools.product(*self.outcomes(nodes, topology)):
            yield list(choice)

    def namespaces(self, agents: np.ndarray) -> list:
        """An array of records as the mutable objects that the plain-Python `update` works on."""
        return [self.space.namespace(code) for code in self.space.encode_array(agents)]

    def require_sound(self) -> None:
        """Try `update` on a few hundred neighbourhoods, once per protocol; see check_update."""
        if not self._is_sound:
            self.check_update(np.random.default_rng(0))
            self._is_sound = True

    def check_update(self, rng, samples: int = 200) -> None:
        """Refuse an `update` that fails, leaves a range, reads what a state does not have, depends on the
        order of the neighbours, or reads a neighbour's field that is not public."""
        for _ in range(samples):
            codes = rng.integers(self.space.size, size=3 if self.oriented else 1 + rng.integers(5))
            coins = int(rng.integers(1 << self.random_bits))
            states = [self.space.namespace(code) for code in codes]
            shown = [self.space.mapping(state) for state in states]
            try:
                after = self._updated(states, coins)
                for change, what in (
                    (self._scrambled, "reads a field that a state does not have"),
                    (_reordered, "depends on the order of the neighbours, or counts equal ones"),
                    (self._disguised, "reads a field of a neighbour that is not public"),
                ):
                    if self.oriented and change is _reordered:
                        continue
                    if self._updated(change([self.space.namespace(code) for code in codes]), coins) != after:
                        raise InvalidInput(f"{self.id}: update {what}")
            except InvalidInput as error:
                raise InvalidInput(f"{error} (node {shown[0]}, neighbours {shown[1:]}, coins {coins})") from None
            except Exception as error:
                failure = f"{type(error).__name__}: {error}"
                raise InvalidInput(
                    f"{self.id}: update fails on {shown[0]} with neighbours {shown[1:]}: {failure}"
                ) from None

    def _updated(self, states, coins) -> int:
        self.update(states[0], states[1:], coins, self.p)
        return self.space.code(states[0])

    def _scrambled(self, states):
        for state in states:
            self.scramble_absent(state, self.space.mapping(state))
        return states

    def _disguised(self, states):
        for state in states[1:]:
            for name in set(self.space.names) - set(self.public):
                low, high = self.space.bounds[name]
                setattr(state, name, low + high - getattr(state, name))
        return states


def _reordered(states):
    """The neighbours backwards and one of them twice: as a set they are the same."""
    return states[:1] + states[:0:-1] + states[1:2]
