"""The state of one agent as fields with finite domains: counted, encoded to 0..size-1 and back.

A field whose domain has a condition exists only in some *variants* (classes of agents). The fields that
conditions speak of are the discriminators; every combination of their values that can occur is a variant,
and the states of a variant are the product of its fields. The size is the sum over variants, never the
product of all ranges.
"""

import bisect
import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from hegemon.errors import InvalidInput, meant
from hegemon.models.arrays import element, namespace_with
from hegemon.models.expressions import number_or_text
from hegemon.models.fields import Field, signed_type
from hegemon.models.grammar import shown

MOST_DECODED = 5000  # states that are remembered as fields
LARGEST_SIZE = 2**62  # states whose codes are numbers of 64 bits


class WrongField(InvalidInput):
    """A field is declared, or written, as it cannot be; whoever knows the author's file can say where."""

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


class StateSpace:
    """All states of one agent for given parameter values."""

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
        """For whatever counts states or keeps them as numbers of 64 bits: one sentence."""
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

    # -- one state as a mapping, as a namespace, as an integer ------------------------------------------

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
        """What a transition wrote into a field, if it is a whole number or a name of the field's Choice."""
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
        fields = self._decoded.get(code)  # the same few are asked for again and again
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

    # -- many states at once ----------------------------------------------------------------------------

    def first_out_of_range(self, agents: np.ndarray) -> tuple[int, str] | None:
        """The first record with a field outside its range, and that field; only fields that exist count."""
        places = [
            (int(np.argmax(wrong)), name)
            for name in self.names
            if (wrong := self._wrong(agents, name)).any()
        ]  # fmt: skip
        return min(places, default=None)

    def _wrong(self, agents: np.ndarray, name: str) -> np.ndarray:
        low, high = self.bounds[name]
        return self._exists(agents, name) & ((agents[name] < low) | (agents[name] > high))

    def _exists(self, agents: np.ndarray, name: str) -> np.ndarray:
        """Which of the records have the field."""
        exists = np.ones(len(agents), bool)
        for other, values in self.presence(name):
            exists &= np.isin(agents[other], values)
        return exists

    def canonical_array(self, agents: np.ndarray) -> np.ndarray:
        """A copy of the records in which fields that a state does not have hold their lowest value."""
        result = agents.copy()
        for name in self.names:
            if self.domains[name].condition:
                result[name][~self._exists(agents, name)] = self.bounds[name][0]
        return result

    def encode_array(self, agents: np.ndarray) -> np.ndarray:
        """The codes of an array of records, whose values are in their ranges; beyond 64 bits Python's own numbers."""
        kind = np.int64 if self.has_codes else object
        codes = np.full(len(agents), -1, dtype=kind)
        for variant in self.variants:
            chosen = np.ones(len(agents), dtype=bool)
            for name, value in variant.fixed:
                chosen &= agents[name] == value
            rest = np.zeros(int(chosen.sum()), dtype=kind)
            for name in variant.free:
                low, high = self.bounds[name]
                rest = rest * (high - low + 1) + (agents[name][chosen].astype(kind) - low)
            codes[chosen] = variant.offset + rest
        return codes

    def decode_array(self, codes: np.ndarray) -> np.ndarray:
        """The records with the given codes; fields that a state does not have hold their lowest value."""
        codes = np.asarray(codes)
        assert codes.dtype.kind in "iuO" or not len(codes), "codes were rounded; make them with code_array"
        codes = codes.astype(np.int64 if self.has_codes else object, copy=False)
        agents = np.zeros(len(codes), dtype=self.dtype)
        for name in self.names:
            agents[name] = self.bounds[name][0]
        for variant in self.variants:
            chosen = np.asarray((codes >= variant.offset) & (codes < variant.offset + variant.size), bool)
            rest = codes[chosen] - variant.offset
            for name, value in variant.fixed:
                agents[name][chosen] = value
            for name in reversed(variant.free):
                low, high = self.bounds[name]
                agents[name][chosen] = low + rest % (high - low + 1)
                rest //= high - low + 1
        return agents

    @property
    def layout(self) -> list[int]:
        """The lowest value of every field and how many it has: the numbers that functions on records read."""
        return [word for low, high in self.bounds.values() for word in (low, high - low + 1)]

    def source(self) -> tuple[str, list[int]]:
        """`encode(a, layout)`, `decode(code, a, layout)` and `canonical(a, layout)` as Python text, and the
        numbers they read.

        `encode` returns -1 for a state with a field outside its range. `canonical` sets the fields that the
        state does not have to their lowest values, so that equal states are equal records.

        The text depends on the fields alone and the layout holds the bounds, so that one compiled set
        serves every choice of parameters.
        """
        layout, slot = self.layout, {name: 2 * place for place, name in enumerate(self.names)}
        encode, decode = ["def encode(a, layout):"], ["def decode(code, a, layout):"]
        decode += [f"    a.{name} = layout[{slot[name]}]" for name in self.names]
        for variant in self.variants:
            offset = len(layout)
            layout += [variant.offset, variant.size]
            test = " and ".join(f"a.{name} == {value}" for name, value in variant.fixed) or "True"
            encode += [f"    if {test}:", "        code = 0"]
            decode += [f"    if code < layout[{offset}] + layout[{offset + 1}]:"]
            decode += [f"        rest = code - layout[{offset}]"]
            decode += [f"        a.{name} = {value}" for name, value in variant.fixed]
            for name in variant.free:
                low, width = f"layout[{slot[name]}]", f"layout[{slot[name] + 1}]"
                encode += [f"        digit = a.{name} - {low}", f"        if digit < 0 or digit >= {width}:"]
                encode += ["            return -1", f"        code = code * {width} + digit"]
            for name in reversed(variant.free):
                low, width = f"layout[{slot[name]}]", f"layout[{slot[name] + 1}]"
                decode += [f"        a.{name} = {low} + rest % {width}"]
                decode += [f"        rest //= {width}"] if name != variant.free[0] else []
            encode += [f"        return layout[{offset}] + code"]
            decode += ["        return"]
        encode += ["    return -1"]
        canonical = ["def canonical(a, layout):", "    pass"]
        for name in self.names:
            if exists := self.existence_test(name):
                canonical += [f"    if not ({exists}):", f"        a.{name} = layout[{slot[name]}]"]
        return "\n".join(encode + decode + canonical) + "\n", layout


def random_numbers(rng: np.random.Generator, below: int, number: int) -> np.ndarray:
    """Uniform whole numbers below a bound, which may be beyond 64 bits."""
    if below <= 2**63:
        return rng.integers(below, size=number)
    bits, found = (below - 1).bit_length(), list[int]()
    while len(found) < number:
        drawn = int.from_bytes(rng.bytes((bits + 7) // 8), "big") >> (-bits % 8)
        found += [drawn] if drawn < below else []
    return np.array(found, dtype=object)
