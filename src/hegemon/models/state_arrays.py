"""Many states at once: arrays of records and of codes, in NumPy and as text for the compiler."""

import numpy as np

from hegemon.models.variants import Variants


class StateArrays(Variants):
    """Codes of whole arrays. `source` writes the same conversions as functions on one record, for kernels."""

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
