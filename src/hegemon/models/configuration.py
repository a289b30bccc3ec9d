"""The states of all agents: as an array in the order of the topology, or as a multiset of states."""

import csv
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.files import publish
from hegemon.models.authors import kind
from hegemon.models.expressions import whole_number
from hegemon.models.start_files import StartFile
from hegemon.models.state import StateSpace

SHOWN = 8  # states that `print` lists
LARGEST_ARRAY = 2_000_000_000  # bytes: beyond, only the multiset form exists


@dataclass(frozen=True)
class Group:
    """`count` agents that share the given values; fields not given are drawn uniformly when `random`."""

    count: int
    values: dict[str, Any]
    random: bool = False


class Configuration:
    """Either `agents` (structured array), or `row` (every agent's code: records are looked up in `states` when they are
    needed), or `codes` and `counts` (distinct states and how many are in each).

    Runs in several threads may begin with one configuration. So a method that changes the form sets the new form before
    it removes the old one, and a method that reads tries the old form first.
    """

    def __init__(
        self, space: StateSpace, agents: Any = None, codes: Any = None, counts: Any = None,
        row: np.ndarray | None = None, states: np.ndarray | None = None,
    ):  # fmt: skip
        self.space = space
        self._agents, self._states = agents, states
        self.row = row  # None where the codes are not known
        self._codes, self._counts = codes, counts

    @classmethod
    def from_groups(
        cls, space: StateSpace, groups: list[Group], rng: np.random.Generator | None, as_multiset: bool = False
    ) -> "Configuration":
        if not as_multiset:
            _require_room(space, sum(group.count for group in groups))
        pieces = [_draw(space, group, rng, as_multiset) for group in groups if group.count]
        if not pieces:
            raise InvalidInput(f"{space.owner}: a configuration needs at least one agent")
        codes = np.concatenate([codes for codes, _ in pieces])
        counts = np.concatenate([counts for _, counts in pieces])
        if as_multiset:
            codes, inverse = np.unique(codes, return_inverse=True)
            merged = np.zeros(len(codes), dtype=np.int64)
            np.add.at(merged, inverse, counts)
            return cls(space, codes=codes, counts=merged)
        row = np.repeat(codes, counts)
        return cls(space, row=row) if space.has_codes else cls(space, agents=space.decode_array(row))

    @property
    def n(self) -> int:
        row = self.row
        if row is not None:
            return len(row)
        return len(self._agents) if self._agents is not None else int(self._counts.sum())

    @property
    def _is_ordered(self) -> bool:
        return self.row is not None or self._agents is not None

    @property
    def agents(self) -> np.ndarray:
        """Every agent's record. A multiset is laid out state by state."""
        row, states = self.row, self._states
        if self._agents is None and row is not None:
            self._agents = self.space.decode_array(row) if states is None else states[row]
            self.row = None  # both together would take more memory than engines plan for
        elif self._agents is None:
            _require_room(self.space, self.n)
            self._agents = self.space.decode_array(np.repeat(self._codes, self._counts))
        return self._agents

    @property
    def multiset(self) -> tuple[np.ndarray, np.ndarray]:
        """The distinct codes, ascending, and how many agents have each."""
        if self._codes is None:
            row = self.row
            row = self.space.encode_array(self._agents) if row is None else row.astype(np.int64)
            codes, self._counts = np.unique(row, return_counts=True)
            self._codes = codes
        return self._codes, self._counts

    def weighted(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Records and how many agents each stands for (None: one each), in its present form."""
        if self._is_ordered:
            return self.agents, None
        return self.space.decode_array(self._codes), self._counts

    def __str__(self) -> str:
        codes, counts = self.multiset
        order = np.argsort(-counts, kind="stable")[:SHOWN]
        states = "state" if len(codes) == 1 else "states"
        lines = [f"{self.n:,} agents in {len(codes):,} {states} of {self.space.owner}"]
        for code, number in zip(codes[order].tolist(), counts[order].tolist(), strict=True):
            state = ", ".join(f"{name} = {value}" for name, value in self.space.mapping_of(code).items())
            lines.append(f"  {number:>{len(f'{counts.max():,}')},} × {state}")
        return "\n".join([*lines, *([f"  … and {len(codes) - SHOWN:,} more"] if len(codes) > SHOWN else [])])

    def mappings(self) -> list[dict[str, Any]]:
        return [self.space.mapping(record) for record in self.agents]

    def save(self, path: str | os.PathLike[str]) -> None:
        """As JSON or CSV, readable by `load`; written beside and moved into place, so never half a file."""
        path = Path(path)
        codes, counts = self.multiset
        ordered = self._is_ordered
        rows = (
            self.mappings()
            if ordered
            else [
                {"count": int(c), **self.space.mapping(record)}
                for record, c in zip(self.space.decode_array(codes), counts, strict=True)
            ]
        )
        with publish(path) as file:
            if path.suffix.lower() == ".csv":
                writer = csv.DictWriter(file, (() if ordered else ("count",)) + self.space.columns)
                writer.writeheader()
                writer.writerows(rows)
            else:
                json.dump(rows, file, indent=0)

    def checked(self, space: StateSpace, n: int, what: str) -> "Configuration":
        """The same configuration, fit for compiled code: n agents of this space, in range, canonical.

        Every configuration from a start, a file, a fault or a caller passes here before an engine gets it.
        """
        if self._is_ordered:
            return Configuration(space, agents=_checked_agents(space, self.agents, n, what))
        codes, counts = np.asarray(self._codes), np.asarray(self._counts)
        kinds = "iu" if space.has_codes else "iuO"
        if codes.dtype.kind not in kinds or counts.dtype.kind not in "iu" or codes.shape != counts.shape:
            raise InvalidInput(f"{what} needs codes and counts as whole numbers, one count for each code")
        if len(codes) and (codes.min() < 0 or codes.max() >= space.size or counts.min() < 0):
            raise InvalidInput(f"{what} has a code outside 0..{space.size - 1} or a negative count")
        require_agents(sum(counts.tolist()), n, what)
        codes, inverse = np.unique(space.code_array(codes[counts > 0].tolist()), return_inverse=True)
        merged = np.zeros(len(codes), dtype=np.int64)
        np.add.at(merged, inverse, counts[counts > 0].astype(np.int64))
        return Configuration(space, codes=codes, counts=merged)

    @classmethod
    def answered(
        cls, answer: Any, space: StateSpace, n: int, rng: np.random.Generator | None, as_multiset: bool, what: str
    ) -> "Configuration":
        """The configuration from the result of a start: a list of Groups, an array of records, or a configuration."""
        if isinstance(answer, np.ndarray):
            return cls(space, agents=answer).checked(space, n, what)
        if isinstance(answer, Configuration):
            return answer.checked(space, n, what)
        if not isinstance(answer, list | tuple) or not answer or not all(isinstance(g, Group) for g in answer):
            raise InvalidInput(
                f"{what} returns {kind(answer)}; it must return a list such as [Group(self.n, {{…}})], or an array "
                "of n records made by np.zeros(self.n, self.space.dtype)"
            )
        for group in answer:
            if isinstance(group.count, bool) or not isinstance(group.count, int | np.integer) or group.count < 0:
                raise InvalidInput(f"{what} has a Group of {group.count!r} agents; give a whole number >= 0")
            if not isinstance(group.values, dict):
                raise InvalidInput(f"{what} has a Group with the values {kind(group.values)}; give a dictionary")
        require_agents(sum(int(group.count) for group in answer), n, what)
        try:
            return cls.from_groups(space, list(answer), rng, as_multiset)
        except InvalidInput as error:
            raise InvalidInput(f"{what}: {error}") from None

    @classmethod
    def load(
        cls, space: StateSpace, path: str | Path | StartFile, n: int, as_multiset: bool = False
    ) -> "Configuration":
        """From a JSON list of states or a CSV table with one column per field; `count` repeats a row."""
        groups, total = [], 0
        file = path if isinstance(path, StartFile) else StartFile(path)
        for place, row in file.rows:
            try:
                count = whole_number(row.get("count", 1), "count")
                state = space.parse({name: value for name, value in row.items() if name != "count"})
            except InvalidInput as error:
                raise InvalidInput(f"{path}, {place}: {error}") from None
            groups.append(Group(count, vars(state)))
            total += count
            if total > n:
                break
        require_agents(total, n, str(path))
        return cls.from_groups(space, groups, None, as_multiset)


def _require_room(space: StateSpace, n: int) -> None:
    """Refuse arrays that do not fit in memory; called before anything is allocated."""
    if n * space.dtype.itemsize > LARGEST_ARRAY:
        raise InvalidInput(f"n = {n} agents do not fit in memory as an array; use engine batch, which keeps counts")


def require_agents(number: int, n: int, what: str) -> None:
    if number != n:
        raise InvalidInput(
            f"{what} describes {'at least ' if number > n else ''}{number} agents but n = {n}; make them equal"
        )


def _checked_agents(space: StateSpace, agents: np.ndarray, n: int, what: str) -> np.ndarray:
    if agents.dtype != space.dtype or agents.ndim != 1:
        records = agents.dtype if len(str(agents.dtype)) < 80 else "other records"
        raise InvalidInput(
            f"{what} is an array of {records} with {agents.ndim} dimension(s); make it by "
            "np.zeros(self.n, self.space.dtype)"
        )
    require_agents(len(agents), n, what)
    agents = np.asarray(agents)
    wrong = space.first_out_of_range(agents)
    if wrong:
        place, name = wrong
        low, high = space.bounds[name]
        raise InvalidInput(f"{what}: agent {place} has {name} = {agents[name][place]}, outside {low}..{high}")
    return space.canonical_array(agents)


def _draw(space: StateSpace, group: Group, rng: Any, as_multiset: bool) -> tuple[Any, ...]:
    """Codes and counts of one group. Random fields: each agent uniform over all states with these values."""
    if not group.random:
        return space.code_array([space.code_of(group.values)]), np.array([group.count], dtype=np.int64)
    if as_multiset and space.size <= group.count:
        counts = rng.multinomial(group.count, np.full(space.size, 1 / space.size))
        codes = np.flatnonzero(counts)
        counts = counts[codes]
    else:
        _require_room(space, group.count)
        codes = space.random_codes(rng, group.count)
        counts = np.ones(group.count, dtype=np.int64)
    if group.values:
        agents = space.decode_array(codes)
        for name, value in space.spread(group.values).items():
            space.require_field(name)
            if name in space.discriminators or space.domains[name].condition:
                raise InvalidInput(
                    f"{space.owner}: a random group may only fix fields that every state has, not {name}"
                )
            low, high = space.bounds[name]
            index = space.domains[name].index(value)
            if isinstance(index, bool) or not isinstance(index, int | np.integer) or not low <= index <= high:
                raise InvalidInput(f"{space.owner}: {name} = {value!r} is out of range {low}..{high}")
            agents[name] = index
        codes = space.encode_array(agents)
    return codes, counts
