"""A run as a story: a configuration, and the interactions or rounds that lead from it, one by one."""

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hegemon import files
from hegemon.errors import InvalidInput
from hegemon.models.naming import address
from hegemon.models.protocol import Protocol


@dataclass(frozen=True)
class Interaction:
    """Agents `initiator` and `responder` meet; their states before and after, and what their coins showed, if any."""

    initiator: int
    responder: int
    before: tuple[dict[str, Any], dict[str, Any]]
    after: tuple[dict[str, Any], dict[str, Any]]
    coins: dict[str, int] | None = None

    def sentence(self) -> str:
        change = [
            f"{role} {agent}: {_difference(before, after)}"
            for role, agent, before, after in zip(
                ("initiator", "responder"), (self.initiator, self.responder), self.before, self.after, strict=True
            )
        ]
        return "; ".join([*change, f"coins {_short(self.coins)}"] if self.coins else change)

    def prescription(self) -> list[Any]:
        """The interaction in the form of a start file."""
        return [self.initiator, self.responder, self.coins] if self.coins else [self.initiator, self.responder]


@dataclass(frozen=True)
class Round:
    """All nodes move at once: those that changed, with their states before and after."""

    changes: tuple[tuple[int, dict[str, Any], dict[str, Any]], ...]

    def sentence(self) -> str:
        return "; ".join(f"node {v}: {_difference(before, after)}" for v, before, after in self.changes)


@dataclass(frozen=True)
class Trace:
    """A configuration as a list of states, and the interactions or rounds that follow."""

    protocol: str
    configuration: list[dict[str, Any]]
    interactions: tuple[Interaction | Round, ...] = ()
    parameters: dict[str, Any] | None = None
    graph: str | None = None
    strategy: tuple[Any, ...] = ()  # pairs of a configuration, as codes, and the nodes that act in it
    file: str | None = None  # `mine.py:Mine` and its SHA-256, where the protocol is none of the catalogue
    sha256: str | None = None

    @classmethod
    def of(
        cls,
        protocol: Protocol,
        configuration: list[dict[str, Any]],
        interactions: tuple[Any, ...] = (),
        graph: str | None = None,
    ) -> "Trace":
        """A story that names its protocol, so that a reader can load it."""
        file, digest = _source(protocol)
        told = cls(protocol.id, configuration, interactions, protocol.parameters, graph)
        return replace(told, file=file, sha256=digest)

    def lines(self) -> list[str]:
        """The story in readable form: the start, then one line per interaction."""
        rounds = any(isinstance(step, Round) for step in self.interactions)
        agent, unit = ("node", "round") if rounds else ("agent", "step")
        start = [f"{agent} {i}: {_short(state)}" for i, state in enumerate(self.configuration)]
        return start + [f"{unit} {k}: {step.sentence()}" for k, step in enumerate(self.interactions, start=1)]

    def record(self) -> dict[str, Any]:
        """The story as saved: `hegemon run --start FILE` reads `agents` and follows `interactions`.

        `hegemon watch --start FILE` shows it, rounds included, and needs nothing else.
        """
        rounds = [[[v, after] for v, _, after in step.changes] for step in self.interactions if isinstance(step, Round)]
        content = {
            "protocol": self.protocol,
            "file": self.file,
            "sha256": self.sha256,
            "parameters": self.parameters,
            "graph": self.graph,
            "agents": self.configuration,
            "interactions": [step.prescription() for step in self.interactions if isinstance(step, Interaction)],
            "rounds": rounds or None,
            "strategy": [list(row) for row in self.strategy] or None,
            "story": self.lines(),
        }
        return {name: value for name, value in content.items() if value is not None}

    def save(self, path: str | Path) -> None:
        path = Path(path)
        if path.suffix.lower() != ".json":
            raise InvalidInput(f"a counterexample is saved as JSON, not as {path.name!r}; name the file *.json")
        with files.publish(path) as file:
            file.write(json.dumps(self.record(), indent=1, ensure_ascii=False) + "\n")


def _source(protocol: Protocol) -> tuple[str | None, str | None]:
    """The name of a user's file without its folder, and its digest; None for the catalogue."""
    with suppress(InvalidInput, OSError):  # of no file
        file, _, kind = address(type(protocol)).rpartition(":")
        if file:
            return f"{os.path.basename(file)}:{kind}", hashlib.sha256(Path(file).read_bytes()).hexdigest()
    return None, None


def _short(state: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in state.items())


def _difference(before: dict[str, Any], after: dict[str, Any]) -> str:
    if before == after:
        return f"unchanged ({_short(before)})"
    if set(before) != set(after):
        return f"{_short(before)} becomes {_short(after)}"
    return ", ".join(
        f"{name} {x}→{y}" for field in before for name, x, y in _values(field, before[field], after[field])
    )


def _values(name: str, before: Any, after: Any) -> list[tuple[str, Any, Any]]:
    """The changes of a field; for an array, those of its elements."""
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [one for k, (x, y) in pairs for one in _values(f"{name}[{k}]", x, y)]
    return [(name, before, after)] if before != after else []
