"""What surrounds the nodes of a run and is no part of the protocol: wake-ups, identifiers, links and crashes."""

from inspect import signature
from typing import Any

from hegemon.errors import InvalidInput
from hegemon.models.messages import MessageProtocol
from hegemon.models.unreliable import share
from hegemon.process.messages.crashes import read_crashes, require_nodes
from hegemon.process.messages.initiators import Identifiers, WakeUp
from hegemon.process.messages.links import read_delay, read_order


class Surroundings:
    """The options of a run that concern message passing, read and checked for one protocol.

    Without a delay rounds are synchronous: whatever is sent in a round is received at its end.
    """

    def __init__(
        self,
        protocol: MessageProtocol,
        *,
        wake: Any = "all",
        identifiers: Any = "random",
        delay: Any = None,
        order: str = "fifo",
        loss: Any = 0,
        duplicate: Any = 0,
        crashes: Any = (),
    ):
        self.wake = WakeUp(wake, protocol)
        self.identifiers = Identifiers(identifiers, protocol)
        self.delay, self.order = read_delay(delay), read_order(order)
        self.loss, self.duplicate = share("loss", loss), share("duplicate", duplicate)
        self.crashes = read_crashes(crashes)
        require_nodes(self.crashes, protocol.n)
        for what, is_asked in (("order any", self.order != "fifo"), ("duplicate", bool(self.duplicate))):
            if is_asked and self.delay is None:
                raise InvalidInput(f"{what} needs messages that take time; give a delay, such as uniform:1..5")

    @property
    def departures(self) -> dict[str, str]:
        """What differs from synchronous rounds without loss and crashes."""
        told: dict[str, Any] = {"delay": self.delay, "order": self.order if self.order != "fifo" else None}
        told |= {"loss": self.loss or None, "duplicate": self.duplicate or None}
        told["crash"] = "; ".join(map(str, self.crashes)) or None
        return {name: str(value) for name, value in told.items() if value is not None}

    @property
    def is_reliable(self) -> bool:
        """Whether all messages arrive at the end of their round, and every node lives."""
        return not self.departures


OPTIONS = tuple(name for name in signature(Surroundings).parameters if name != "protocol")


def surroundings_of(record: Any, protocol: MessageProtocol) -> Surroundings:
    """The surroundings that the record of a run states."""
    return Surroundings(protocol, **{name: getattr(record, name) for name in OPTIONS})
