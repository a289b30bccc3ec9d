"""The state of one agent as fields with finite domains: as a mapping, as a namespace, and as a code in 0..size-1.

A code is the offset of the state's class of agents (see `variants`) plus a mixed-radix number over the class's fields.
"""

import bisect
import math
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from hegemon.errors import InvalidInput, meant, shown
from hegemon.models.expressions import number_or_text
from hegemon.models.state_arrays import StateArrays
from hegemon.models.variants import Variant, WrongField

MOST_DECODED = 5000  # states that are remembered as fields


class StateSpace(StateArrays):
    """All states of one agent for given parameter values."""

    def parse(self, mapping: Any) -> SimpleNamespace:
        """A state from a mapping of names to values (integers, or the names of a Choice), validated."""
        values: dict[str, int] = {}
        for name, value in self.spread(mapping).items():
            self.require_field(name)
            value = self.domains[name].index(value)
            low, high = self.bounds[name]
            whole = isinstance(value, int | np.integer | bool | np.bool_) or (
                isinstance(value, float) and math.isfinite(value) and value == int(value)
            )
            if not whole or not low <= int(value) <= high:
                names = self.domains[name].names
                allowed = "{" + ", ".join(names) + "}" if names else f"{low}..{high}"
                raise InvalidInput(f"{self.owner}: {name} = {shown(value)} is out of range {allowed}")
            values[name] = int(value)
        complete = {name: values.get(name, self.bounds[name][0]) for name in self.names}
        present = self.present(complete)
        missing = [name for name in self.names if name in present and name not in values]
        if missing:
            raise InvalidInput(f"{self.owner}: the state {dict(mapping)} has no value for {', '.join(missing)}")
        return self.namespace_class(**{n: complete[n] if n in present else self.bounds[n][0] for n in self.names})

    def code_of(self, mapping: dict[str, Any]) -> int:
        """The code of such a state; of plain values it is remembered."""
        if not all(type(value) in (int, str) for value in mapping.values()):
            return self.code(self.parse(mapping))
        key = tuple(mapping.items())
        if (found := self._codes_of.get(key)) is None:
            if len(self._codes_of) >= MOST_DECODED:
                self._codes_of.clear()
            found = self._codes_of[key] = self.code(self.parse(mapping))
        return found

    @cached_property
    def _codes_of(self) -> dict[tuple[Any, ...], int]:
        return {}

    def spread(self, mapping: Any) -> dict[str, Any]:
        """The same mapping, every array element by element: it may be a list, a text, or one value for all."""
        if not self.arrays.keys() & mapping.keys():
            return dict(mapping)
        spread: dict[str, Any] = {}
        for name, value in mapping.items():
            if isinstance(value, str) and name in self.arrays:
                value = [number_or_text(word) for word in value.strip("[] ").replace(",", " ").split()]
                value = value[0] if len(value) == 1 else value
            elements = self.elements(name)
            several = name in self.arrays and not isinstance(value, int | float | np.number)
            values = list(value) if several else [value] * len(elements)
            if len(values) != len(elements):
                raise InvalidInput(
                    f"{self.owner}: {name} has {len(elements)} elements, and {len(values)} are given; give one for "
                    "each, or one value for all"
                )
            spread |= dict(zip(elements, values, strict=True))
        return spread

    def require_field(self, name: str) -> None:
        if name not in self.names:
            raise InvalidInput(
                f"{self.owner} has no field {name!r}; its fields are {', '.join(self.columns)}"
                f"{meant(name, self.columns)}"
            )

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The fields as they are declared and shown: an array is one of them."""
        return tuple(field.name for field in self.declared)

    def values(self, state: Any) -> dict[str, Any]:
        """Every field of a record or a namespace, absent ones included, as plain integers."""
        if isinstance(state, np.void):
            return {name: int(state[name]) for name in self.names}
        held = vars(state)
        values = {name: held.get(name) for name in self.names}
        for name, value in values.items():
            if type(value) is not int:
                values[name] = self._integer(name, value)
        return values

    def _integer(self, name: str, value: Any) -> int:
        """The integer for what a transition wrote into a field: a whole number, or a name of the field's Choice."""
        value = self.domains[name].index(value)
        if isinstance(value, int | np.integer | np.bool_):
            return int(value)
        hint = "; // divides whole numbers" if isinstance(value, float | np.floating) else ""
        raise WrongField(
            f"{self.owner}: the transition wrote {name} = {value!r}, which is not a whole number{hint}", name
        )

    def check(self, state: Any) -> tuple[dict[str, Any], frozenset[Any]]:
        """The values of a state and which fields exist in it; a value outside its range is an error."""
        values = self.values(state)
        present = self.present(values)
        for name in self.names:
            low, high = self.bounds[name]
            if name in present and not low <= values[name] <= high:
                raise WrongField(
                    f"{self.owner}: the transition wrote {name} = {values[name]}, outside {low}..{high}; "
                    "fix the transition or the range of the field",
                    name,
                )
        return values, present

    def mapping(self, state: Any) -> dict[str, Any]:
        """The fields that exist in this state (a record or a namespace), Choices by name."""
        values = self.values(state)
        present = self.present(values)
        found = {name: self.domains[name].label(values[name]) for name in self.names if name in present}
        return self.gathered(found) if self.arrays else found

    def gathered(self, values: dict[str, Any]) -> dict[str, Any]:
        """The opposite of `spread`: arrays as lists."""
        return {
            name: values[name] if name not in self.arrays else [values[one] for one in self.elements(name)]
            for name in self.columns
            if self.elements(name)[0] in values
        }

    def mapping_of(self, code: int) -> dict[str, Any]:
        """The same for the state with this code."""
        return self.mapping(self.namespace(int(code)))

    def namespace(self, code: int) -> SimpleNamespace:
        """The state with this code, as the mutable object that the plain-Python `interact` works on."""
        fields = self._decoded.get(code)  # the same few states are needed many times
        if fields is None:
            if not 0 <= code < self.size:
                raise IndexError(f"{self.owner} has no state {code}: codes are 0..{self.size - 1}")
            variant = self.variants[bisect.bisect_right(self._offsets, code) - 1]
            fields = vars(self.namespace_in(variant, int(code) - variant.offset))
            if len(self._decoded) < MOST_DECODED:
                self._decoded[code] = fields
        return self.namespace_class(**fields)

    @cached_property
    def _decoded(self) -> dict[int, dict[str, int]]:
        return {}

    @cached_property
    def _offsets(self) -> list[int]:
        return [variant.offset for variant in self.variants]

    def namespace_in(self, variant: Variant, rest: int) -> SimpleNamespace:
        """The state with this number within its class of agents."""
        values = self._lowest | dict(variant.fixed)
        for name in reversed(variant.free):
            low, high = self.bounds[name]
            rest, digit = divmod(rest, high - low + 1)
            values[name] = low + digit
        return self.namespace_class(**values)

    @cached_property
    def _lowest(self) -> dict[str, int]:
        return {name: low for name, (low, _) in self.bounds.items()}

    def code(self, state: Any) -> int:
        """The code of a state; a field outside its range is an error that names it."""
        values, present = self.check(state)
        fixed = tuple((name, values[name]) for name in self.discriminators if name in present)
        variant = self._by_class[fixed]
        rest = 0
        for name in variant.free:
            low, high = self.bounds[name]
            rest = rest * (high - low + 1) + values[name] - low
        return variant.offset + rest

    @cached_property
    def _by_class(self) -> dict[tuple[Any, ...], Variant]:
        return {variant.fixed: variant for variant in self.variants}

    def code_array(self, codes: list[int]) -> np.ndarray:
        """Codes as NumPy holds them: Python's own numbers where they do not fit in 64 bits."""
        return np.array(codes, dtype=np.int64 if self.has_codes else object)

    def random_codes(self, rng: np.random.Generator, number: int) -> np.ndarray:
        """Uniform codes."""
        return random_numbers(rng, self.size, number)

    def telling_states(self, rng: np.random.Generator, number: int) -> list[int]:
        """Codes of states to try a function on: uniform ones, ones of every class of agents, and extreme ones."""
        codes = random_numbers(rng, self.size, number).tolist()
        for index in range(0, number, 3):
            variant = self.variants[rng.integers(len(self.variants))]
            codes[index] = variant.offset + int(random_numbers(rng, variant.size, 1)[0])
            for other in range(index + 1, min(index + 2, number)):
                rest = 0
                for name in variant.free:
                    width = self.bounds[name][1] - self.bounds[name][0] + 1
                    digits = 0, width - 1, int(rng.integers(width))
                    rest = rest * width + digits[rng.integers(3)]
                codes[other] = variant.offset + rest
        return [codes[index] for index in rng.permutation(number)]


def random_numbers(rng: np.random.Generator, below: int, number: int) -> np.ndarray:
    """Uniform whole numbers below a bound, which may be beyond 64 bits."""
    if below <= 2**63:
        return rng.integers(below, size=number)
    bits, found = (below - 1).bit_length(), list[int]()
    while len(found) < number:
        drawn = int.from_bytes(rng.bytes((bits + 7) // 8), "big") >> (-bits % 8)
        found += [drawn] if drawn < below else []
    return np.array(found, dtype=object)
