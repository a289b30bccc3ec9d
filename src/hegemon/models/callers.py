"""Sets and observables that a caller gives in place of a name: checked, and used, as those of the class are."""

from collections.abc import Mapping
from typing import Any, cast

from hegemon.errors import InvalidInput
from hegemon.models.authors import kind
from hegemon.models.declarations import check_signatures
from hegemon.models.observables import Observable
from hegemon.models.protocol import Protocol
from hegemon.models.sets import ConfigurationSet
from hegemon.models.soundness import check_functions


class _Borrower:
    """The protocol with no functions but these."""

    def __init__(
        self, protocol: Protocol, sets: Mapping[str, ConfigurationSet], observables: Mapping[str, Observable]
    ) -> None:
        self._protocol, self.sets, self.observables = protocol, sets, observables
        self.output = self.label = self.highlight = None
        self.functions: dict[str, str] = {}
        self.starts: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._protocol, name)


def checked_set(chosen: ConfigurationSet, protocol: Protocol) -> ConfigurationSet:
    """The set with names of a Choice's values as integers; raises InvalidInput if its functions cannot be used."""
    chosen = chosen.mapped(protocol.in_numbers)
    _check(protocol, {"given here": chosen}, {})
    return chosen


def checked_observables(observables: Mapping[str, Any], protocol: Protocol) -> dict[str, Observable]:
    """The same for observables by name."""
    for name, observable in observables.items():
        if not isinstance(name, str) or not isinstance(observable, Observable):
            raise InvalidInput(
                f"observe = {{{name!r}: {kind(observable)}}} is not understood; give names with observables, such as "
                '{"leaders": hegemon.count(lambda a, p: a.leader == 1)}'
            )
    mapped = {name: observable.mapped(protocol.in_numbers) for name, observable in observables.items()}
    _check(protocol, {}, mapped)
    return mapped


def _check(protocol: Protocol, sets: Mapping[str, ConfigurationSet], observables: Mapping[str, Observable]) -> None:
    borrower = cast(Protocol, _Borrower(protocol, sets, observables))
    check_signatures(borrower, protocol.id)
    if protocol.fields:
        check_functions(borrower)
