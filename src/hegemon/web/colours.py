"""What a byte looks like, on a light and on a dark ground: sent to the page once, and used by the animated pictures.

Colours are those of Okabe and Ito, which colour-blind eyes tell apart.
"""

import math
from dataclasses import dataclass
from typing import Any

HUES = ("#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a600", "#7f6fbf", "#777777")
GOLD = "#e69f00"
DEEPEST = 0.3  # the share of ink in the strongest shade
CORNER = 4  # a leader's first badge goes to the corner: its star is in the middle
EXTREMES = ("#16191d", "#ffffff")
BADGES = ("#d55e00", "#56b4e9", "#009e73", "#cc79a7")
KINDS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # of messages


@dataclass(frozen=True)
class Ground:
    """The background, the ink for lines and letters, the colour of an agent without special values, and how much of its
    hue the faintest shade keeps: alone, and where hues must be distinguished."""

    ground: str
    ink: str
    idle: str
    faintest: float
    faintest_class: float


LIGHT = Ground("#f5f6f8", "#1b1f24", "#a9b4c0", 0.22, 0.4)
DARK = Ground("#1d2127", "#e8ebef", "#5d6875", 0.4, 0.5)


def rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def mixed(start: str, end: str, share: float) -> str:
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(rgb(start), rgb(end), strict=True))


@dataclass(frozen=True)
class Badge:
    place: int
    colour: str


@dataclass(frozen=True)
class Seen:
    """An agent's disc, the rim of a leader's, its badges, and its colour where it is one pixel."""

    leader: bool
    fill: str
    rim: str | None
    badges: tuple[Badge, ...]
    pixel: str

    def record(self) -> dict[str, Any]:
        badges = [{"place": badge.place, "colour": badge.colour} for badge in self.badges]
        return {"leader": self.leader, "fill": self.fill, "rim": self.rim, "badges": badges, "pixel": self.pixel}


def seen(channels: list[dict[str, Any]], byte: int, on: Ground = LIGHT) -> Seen:
    """The byte as the channels read it."""
    values: list[int] = []
    for channel in reversed(channels):
        byte, value = divmod(byte, len(channel["labels"]))
        values.insert(0, value)
    parts = [channel["part"] for channel in channels]
    leader, gold, place = False, GOLD, 0
    hue: str | None = None
    shade: float | None = None
    badges: list[Badge] = []
    for channel, value in zip(channels, values, strict=True):
        chosen: str | None = (channel["colours"] or [None] * (value + 1))[value]
        size = len(channel["labels"])
        if channel["part"] == "leader":
            leader = value == 1
            gold, hue = (chosen or gold, hue) if leader else (gold, chosen or hue)
        elif channel["part"] == "class":
            plain = size == 2 and value == 0 and "shade" not in parts
            hue = chosen or (on.idle if plain else HUES[value % len(HUES)])
        elif channel["part"] == "shade":
            shade = value / max(1, size - 1)
        else:
            if value:
                faint = BADGES[place] if value == size - 1 else mixed(BADGES[place], on.ground, 0.55)
                badges.append(Badge(CORNER if leader and place == 0 else place, chosen or faint))
            place += 1
    body = hue or (on.idle if shade is None else HUES[0])
    if shade is not None:
        least = on.faintest_class if hue else on.faintest
        body = mixed(mixed(on.ground, body, least), mixed(body, on.ink, DEEPEST), shade)
    fill = gold if leader else body
    told_by_badge = badges and not leader and "class" not in parts
    pixel = mixed(fill, badges[0].colour, 0.45) if told_by_badge else fill
    rim = body if leader and hue else on.ink if leader or _is_near(fill, on.ground) else None
    return Seen(leader, fill, rim, tuple(badges), pixel)


def _is_near(colour: str, ground: str) -> bool:
    """Whether a disc of the colour could not be distinguished from the ground: white on light, black on dark."""
    return colour in EXTREMES and sum(abs(a - b) for a, b in zip(rgb(colour), rgb(ground), strict=True)) < 90


def looks(channels: list[dict[str, Any]]) -> dict[str, Any]:
    """For the page: both grounds, and on each of them what every byte looks like."""
    bytes_ = range(min(256, math.prod(len(channel["labels"]) for channel in channels)))
    return {
        name: {"ground": on.ground, "ink": on.ink, "bytes": [seen(channels, byte, on).record() for byte in bytes_]}
        for name, on in (("light", LIGHT), ("dark", DARK))
    }
