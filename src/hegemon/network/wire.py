"""Datagrams: all of one length, encrypted with ChaCha20-Poly1305 under a key of the sender's present life.

A *life* is one start of one member: 16 random bytes. HKDF (RFC 5869) derives the key from them and the shared secret.
So a counter that begins at 0 serves as the cipher's nonce, and nothing needs to survive a restart. The header is clear
and authenticated. The fingerprint of protocol and parameters is authenticated too, but only four bytes of it are sent:
they distinguish a member of another network from a forger:

    "hg"  version  key name  fingerprint  life  counter | kind  exchange  nonce  state  fence | tag
     2       1        4           4        16      8    |  1       8       16      8      8   |  16
"""

import hashlib
import json
import os
import struct
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from hegemon.errors import InvalidInput
from hegemon.models.protocol import Protocol
from hegemon.network.keys import Keys

MAGIC = b"hg"
VERSION = 1
HEADER = struct.Struct("!2sB4s4s16sQ")
PREFIX_BYTES, LIFE_END = 11, 27  # what all members of one key have in common; then the life, then the counter
FRONT = bytes(4)  # before the counter in the cipher's nonce
BODY = struct.Struct("!B8s16sQQ")
TAG_BYTES = 16
BODY_AT = HEADER.size
DATAGRAM_BYTES = HEADER.size + BODY.size + TAG_BYTES
LIFE_BYTES, EXCHANGE_BYTES, NONCE_BYTES = 16, 8, 16
WINDOW = 256  # how far behind the newest a datagram's counter may be
ALL_SEEN = (1 << WINDOW) - 1
SHARED_CIPHERS = 4096
STRANGERS_PER_SECOND = 500  # unknown lives whose key is tried: bounds the cost of a flood


class Dropped(Exception):
    """A datagram that changes nothing; the reason is the name of a counter."""

    def __init__(self, reason: str):
        self.reason = reason


class Letter(NamedTuple):
    """The content of a datagram that was authenticated."""

    life: bytes
    kind: int
    exchange: bytes
    nonce: bytes
    state: int
    fence: int


def fingerprint_of(protocol: Protocol) -> bytes:
    """A digest of what members must have in common for equal states: the protocol, its parameters and fields."""
    space = {
        name: [*map(str, protocol.space.bounds[name]), *domain.names, *(map(str, domain.condition))]
        for name, domain in protocol.space.domains.items()
    }
    values = {name: str(value) for name, value in protocol.values.items()}
    described = json.dumps([VERSION, protocol.model.name, protocol.id, values, space], sort_keys=True)
    return hashlib.sha256(described.encode()).digest()


def require_cryptography() -> None:
    """Raise InvalidInput without the extra; called before anything is started."""
    try:
        import cryptography.hazmat.primitives.ciphers.aead  # noqa: F401
    except ImportError:
        raise InvalidInput("networks need the package cryptography: pip install 'hegemon[network]'") from None


class _Secret:
    """One shared secret, bound to a fingerprint: makes the cipher of every life."""

    def __init__(self, secret: bytes, fingerprint: bytes):
        require_cryptography()
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand

        root = HKDF(SHA256(), 32, salt=None, info=b"hegemon network " + bytes([VERSION])).derive(secret)
        self._expand: Callable[[bytes], bytes] = lambda info: HKDFExpand(SHA256(), 32, info).derive(root)
        self._cipher = ChaCha20Poly1305
        self.name = self._expand(b"name")[:4]
        self.fingerprint = fingerprint
        self.cipher = lru_cache(SHARED_CIPHERS)(self._make_cipher)  # shared by all agents of one process

    def _make_cipher(self, life: bytes) -> Any:
        return self._cipher(self._expand(b"life" + life + self.fingerprint))


_secret = lru_cache(16)(_Secret)


@dataclass(slots=True)
class _Sender:
    """What is kept of a known life: its cipher under the key it used last, and which counters came.

    A process with a thousand members remembers a million of them.
    """

    name: bytes = b""  # name of the key
    cipher: Any = None
    newest: int = -1
    seen: int = 0  # bit k: the counter newest - k came
    second: int = 0  # the second of its last request
    requests: int = 0  # requests in that second

    def first_time(self, counter: int) -> bool:
        if counter > self.newest:
            self.seen = ((self.seen << min(counter - self.newest, WINDOW)) | 1) & ALL_SEEN
            self.newest = counter
            return True
        behind = self.newest - counter
        if behind >= WINDOW or self.seen >> behind & 1:
            return False
        self.seen |= 1 << behind
        return True


