"""Which fields a state has: classes of agents (*variants*), their sizes and the offsets of their codes.

A field whose domain has a condition exists only in some variants. The fields that conditions mention are the
discriminators; every combination of their values that can occur is a variant, and the states of a variant are the
product of its fields. The number of states is the sum over variants, never the product of all ranges.
"""

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hegemon.errors import InvalidInput, shown
from hegemon.models.arrays import element, namespace_with
from hegemon.models.fields import Field, signed_type

LARGEST_SIZE = 2**62  # states whose codes are numbers of 64 bits


class WrongField(InvalidInput):
    """A field is declared or written in an invalid way. Code that knows the author's file adds the place."""

    def __init__(self, sentence: str, field: str):
        super().__init__(sentence)
        self.field = field


@dataclass(frozen=True)
class Variant:
    """One class of agents: its discriminator values, its own fields, and the code of its first state."""

    fixed: tuple[tuple[str, int], ...]
    free: tuple[str, ...]
    offset: int
    size: int


def record_type(kinds: dict[str, Any], arrays: dict[str, int]) -> np.dtype:
    """A record with fields of these types; an array and its elements, which come one after another, share memory."""
    plain = np.dtype(list(kinds.items()), align=bool(arrays))  # kernels reach into arrays by address
    if not arrays:
        return plain
    first = {name: element(name, 0) for name in arrays if element(name, 0) in kinds}
    offsets = [plain.fields[name][1] for name in (*kinds, *first.values())]  # type: ignore[index]
    formats = [*kinds.values(), *((kinds[begin], (arrays[name],)) for name, begin in first.items())]
    names = [*kinds, *first]
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": plain.itemsize})


class Variants:
    """The fields of an agent for given parameter values, and its classes."""

    def __init__(
        self,
        fields: tuple[Field, ...],
        values: dict[str, Any],
        owner: str,
        inputs: tuple[str, ...] = (),
        halts: bool = False,
    ):
        self.declared = fields
        self.halts = halts  # the last field says whether the agent is halted: see models/halting.py
        self.owner = owner
        self.inputs = inputs  # fields that nothing changes: see models/inputs.py
        self.arrays = self._lengths(values)  # how many elements, for every field that is an array
        self.fields = tuple(
            Field(name, field.domain, field.default)
            for field in fields
            for name in self.elements(field.name)
        )  # fmt: skip
        self.names = tuple(field.name for field in self.fields)
        self.domains = {field.name: field.domain for field in self.fields}
        self.bounds = {}
        for field in self.fields:
            try:
                low, high = field.domain.bounds(values)
            except InvalidInput as error:
                raise WrongField(f"{owner}: the range of {field.name}: {error}", field.name) from None
            if high < low:
                raise WrongField(f"{owner}: field {field.name} has the empty range {low}..{high}", field.name)
            if high - low >= LARGEST_SIZE or max(abs(low), abs(high)) >= 2 * LARGEST_SIZE:
                raise WrongField(
                    f"{owner}: field {field.name} has the range {shown(f'{low}..{high}')}, which does not fit in 64 "
                    "bits; use smaller bounds",
                    field.name,
                )
            self.bounds[field.name] = (low, high)
        self.size = sum(variant.size for variant in self.variants)
        self.has_codes = self.size < LARGEST_SIZE  # of 64 bits, which kernels can calculate with
        self.namespace_class = namespace_with(tuple(self.arrays.items()))

    def _lengths(self, values: dict[str, Any]) -> dict[str, int]:
        found = {}
        for field in self.declared:
            if field.domain.length is not None:
                try:
                    found[field.name] = field.domain.elements(values)
                except InvalidInput as error:
                    raise WrongField(f"{self.owner}: {field.name}: {error}", field.name) from None
        return found

    def elements(self, name: str) -> tuple[str, ...]:
        """The names of an array's elements; for every other field its own."""
        if name not in self.arrays:
            return (name,)
        return tuple(element(name, index) for index in range(self.arrays[name]))

    def require_codes(self, why: str) -> None:
        """Raise InvalidInput with this reason if the states have no codes of 64 bits."""
        if not self.has_codes:
            raise InvalidInput(f"{self.owner} has about 10^{len(str(self.size)) - 1} states per agent, so {why}")

    @cached_property
    def dtype(self) -> np.dtype:
        """One agent as a record, fields packed as narrowly as their ranges allow."""
        varies = {name: isinstance(d.low, str) or isinstance(d.high, str) for name, d in self.domains.items()}
        return record_type({name: signed_type(*self.bounds[name], varies[name]) for name in self.names}, self.arrays)

    @cached_property
    def discriminators(self) -> tuple[str, ...]:
        used = {name for field in self.fields for name, _ in field.domain.condition}
        return tuple(name for name in self.names if name in used)

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """Every class of agents, in the order of the discriminators' values."""
        variants, offset, seen = [], 0, set()
        ranges = [range(self.bounds[name][0], self.bounds[name][1] + 1) for name in self.discriminators]
        for combination in itertools.product(*ranges):
            given = dict(zip(self.discriminators, combination, strict=True))
            present = self.present(given)
            fixed = tuple((name, given[name]) for name in self.discriminators if name in present)
            if fixed in seen:  # an absent discriminator has no value: count its variant once
                continue
            seen.add(fixed)
            free = tuple(name for name in self.names if name in present and name not in given)
            size = math.prod(self.bounds[name][1] - self.bounds[name][0] + 1 for name in free)
            variants.append(Variant(fixed, free, offset, size))
            offset += size
        return tuple(variants)

    def present(self, given: dict[str, Any]) -> frozenset[str]:
        """The fields that exist in a state whose discriminators have the given values."""
        key = tuple([given.get(name) for name in self.discriminators])
        if key not in self._present:
            present: set[str] = set()
            for field in self.fields:
                if all(other in present and given[other] in values for other, values in self._conditions[field.name]):
                    present.add(field.name)
            self._present[key] = frozenset(present)
        return self._present[key]

    @cached_property
    def _present(self) -> dict[tuple[Any, ...], frozenset[str]]:
        return {}

    @cached_property
    def _conditions(self) -> dict[str, tuple[tuple[str, tuple[int, ...]], ...]]:
        """What each field depends on directly: other fields, with the integers of which they must have one."""
        found = {
            field.name: tuple(
                (other, tuple(self.domains[other].index(value) for value in values))
                for other, values in field.domain.condition
            )
            for field in self.fields
        }
        for name, conditions in found.items():
            for other, values in conditions:
                domain, (low, high) = self.domains[other], self.bounds[other]
                fixed = not isinstance(domain.low, str) and not isinstance(domain.high, str)
                if fixed and (never := [value for value in values if not low <= value <= high]):
                    raise InvalidInput(
                        f"{self.owner}: {name} exists where {other} = {never[0]}, which {other}, from {low} to {high}, "
                        "never is; fix its when(…)"
                    )
        return found

    def presence(self, name: str) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """All that must hold where a field exists, what its conditions depend on included; () for every state."""
        tests: list[tuple[str, tuple[int, ...]]] = []
        for other, values in self._conditions[name]:
            tests += [test for test in (*self.presence(other), (other, values)) if test not in tests]
        return tuple(tests)

    def existence_test(self, name: str) -> str:
        """The same as Python text about `a`; empty for a field of every state."""
        tests = [
            "(" + " or ".join(f"a.{other} == {value}" for value in values) + ")" if len(values) > 1
            else f"a.{other} == {values[0]}"
            for other, values in self.presence(name)
        ]  # fmt: skip
        return " and ".join(tests)
