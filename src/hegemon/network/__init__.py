"""The same definitions among real processes: members that meet over UDP, authenticated and encrypted.

`join` (asyncio) and `join_in_thread` make this process a member; `new_key` makes the key that all share.
"""

from hegemon.network.keys import new_key, read_keys
from hegemon.network.member import Member, join, join_in_thread
from hegemon.network.terms import Event

__all__ = ["Event", "Member", "join", "join_in_thread", "new_key", "read_keys"]
