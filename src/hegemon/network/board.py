"""The status of every member of a network on one machine: one slot per member in a file that all have mapped.

A member writes only its own slot, so a kill or a pause during a write does no harm to others. After the slots comes
a byte for each member, written by the supervisor: whether it belongs to the network now, so that others contact it.
"""

import mmap
import struct
from pathlib import Path
from typing import NamedTuple

SLOT = struct.Struct("=QddQQQQQQQQQQQQ")
SLOT_BYTES = 128


class Slot(NamedTuple):
    """One member's status. `lives` grows with every start; times are seconds since 1970."""

    lives: int = 0
    beat: float = 0.0
    last_event: float = 0.0
    is_leader: int = 0
    is_cut_off: int = 0
    state: int = 0
    fence: int = 0
    elections: int = 0
    requested: int = 0
    completed: int = 0
    responded: int = 0
    refused: int = 0
    dropped: int = 0
    unreachable: int = 0
    peers: int = 0


class Board:
    def __init__(self, path: Path, members: int, create: bool = False):
        if create:
            path.write_bytes(bytes(members * SLOT_BYTES) + b"\1" * members)
        self.members = members
        with open(path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), members * (SLOT_BYTES + 1))

    def write(self, member: int, slot: Slot) -> None:
        SLOT.pack_into(self._map, member * SLOT_BYTES, *slot)

    def read(self, member: int) -> Slot:
        return Slot(*SLOT.unpack_from(self._map, member * SLOT_BYTES))

    def admit(self, member: int, is_present: bool) -> None:
        """Set whether a member belongs to the network from now on."""
        self._map[self.members * SLOT_BYTES + member] = is_present

    def present(self) -> bytes:
        """A byte for each member: 1 if it belongs to the network."""
        return self._map[self.members * SLOT_BYTES :]

    def close(self) -> None:
        self._map.close()
