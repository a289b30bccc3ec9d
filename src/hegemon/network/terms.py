"""Terms of office: when this member was elected and deposed, and the fencing number of each term.

While a network heals there can be no leader, or two. With a fencing number, a store that leaders write to can
refuse the older of two: a new term's number is above every number that has reached this member with any datagram, and
above the present time. Numbers far ahead of this member's own clock are ignored, so a corrupted one cannot drive all
later ones to the end of their range.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

HORIZON_SECONDS = 300  # how far clocks of honest members may differ, and how far ahead a false number can drive all
RANDOM_BITS = 11  # two leaders elected in the same microsecond still differ with high probability


@dataclass(frozen=True)
class Event:
    """`elected` or `deposed`, at which time (seconds since 1970), in the term with which fencing number."""

    kind: str
    time: float
    fence: int


class Terms:
    """Follows one member's output; calls `tell(event)` at every change."""

    def __init__(self, tell: Callable[[Event], None], random: random.Random, wall: Callable[[], float] = time.time):
        self.tell, self.random, self.wall = tell, random, wall
        self.highest = 0  # the highest fencing number received
        self.fence: int | None = None  # of the present term

    def hear(self, fence: int) -> None:
        if self.highest < fence <= self._number(self.wall() + HORIZON_SECONDS):
            self.highest = fence

    def follow(self, is_leader: bool) -> None:
        """Note that the member is, or is not, a leader now."""
        if is_leader and self.fence is None:
            self.fence = self.highest = max(self.highest, self._number(self.wall())) + 1 + self._noise()
            self.tell(Event("elected", self.wall(), self.fence))
        elif not is_leader and self.fence is not None:
            fence, self.fence = self.fence, None
            self.tell(Event("deposed", self.wall(), fence))

    def _number(self, seconds: float) -> int:
        return int(seconds * 1e6) << RANDOM_BITS

    def _noise(self) -> int:
        return self.random.getrandbits(RANDOM_BITS - 1)
