"""Names of a protocol: the name by which it is found, the chosen parameters, and the observables by name."""

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from hegemon import parts
from hegemon.errors import InvalidInput, choose, meant
from hegemon.models.callers import checked_observables
from hegemon.models.protocol import Protocol


def address(kind: type[Protocol]) -> str:
    """The name by which any process finds a class: its id in the catalogue, or file.py:Class."""
    if kind.__module__.startswith("hegemon.protocols."):
        return kind.id
    if not kind.__module__.startswith("hegemon_user_"):
        for name, point in parts.plugins("protocols").items():
            if point.value == f"{kind.__module__}:{kind.__qualname__}":
                return name
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    names = [name for name, value in vars(module).items() if value is kind] if module else []  # `Mine = hg.rules(…)`
    if not file or not file.endswith(".py") or not names:
        raise InvalidInput(f"{kind.__name__} is in no file that others could read; put it into a .py file")
    return f"{os.path.abspath(file)}:{kind.__qualname__ if kind.__qualname__ in names else names[0]}"


def chosen_parameters(protocol: Protocol) -> dict[str, Any]:
    """The parameters whose values are not the defaults."""
    usual: dict[str, Any] = {}
    for name, declaration in protocol.parameter_declarations.items():
        with contextlib.suppress(InvalidInput):  # it has no default, or one that does not fit this n
            usual[name] = declaration.resolve(name, None, protocol.values, protocol.id)
    return {name: value for name, value in protocol.parameters.items() if value != usual.get(name)}


def asked_observables(protocol: Protocol, names: bool | Mapping[str, Any] | Sequence[str]) -> dict[str, Any]:
    """The observables requested: True for all that the protocol offers, names (as a list, or divided by
    commas), or observables themselves."""
    if isinstance(names, Mapping):
        return checked_observables(names, protocol)
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",")]
    offered = protocol.watched() if names else {}
    if isinstance(names, bool):
        return offered
    for name in names:
        if name not in offered:
            raise InvalidInput(f"{protocol.id} has no observable {name!r}; {choose(offered)}{meant(name, offered)}")
    return {name: offered[name] for name in names}
