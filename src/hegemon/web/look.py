"""What an agent looks like, derived from its fields: one byte per agent, and what the byte means.

A byte is a mixed-radix number over a few channels: whether the agent leads; its class (hue); the value of a long range
(shade); and small fields as badges. Which fields play which part follows from the declaration and, where some moments
of the run are known, from them: the shade is the field that distinguishes agents best, fine where values occur.
A protocol may choose colours by one line, `colours = {"bullet=2": "#d55e00"}`.
"""

import ast
import inspect
import itertools
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from hegemon.errors import InvalidInput
from hegemon.models.protocol import Protocol, output_leader
from hegemon.process.membership import Membership
from hegemon.process.stopping import Stop

MOST_CLASSES, MOST_SHADES, MOST_BADGES, SMALL = 8, 8, 4, 4
TELLING = ("bullet", "shield", "signal", "flag", "mark", "detect", "done")  # fields that papers discuss
NAMED_COLOURS = {  # a value whose name is a colour is drawn in it
    "black": "#16191d", "white": "#ffffff", "red": "#c8102e", "green": "#009e73", "blue": "#0072b2",
    "yellow": "#e3c800", "grey": "#8a929b", "gray": "#8a929b",
}  # fmt: skip
MOST_LOOKS = 256  # values of a byte
FEW_STATES = 4096  # up to this size outputs are computed for all states; of larger spaces for a sample
NOTABLE, RARE = 0.05, 0.01  # shares of agents from which a shade counts as used, and a value as present
ENOUGH, MOST_TRIED = 1.5, 8  # shades of a class at one moment, on average, that suffice; ranges that are tried
LARGEST_TABLE = 1 << 16  # states: up to this size one table maps codes to bytes


@dataclass(frozen=True)
class Channel:
    """`part` is leader, class, shade or badge; `labels` name its values; `colours` are the author's, if any."""

    part: str
    name: str
    labels: tuple[str, ...]
    colours: tuple[str | None, ...] = ()

    @property
    def size(self) -> int:
        return len(self.labels)

    def record(self) -> dict[str, Any]:
        return {"part": self.part, "name": self.name, "labels": self.labels, "colours": self.colours}


def chosen_colours(protocol: Protocol) -> dict[tuple[str, str], str]:
    """The author's line as (field, value) -> colour, checked: it goes into a page."""
    chosen = {}
    for key, colour in dict(getattr(protocol, "colours", {})).items():
        field, equals, value = str(key).partition("=")
        if not equals or field not in (*protocol.space.names, "output"):
            raise InvalidInput(f'{protocol.id}: colours has the key {key!r}; write "field=value": "#0072b2"')
        if not re.fullmatch(r"#[0-9a-fA-F]{6}", str(colour)):
            raise InvalidInput(f"{protocol.id}: colours has {colour!r}; write a colour as #rrggbb")
        chosen[field, value] = colour
    return chosen


@cache
def constants_of(kind: type) -> dict[tuple[str, int], str]:
    """(field, value) -> the name that the author's file gives it, such as LIVE where it compares `a.bullet == LIVE`.

    A value with two names is left out, and so is a name that the file uses for two values.
    """
    module = sys.modules.get(kind.__module__)
    try:
        tree = ast.parse(inspect.getsource(module))  # type: ignore[arg-type]
    except (OSError, TypeError, SyntaxError):
        return {}
    found: dict[tuple[str, int], set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Assign):
            sides = [*node.targets, node.value]
        else:
            continue
        fields = [side.attr for side in sides if isinstance(side, ast.Attribute)]
        names = [side.id for side in sides if isinstance(side, ast.Name) and side.id.isupper() and len(side.id) > 1]
        for field, name in itertools.product(fields, names):
            if type(value := getattr(module, name, None)) is int:
                found.setdefault((field, value), set()).add(name)
    return {key: names.pop() for key, names in found.items() if len(names) == 1}