class Wire:
    """Encrypts what one member sends in this life, and decrypts what arrives. Keeps at most `most_senders` lives."""

    def __init__(
        self, keys: Keys, fingerprint: bytes, most_senders: int = 1024, random: Callable[[int], bytes] = os.urandom
    ):
        self.fingerprint, self.most_senders = fingerprint, most_senders
        self.life = random(LIFE_BYTES)
        self._senders: OrderedDict[bytes, _Sender] = OrderedDict()
        self._strangers = [0, 0]  # the present second, and the unknown lives tried in it
        self._counter = 0
        self.use(keys)

    def use(self, keys: Keys) -> None:
        """Replace the keys, as in a rotation. The counter goes on, so no nonce is ever used twice."""
        self._secrets = {secret.name: secret for secret in (_secret(s, self.fingerprint) for s in keys.secrets)}
        first = next(iter(self._secrets.values()))
        self._own = first.cipher(self.life)
        self._front = HEADER.pack(MAGIC, VERSION, first.name, self.fingerprint[:4], self.life, 0)[:LIFE_END]
        for sender in self._senders.values():
            if sender.name not in self._secrets:
                sender.name, sender.cipher = b"", None

    def seal(
        self, kind: int, exchange: bytes, nonce: bytes = bytes(NONCE_BYTES), state: int = 0, fence: int = 0
    ) -> bytes:
        number = self._counter.to_bytes(8, "big")
        self._counter += 1
        header = self._front + number
        sealed: bytes = self._own.encrypt(FRONT + number, BODY.pack(kind, exchange, nonce, state, fence), header)
        return header + sealed

    def open(self, datagram: bytes, now: float) -> Letter:
        """The content of an authentic, first-time datagram; any other raises Dropped, and changes nothing."""
        if len(datagram) != DATAGRAM_BYTES:
            raise Dropped("malformed")
        prefix, life, number = datagram[:PREFIX_BYTES], datagram[PREFIX_BYTES:LIFE_END], datagram[LIFE_END:BODY_AT]
        if prefix != self._front[:PREFIX_BYTES]:
            self._judge(datagram)
        if life == self.life:
            raise Dropped("reflected")
        name = prefix[3:7]
        sender = self._senders.get(life)
        if sender is None:
            sender = _Sender()
        cipher = sender.cipher if sender.name == name else self._stranger(name, life, now)
        counter = int.from_bytes(number, "big")
        try:
            body = cipher.decrypt(FRONT + number, datagram[BODY_AT:], datagram[:BODY_AT])
        except Exception:  # cryptography's InvalidTag; any error means that the datagram is not a member's
            raise Dropped("forged") from None
        if not sender.first_time(counter):
            raise Dropped("replayed")
        sender.name, sender.cipher = name, cipher
        self._remember(life, sender)
        return Letter._make((life, *BODY.unpack(body)))

    def _judge(self, datagram: bytes) -> None:
        """Drop datagrams that are not for this member; those under another of its keys may pass."""
        magic, version, _, mark, *_ = HEADER.unpack_from(datagram)
        if magic != MAGIC:
            raise Dropped("malformed")
        if version != VERSION:
            raise Dropped("other_version")
        if mark != self.fingerprint[:4]:
            raise Dropped("other_protocol")

    def allow(self, life: bytes, now: float, per_second: int) -> bool:
        """Whether this life may make one more request in this second."""
        sender, second = self._senders[life], int(now)
        if sender.second != second:
            sender.second, sender.requests = second, 0
        sender.requests += 1
        return sender.requests <= per_second

    def _stranger(self, name: bytes, life: bytes, now: float) -> Any:
        """The cipher of a life that is new under this key."""
        if name not in self._secrets:
            raise Dropped("other_key")
        if not _within(self._strangers, now, STRANGERS_PER_SECOND):
            raise Dropped("flood")
        return self._secrets[name].cipher(life)

    def _remember(self, life: bytes, sender: _Sender) -> None:
        senders = self._senders
        senders[life] = sender
        if 2 * len(senders) < self.most_senders:
            return  # far from full: no need to order by age
        senders.move_to_end(life)
        if len(senders) > self.most_senders:
            senders.popitem(last=False)


def _within(count: list[int], now: float, most: int) -> bool:
    """Count one more event in the second `now`; returns whether it is among the first `most`."""
    if count[0] != int(now):
        count[:] = [int(now), 0]
    count[1] += 1
    return count[1] <= most
