"""The catalogue: every published protocol in a file of this folder, found by its text and loaded when it is used.

A file belongs to the catalogue if it has a protocol class with a `grade`: adding a protocol is adding its file.
`python -m hegemon.protocols` writes the names again for type checkers and editors (`__init__.pyi`).
"""

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from hegemon.protocols.listing import entries

if TYPE_CHECKING:
    from hegemon.models.protocol import Protocol


class Catalogue(Mapping[str, "type[Protocol]"]):
    """From ids to classes: a file is executed when its protocol is used."""

    def __getitem__(self, name: str) -> "type[Protocol]":
        entry = entries()[name]
        return getattr(importlib.import_module(entry.module), entry.name)

    def __contains__(self, name: object) -> bool:
        return name in entries()

    def __iter__(self) -> Iterator[str]:
        return iter(entries())

    def __len__(self) -> int:
        return len(entries())


CATALOGUE = Catalogue()


def __getattr__(name: str) -> Any:
    for id, entry in entries().items():
        if entry.name == name:
            return CATALOGUE[id]
    raise AttributeError(f"module 'hegemon.protocols' has no attribute {name!r}")
