"""A counterexample as a story: a configuration, and the interactions that lead from it, one by one."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.verify.chain import Chain


@dataclass(frozen=True)
class Interaction:
    """Agents `initiator` and `responder` meet; their states before and after."""

    initiator: int
    responder: int
    before: tuple[dict, dict]
    after: tuple[dict, dict]

    def sentence(self) -> str:
        change = [
            f"{role} {agent}: {_difference(before, after)}"
            for role, agent, before, after in zip(
                ("initiator", "responder"), (self.initiator, self.responder), self.before, self.after, strict=True
            )
        ]
        return "; ".join(change)


@dataclass(frozen=True)
class Trace:
    """The configuration as a list of states, and what happens from there."""

    protocol: str
    configuration: list[dict]
    interactions: tuple[Interaction, ...] = ()

    def lines(self) -> list[str]:
        """For people: the start, then one line per interaction."""
        start = [f"agent {i}: {_short(state)}" for i, state in enumerate(self.configuration)]
        return start + [f"step {k}: {step.sentence()}" for k, step in enumerate(self.interactions, start=1)]

    def record(self) -> dict:
        """As it is saved: `agents` is what `hegemon run --start FILE` reads, `interactions` what it follows."""
        return {
            "protocol": self.protocol,
            "agents": self.configuration,
            "interactions": [[step.initiator, step.responder] for step in self.interactions],
            "story": self.lines(),
        }

    def save(self, path) -> None:
        path = Path(path)
        if path.suffix.lower() != ".json":
            raise InvalidInput(f"a counterexample is saved as JSON, not as {path.name!r}; name the file *.json")
        partial = path.with_name(path.name + ".partial")
        partial.write_text(json.dumps(self.record(), indent=1, ensure_ascii=False) + "\n")
        partial.replace(path)


def _short(state: dict) -> str:
    return ", ".join(f"{name}={value}" for name, value in state.items())


def _difference(before: dict, after: dict) -> str:
    if before == after:
        return f"unchanged ({_short(before)})"
    if set(before) != set(after):
        return f"{_short(before)} becomes {_short(after)}"
    return ", ".join(f"{name} {before[name]}→{after[name]}" for name in before if before[name] != after[name])


def trace(chain: Chain, path: list[int], changes: list[bool | None] | None = None) -> Trace:
    """The story along a path of configurations; `changes` says of each step whether an output must change."""
    space = chain.space
    codes = chain.codes[path[0]].copy()
    start, interactions = space.mappings(codes), []
    for goal, change in zip(path[1:], changes or [None] * (len(path) - 1), strict=True):
        i, j, after = find_interaction(chain, codes, chain.keys[goal], change)
        before_states = tuple(space.mappings(codes[[i, j]]))
        codes[[i, j]] = after
        interactions.append(Interaction(i, j, before_states, tuple(space.mappings(after))))
    return Trace(space.protocol.id, start, tuple(interactions))


def find_interaction(chain: Chain, codes, key: int, change: bool | None):
    """An arc whose interaction leads from these codes to the configuration with this key."""
    space = chain.space
    _, _, _, _, first, second, changes = space.model
    for i, j in zip(space.topology.sources, space.topology.targets, strict=True):
        a, b = codes[i], codes[j]
        if change is not None and changes[a, b] != change:
            continue
        fresh = codes.copy()
        fresh[i], fresh[j] = first[a, b], second[a, b]
        if space.key(fresh) == key:
            return int(i), int(j), np.array([first[a, b], second[a, b]])
    raise AssertionError("the path is not one of the chain")


def path_from_start(chain: Chain, index: int) -> list[int]:
    """The shortest path from a start to a configuration; every configuration is one in a whole chain."""
    path = [index]
    while not chain.is_whole and chain.parents[path[-1]] >= 0:
        path.append(int(chain.parents[path[-1]]))
    return path[::-1]
