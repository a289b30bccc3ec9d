"""Sets that a class declares as texts, `safe = "all(x == 1) or all(x == 2)"`, as the sets of an instance."""

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from hegemon.errors import InvalidInput, choose, shown
from hegemon.models.authors import declared
from hegemon.models.conditions import is_condition, joined, parse_set
from hegemon.models.expressions import parse
from hegemon.models.functions import names_in
from hegemon.models.grammar import Logic, Name, Tree
from hegemon.models.sets import ConfigurationSet, WrittenSet
from hegemon.models.state import StateSpace

if TYPE_CHECKING:
    from hegemon.models.protocol import Protocol


def sets_among(members: Mapping[str, Any], base: type) -> dict[str, Any]:
    """The sets among the members of a class; what every protocol has is none, and neither is a private name."""
    found: dict[str, Any] = {}
    for name, value in members.items():
        if isinstance(value, str) and not name.startswith("_") and not hasattr(base, name) and is_condition(value):
            found[name] = WrittenSet(value)
        elif isinstance(value, ConfigurationSet):
            found[name] = value
    return found


class ReadSets(Mapping[str, ConfigurationSet]):
    """The sets of an instance, each text read when it is asked for; a text may name other sets."""

    def __init__(self, protocol: "Protocol", sets: Mapping[str, Any]):
        self.reader: Any = SimpleNamespace(  # what a text is read with, in place of the protocol
            id=protocol.id, n=protocol.n, values=protocol.values, fields=protocol.fields, sets=self,
            reads_graph=protocol.reads_graph,
        )  # fmt: skip
        if protocol.fields:  # its own space is shared with equal instances, which are those with the same sets
            halts = protocol._halts is not None
            known = protocol.fields, protocol.range_values, protocol.id, tuple(protocol.inputs), halts
            self.reader.space = StateSpace(*known)
        self._protocol, self._sets = protocol, sets
        self._read: dict[str, ConfigurationSet] = {}
        self._reading: list[str] = []

    def __len__(self) -> int:
        return len(self._sets)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sets)

    def __contains__(self, name: object) -> bool:
        return name in self._sets

    def __getitem__(self, name: str) -> ConfigurationSet:
        chosen = self._sets[name]
        if not isinstance(chosen, WrittenSet):
            return chosen
        if name not in self._read:
            self._read[name] = self._understood(name, chosen.text)
        return self._read[name]

    def _understood(self, name: str, text: str) -> ConfigurationSet:
        if name in self._reading:
            round_trip = " names ".join([*self._reading[self._reading.index(name) :], name])
            raise InvalidInput(f"{self.reader.id}: a set is described by itself: {round_trip}")
        self._reading.append(name)
        try:
            fields, owner = self.reader.fields, self.reader.id
            found = parse_set(text, self.reader) if fields else joined_names(text, owner, self)
        except InvalidInput as error:
            place = "" if ", line " in str(error) else declared(type(self._protocol), name)
            error.args = (f"{self.reader.id}: the set {name}: {error}{place}",)
            raise
        finally:
            self._reading.pop()
        living = self._protocol._living
        return (found.mapped(living) if living and not found.whole else found).described(text)


def joined_names(text: str, owner: str, sets: Mapping[str, ConfigurationSet]) -> ConfigurationSet:
    """A set that a text joins from others by name, where states are Python objects."""
    tree = parse(text)
    if not _is_of_names(tree) or names_in(tree) - set(sets):
        raise InvalidInput(
            f"{shown(text)} is not understood: states of {owner} are Python objects, which a text cannot count; "
            f"{choose(sets, 'join them by `and`, `or`, `not`')}"
        )

    def leaf(one: Tree) -> ConfigurationSet:
        assert isinstance(one, Name)
        return sets[one.name]

    return joined(tree, leaf)


def _is_of_names(tree: Tree) -> bool:
    return isinstance(tree, Name) or isinstance(tree, Logic) and all(map(_is_of_names, tree.operands))