class Look:
    """The bytes of a protocol's configurations."""

    def __init__(self, protocol: Protocol, met: np.ndarray | None = None):
        """`met` holds all agents at some moments of the run, one row per moment, if these are known."""
        self.protocol, self.space = protocol, protocol.space
        self._met = np.zeros((0, 0), self.space.dtype) if met is None else met
        self._colours = chosen_colours(protocol)
        kind: Any = type(protocol)
        self._constants = constants_of(kind)
        self._output = None
        if hasattr(protocol, "output") and protocol.outputs and protocol.output is not output_leader:
            few = self.space.size <= FEW_STATES
            self._output = self._plain_output if few else Membership(protocol, Stop("output", (protocol.output,))).marks
        self._choose()
        self._table = None
        if self.space.size <= LARGEST_TABLE:
            self._table = self._bytes(self.space.decode_array(np.arange(self.space.size)))

    # -- which field plays which part -------------------------------------------------------------------

    def _choose(self) -> None:
        space, elects = self.space, self.protocol.elects_leader
        deciding = self._deciding()  # shown already by gold and the star
        free = [name for name in space.names if not (elects and name == "leader") and name not in deciding]
        width = {name: space.bounds[name][1] - space.bounds[name][0] + 1 for name in space.names}
        self.channels: list[Channel] = []
        if self.protocol.outputs:
            name = "leader" if self.protocol.elects_leader else "output"
            self.channels.append(self._channel("leader", name, self.protocol.outputs, name))
        self._hues = tuple(name for name in space.discriminators if name in free)
        if len(space.variants) > MOST_CLASSES:
            self._hues = self._hues[:1]
        self._variants = self._classes() if self._hues else []
        self._shaded = [
            self._telling_most(v, [n for n in v.free if width[n] > SMALL and n in free]) for v in space.variants
        ]
        badges = [n for n in free if width[n] <= SMALL and n not in space.discriminators]
        telling = {name: any(name.endswith(word) for word in TELLING) for name in badges}
        hidden = getattr(self.protocol, "private", ())
        badges.sort(key=lambda n: (n in hidden, not telling[n], -width[n]))
        badges = badges[: MOST_BADGES - 1 if self._variants else MOST_BADGES]
        if any(telling[n] for n in badges):
            badges = [n for n in badges if telling[n]]
        named = next((field for field, _ in self._colours if field in badges), None)
        if not self._variants and (named or not any(self._shaded)) and badges:
            chosen = named or badges[0]
            badges.remove(chosen)
            self._hues, self._variants = (
                (chosen,),
                [((chosen, k + space.bounds[chosen][0]),) for k in range(width[chosen])],
            )
        if not elects and self._is_told_by_class():  # the class shows the output (majority's opinion): no star
            self.channels.clear()
        if self._variants:
            labels = [self._class_name(fixed) for fixed in self._variants]
            most = MOST_LOOKS // (self.channels[0].size if self.channels else 1)
            if len(labels) > most:  # the remaining classes share one colour
                labels = [*labels[: most - 1], "others"]
            name = self._hues[0] if len(self._hues) == 1 else "class"
            self.channels.append(self._channel("class", name, labels, self._hues[0]))
        room = MOST_LOOKS
        for channel in self.channels:
            room //= channel.size
        self._badges = []
        for name in badges:
            if room // width[name] >= (4 if any(self._shaded) else 1):
                room //= width[name]
                self._badges.append(name)
        shades = min(MOST_SHADES, room, max((width[n] for n in self._shaded if n), default=0))
        self._firsts: dict[str, list[int]] = {}
        if shades > 1:
            names = list(dict.fromkeys(name for name in self._shaded if name))
            of = {
                name: [v for v, own in zip(space.variants, self._shaded, strict=True) if own == name] for name in names
            }
            self._firsts = {name: self._firsts_of(name, shades, variants) for name, variants in of.items()}
            self.channels.append(Channel("shade", " / ".join(names), self._shade_labels(names)))
        for name in self._badges:
            low, high = space.bounds[name]
            labels = [self._label(name, value) for value in range(low, high + 1)]
            self.channels.append(self._channel("badge", name, labels, name))

    def _telling_most(self, variant: Any, long: list[str]) -> str | None:
        """The first long range of a class, or, if its agents would look alike, the range that shows the most shades."""
        moments = [agents[self._are(variant, agents)] for agents in self._met]

        def shades(name: str) -> int:
            firsts = self._firsts_of(name, MOST_SHADES, [variant])
            return sum(len(np.unique(np.searchsorted(firsts, mine[name], side="right"))) for mine in moments)

        if not long or shades(long[0]) >= ENOUGH * len(moments):
            return next(iter(long), None)
        return max(long[:MOST_TRIED], key=shades)

    def _are(self, variant: Any, agents: np.ndarray) -> np.ndarray:
        chosen = np.ones(len(agents), bool)
        for name, wanted in variant.fixed:
            chosen &= agents[name] == wanted
        return chosen

    def _firsts_of(self, name: str, shades: int, variants: list[Any]) -> list[int]:
        """The first value of every shade but the lowest: even, or finer where agents of `met` would look alike."""
        low, high = self.space.bounds[name]
        agents = self._met.ravel()
        met = np.sort(np.concatenate([agents[name][self._are(variant, agents)] for variant in variants]))

        def even(parts: int) -> list[int]:
            return [low + -(-k * (high - low + 1) // parts) for k in range(1, parts)]

        used = [np.searchsorted(met, first) for first in (low, *even(shades), high + 1)]
        notable = sum(after - before > NOTABLE * len(met) for before, after in zip(used, used[1:], strict=False))
        if not len(met) or high - low < shades or 2 * notable >= shades:
            return even(shades)
        coarse = even(max(2, shades // 2))
        fine = shades - 1 - len(coarse)
        values, counts = np.unique(met, return_counts=True)
        values = values[counts > RARE * len(met)] if (counts > RARE * len(met)).any() else values
        return sorted({*coarse, *(int(values[len(values) * k // (fine + 1)]) for k in range(1, fine + 1))} - {low})

    def _deciding(self) -> set[str]:
        """The two-valued fields that equal the output or its negation: they are drawn once, as the output."""
        if self._output is None:
            return set()
        size = self.space.size
        codes = np.arange(size) if size <= FEW_STATES else np.random.default_rng(0).integers(0, size, FEW_STATES)
        agents = self.space.decode_array(codes)
        output = self._output(agents).astype(bool).reshape(-1)
        found = set()
        for name in self.space.names:
            low, high = self.space.bounds[name]
            upper = agents[name] == high
            if high == low + 1 and (np.array_equal(upper, output) or np.array_equal(upper, ~output)):
                found.add(name)
        return found

    def _is_told_by_class(self) -> bool:
        """Whether all states of a class have the same output."""
        if self._output is None or not self._variants:
            return False
        size = self.space.size
        codes = np.arange(size) if size <= FEW_STATES else np.random.default_rng(0).integers(0, size, FEW_STATES)
        agents = self.space.decode_array(codes)
        output = self._output(agents).astype(bool).reshape(-1)
        chosen = [np.all([agents[name] == wanted for name, wanted in fixed], axis=0) for fixed in self._variants]
        return all(len(np.unique(output[one])) <= 1 for one in chosen)

    def _classes(self) -> list[tuple[tuple[str, int], ...]]:
        seen = []
        for variant in self.space.variants:
            fixed = tuple((name, value) for name, value in variant.fixed if name in self._hues)
            if fixed not in seen:
                seen.append(fixed)
        return seen

    def _class_name(self, fixed: tuple[tuple[str, int], ...]) -> str:
        """The paper's name of a class, if the author gives it, else the values that make it."""
        values = " ".join(f"{name}={self.space.domains[name].label(value)}" for name, value in fixed)
        plain = " ".join(self._label(name, value) for name, value in fixed)
        return getattr(self.protocol, "class_names", {}).get(values, plain)

    def _label(self, name: str, value: int) -> str:
        text = str(self.space.domains[name].label(value))
        if not self.space.domains[name].names:
            text = self._constants.get((name, value), text)
        return text if not text.lstrip("-").isdigit() and len(self._hues) < 2 else f"{name}={text}"

    def _channel(self, part: str, name: str, labels: Iterable[Any], field: str) -> Channel:
        labels = tuple(str(label) for label in labels)
        words = [label.rpartition("=")[2] for label in labels]
        values = {name: str(value) for (owner, value), name in self._constants.items() if owner == field}
        colours: list[str | None] = [
            self._colours.get((field, values.get(word, word)), NAMED_COLOURS.get(word.lower())) for word in words
        ]
        if part == "leader":
            colours = [self._colours.get((field, str(k)), colour) for k, colour in enumerate(colours)]
        return Channel(part, name, labels, tuple(colours))

    def _shade_labels(self, names: list[str]) -> tuple[str, ...]:
        if len(names) > 1:
            most = max(map(len, self._firsts.values()))
            return ("low", *[""] * (most - 1), "high")
        low, high = self.space.bounds[names[0]]
        edges = [low, *self._firsts[names[0]], high + 1]
        between = "–" if low >= 0 else " to "
        return tuple(f"{a}" if a == b - 1 else f"{a}{between}{b - 1}" for a, b in zip(edges, edges[1:], strict=False))

    # -- bytes ------------------------------------------------------------------------------------------

    def of_codes(self, codes: np.ndarray) -> np.ndarray:
        if self._table is not None:
            return self._table.take(codes)
        return self._bytes(self.space.decode_array(codes))

    def of_agents(self, agents: np.ndarray) -> np.ndarray:
        return self._bytes(agents)

    def _bytes(self, agents: np.ndarray) -> np.ndarray:
        result = np.zeros(len(agents), np.uint8)
        for channel in self.channels:
            result *= np.uint8(channel.size) if channel.size < 256 else np.uint8(0)
            result += self._values(channel, agents)
        return result

    def _values(self, channel: Channel, agents: np.ndarray) -> np.ndarray:
        if channel.part == "leader":
            if self._output is None:
                return (agents["leader"] != 0).astype(np.uint8)
            return self._output(agents).astype(np.uint8).reshape(-1)
        if channel.part == "class":
            value = np.zeros(len(agents), np.uint8)
            for k, fixed in enumerate(self._variants):
                chosen = np.ones(len(agents), bool)
                for name, wanted in fixed:
                    chosen &= agents[name] == wanted
                value[chosen] = min(k, channel.size - 1)
            return value
        if channel.part == "badge":
            value = (agents[channel.name] - self.space.bounds[channel.name][0]).astype(np.uint8)
            return np.where(self._present(channel.name, agents), value, np.uint8(0))
        value = np.zeros(len(agents), np.uint8)
        for variant, shaded in zip(self.space.variants, self._shaded, strict=True):
            if shaded:
                chosen, firsts = self._are(variant, agents), np.array(self._firsts[shaded], np.int64)
                place = np.searchsorted(firsts, agents[shaded][chosen], side="right")
                value[chosen] = place * (channel.size - 1) // len(firsts)
        return value

    def _plain_output(self, agents: np.ndarray) -> np.ndarray:
        codes, places = np.unique(self.space.encode_array(agents), return_inverse=True)
        found = [self.protocol.holds(self.protocol.output, self.space.namespace(code)) for code in codes]
        return np.array(found)[places]

    def _present(self, name: str, agents: np.ndarray) -> np.ndarray:
        there = np.ones(len(agents), bool)
        for other, values in self.space.presence(name):
            there &= np.isin(agents[other], values)
        return there
