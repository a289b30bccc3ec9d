"""Which parameters hold a leader for long enough: a small measured table of `timer`, and its exponential law.

A loosely-stabilizing leader is lost some day. From the start `safe`, `timer` loses it after a time whose mean grows
exponentially with s (the table in `holding`). Beyond the table its last slope is continued, which is an extrapolation
and is called one. Fewer members hold longer with the same s, so the table's next larger size serves them. The loss
itself is nearly memoryless: within T it happens with probability about T / mean, which the advice keeps below a risk.
Losses of datagrams and faults are not in these numbers.
"""

import math
from dataclasses import dataclass

from hegemon.errors import InvalidInput
from hegemon.network.holding import TABLE

SLOPE_FROM = 3  # the last so many points give the slope
RECOVERY = 1.2  # interactions from no leader to the safe set, over s n: 1.1 at n = 20, s = 200


@dataclass(frozen=True)
class Advice:
    """What to run, what is expected of it, and how far beyond the measurements that is."""

    protocol: str
    parameters: dict
    members: int
    interactions_per_second: float
    hold_seconds: float
    mean_hold_seconds: float
    recovery_seconds: float
    measured_up_to_s: int
    extrapolated: bool

    @property
    def command(self) -> str:
        rate = self.interactions_per_second / 2  # each interaction has one who begins it
        given = " ".join(f"--set {name}={value}" for name, value in self.parameters.items())
        chosen = f"hegemon agent {self.protocol} --n {self.members} {given} --rate {rate:g}"
        return f"{chosen} --peers FILE --key FILE --listen HOST:PORT"


def advise(members: int, interactions_per_second: float, hold_seconds: float, risk: float = 0.01) -> Advice:
    """Parameters for at most so many members, each taking part in so many interactions per second, that lose their
    leader within `hold_seconds` with probability at most about `risk`."""
    sizes = sorted(TABLE)
    if isinstance(members, bool) or not isinstance(members, int) or not 2 <= members <= sizes[-1]:
        raise InvalidInput(f"members = {members!r} is out of range; the table knows 2..{sizes[-1]}")
    for name, value, most in (
        ("interactions per second", interactions_per_second, 1e6),
        ("hold", hold_seconds, 1e12),
        ("risk", risk, 0.5),
    ):
        if not isinstance(value, int | float) or not 0 < value <= most:
            raise InvalidInput(f"{name} = {value!r} is out of range; give a number above 0, at most {most:g}")
    size = next(size for size in sizes if size >= members)
    points = TABLE[size]
    per_second = members * interactions_per_second / 2
    needed = hold_seconds * per_second / risk
    s = smallest_s(points, needed)
    return Advice(
        protocol="timer",
        parameters={"s": s},
        members=members,
        interactions_per_second=interactions_per_second,
        hold_seconds=hold_seconds,
        mean_hold_seconds=math.exp(log_mean(points, s)) / per_second,
        recovery_seconds=RECOVERY * s * members / per_second,
        measured_up_to_s=points[-1][0],
        extrapolated=s > points[-1][0],
    )


def log_mean(points: list[tuple[int, float]], s: int) -> float:
    """The logarithm of the mean number of steps: between two measurements their line, beyond them the last slope."""
    if s <= points[0][0]:
        return math.log(points[0][1]) if s == points[0][0] else -math.inf
    for (low, before), (high, after) in zip(points, points[1:], strict=False):
        if s <= high:
            share = (s - low) / (high - low)
            return (1 - share) * math.log(before) + share * math.log(after)
    (low, before), (high, after) = points[-SLOPE_FROM], points[-1]
    return math.log(after) + (s - high) * math.log(after / before) / (high - low)


def smallest_s(points: list[tuple[int, float]], needed: float) -> int:
    s = points[0][0]
    while log_mean(points, s) < math.log(needed):
        s += 1
    return s
