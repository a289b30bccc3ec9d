"""The states of all agents: as an array in the order of the topology, or as a multiset of states."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.models.state import StateSpace

LARGEST_ARRAY = 2_000_000_000  # bytes: beyond, only the multiset form exists


@dataclass(frozen=True)
class Group:
    """`count` agents that share the given values; fields not given are drawn uniformly when `random`."""

    count: int
    values: dict
    random: bool = False


class Configuration:
    """Either `agents` (structured array) or `codes` and `counts` (distinct states and how many are in each)."""

    def __init__(self, space: StateSpace, agents=None, codes=None, counts=None):
        self.space = space
        self._agents = agents
        self._codes, self._counts = codes, counts

    @classmethod
    def from_groups(cls, space, groups: list[Group], rng, as_multiset: bool = False) -> "Configuration":
        if not as_multiset:
            _require_room(space, sum(group.count for group in groups))
        pieces = [_draw(space, group, rng, as_multiset) for group in groups if group.count]
        codes = np.concatenate([codes for codes, _ in pieces])
        counts = np.concatenate([counts for _, counts in pieces])
        if as_multiset:
            codes, inverse = np.unique(codes, return_inverse=True)
            merged = np.zeros(len(codes), dtype=np.int64)
            np.add.at(merged, inverse, counts)
            return cls(space, codes=codes, counts=merged)
        return cls(space, agents=space.decode_array(np.repeat(codes, counts)))

    @property
    def n(self) -> int:
        return len(self._agents) if self._agents is not None else int(self._counts.sum())

    @property
    def agents(self) -> np.ndarray:
        """Every agent's record. A multiset is laid out state by state."""
        if self._agents is None:
            _require_room(self.space, self.n)
            self._agents = self.space.decode_array(np.repeat(self._codes, self._counts))
        return self._agents

    @property
    def multiset(self) -> tuple[np.ndarray, np.ndarray]:
        """The distinct codes, ascending, and how many agents have each."""
        if self._codes is None:
            self._codes, self._counts = np.unique(self.space.encode_array(self._agents), return_counts=True)
        return self._codes, self._counts

    def weighted(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Records and how many agents each stands for (None: one each), in whichever form is at hand."""
        if self._agents is not None:
            return self._agents, None
        return self.space.decode_array(self._codes), self._counts

    def mappings(self) -> list[dict]:
        return [self.space.mapping(record) for record in self.agents]

    def save(self, path) -> None:
        """As JSON or CSV, readable by `load`; written beside and moved into place, so never half a file."""
        path = Path(path)
        codes, counts = self.multiset
        ordered = self._agents is not None
        rows = (
            self.mappings()
            if ordered
            else [
                {"count": int(c), **self.space.mapping(record)}
                for record, c in zip(self.space.decode_array(codes), counts, strict=True)
            ]
        )
        partial = path.with_name(path.name + ".partial")
        with open(partial, "w", newline="") as file:
            if path.suffix == ".csv":
                writer = csv.DictWriter(file, (() if ordered else ("count",)) + self.space.names)
                writer.writeheader()
                writer.writerows(rows)
            else:
                json.dump(rows, file, indent=0)
        partial.replace(path)

    @classmethod
    def load(cls, space: StateSpace, path, n: int, as_multiset: bool = False) -> "Configuration":
        """From a JSON list of states or a CSV table with one column per field; `count` repeats a row."""
        groups, total = [], 0
        for place, row in _rows(Path(path)):
            count = row.pop("count", 1)
            try:
                count = int(count)
                state = space.parse(row)
            except (InvalidInput, TypeError, ValueError) as error:
                raise InvalidInput(f"{path}, {place}: {error}") from None
            if count < 0:
                raise InvalidInput(f"{path}, {place}: count = {count} is negative; use 0 or more")
            groups.append(Group(count, vars(state)))
            total += count
        if total != n:
            raise InvalidInput(f"{path} describes {total} agents but n = {n}; make them equal")
        return cls.from_groups(space, groups, None, as_multiset)


def _require_room(space, n: int) -> None:
    """Before anything is allocated."""
    if n * space.dtype.itemsize > LARGEST_ARRAY:
        raise InvalidInput(f"n = {n} agents do not fit in memory as an array; use engine batch, which keeps counts")


def _draw(space, group: Group, rng, as_multiset: bool):
    """Codes and counts of one group. Random fields: each agent uniform over all states with these values."""
    if not group.random:
        return np.array([space.code(space.parse(group.values))]), np.array([group.count], dtype=np.int64)
    if as_multiset and space.size <= group.count:
        counts = rng.multinomial(group.count, np.full(space.size, 1 / space.size))
        codes = np.flatnonzero(counts)
        counts = counts[codes]
    else:
        _require_room(space, group.count)
        codes = rng.integers(space.size, size=group.count)
        counts = np.ones(group.count, dtype=np.int64)
    if group.values:
        agents = space.decode_array(codes)
        for name, value in group.values.items():
            if name in space.discriminators or space.domains[name].condition:
                raise InvalidInput(
                    f"{space.owner}: a random group may only fix fields that every state has, not {name}"
                )
            agents[name] = space.domains[name].index(value)
        codes = space.encode_array(agents)
    return codes, counts


def _rows(path: Path):
    """The rows of a configuration file as (place, mapping)."""
    if not path.is_file():
        raise InvalidInput(f"there is no configuration file {path}; give a JSON or CSV file, or the name of a start")
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as text ({error}); give a JSON or CSV file") from None
    if path.suffix.lower() == ".csv":
        for number, row in enumerate(csv.DictReader(text.splitlines()), start=2):
            if None in row or None in row.values():
                raise InvalidInput(f"{path}, line {number}: the number of cells differs from the header's")
            cells = {name.strip(): cell.strip() for name, cell in row.items() if cell.strip() != ""}
            yield f"line {number}", {name: _number(cell) for name, cell in cells.items()}
        return
    try:
        rows = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{path} is not valid JSON ({error}); give a list of states") from None
    if isinstance(rows, dict):
        rows = rows.get("agents")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InvalidInput(f'{path} must hold a list of states such as [{{"leader": 1}}, …]')
    for index, row in enumerate(rows):
        yield f"entry {index}", dict(row)


def _number(cell: str):
    try:
        return int(cell)
    except ValueError:
        return cell
