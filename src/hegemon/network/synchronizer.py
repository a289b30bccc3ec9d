"""Rounds over datagrams: an α-synchronizer between neighbours (Awerbuch, JACM 1985) that recovers from any counters.

In each round a node sends one word to every neighbour, and enters the next round when it has received the word of each
for this one. It repeats its words of the present round and the one before until the neighbours go on, so late, lost and
repeated datagrams change nothing: neighbours differ by at most one round, and each round is that of the definition.

A counter may hold anything at first: a node that receives a higher one adopts it, so all reach the highest.
Counters end at `LAST`. A node that reaches it begins again at 0, and for a while adopts no higher counter, so that the
old highest counters cannot come back. A neighbour that is silent, or sends nothing for the present round, for
`silence` seconds leaves the round, and is part of it again when it is heard again. Definitions whose nodes must begin
together (message passing: a lost message is never repeated) wait longer: `GATHERING` seconds for a neighbour that was
never heard, and without limit for one that is heard but far behind.
"""

import os
import random
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from hegemon.network.agent import COURSE, DROPS
from hegemon.network.terms import Event, Terms
from hegemon.network.wire import Dropped, Wire

ROUND = 8  # the kind of letter, which exchanges of population protocols do not use
LAST = 1 << 63
WORD = 8  # bytes of a word
GATHERING = 60.0  # seconds


@dataclass
class Heard:
    """The newest datagram of one neighbour."""

    life: bytes
    round: int
    said: int
    before: int  # its word of the round before
    when: float


class Synchronizer:
    """One node. `node` knows the definition: `says(port)`, `accepts(word)`, `receives(round, words)`, `state`, `size`,
    `begins_together`."""

    def __init__(
        self,
        node: Any,
        wire: Wire,
        transport: Any,
        clock: Any,
        *,
        peers: Sequence[Hashable] = (),
        rate: float = 10.0,
        patience: float = 1.0,
        repeat: float | None = None,
        round: int = 0,
        rng: random.Random | None = None,
        tell: Callable[[Event], None] = lambda event: None,
        wall: Callable[[], float] | None = None,
    ):
        self.node, self.wire, self.transport, self.clock = node, wire, transport, clock
        self.pace, self.silence = 1 / rate, patience
        self.repeat = repeat or patience / 8
        self.rng = rng or random.Random(os.urandom(16))
        self.counters: Counter[str] = Counter(dict.fromkeys(COURSE + DROPS, 0))
        self.terms = Terms(tell, self.rng, **({"wall": wall} if wall else {}))
        self.heard: dict[Hashable, Heard] = {}
        self.peers = list(peers)
        self.round = round
        self._calm = -float("inf")  # until then no higher counter is adopted
        self._began = self._earliest = self._waits_since = clock.time()
        self._beat = self._next = None
        self._speak()
        self._before = list(self._said)
        self.terms.follow(node.is_leader)

    @property
    def peers(self) -> list[Hashable]:
        return self._peers

    @peers.setter
    def peers(self, peers: list[Hashable]) -> None:
        """The neighbours; a port is an index into this list."""
        self._peers = list(peers)
        self.heard = {peer: heard for peer, heard in self.heard.items() if peer in self._peers}
        self._said = [self.node.says(port) for port in range(len(self._peers))]
        self._before = list(self._said)

    @property
    def state(self) -> int:
        return int(self.node.state)

    @state.setter
    def state(self, code: int) -> None:
        self.node.state = code
        self._speak()
        self.terms.follow(self.node.is_leader)

    def start(self) -> None:
        self._beat = self.clock.call_later(self.repeat * (0.5 + self.rng.random()), self._repeat)

    def stop(self) -> None:
        for timer in (self._beat, self._next):
            if timer:
                timer.cancel()

    # -- sending --------------------------------------------------------------------------------------------

    def _speak(self) -> None:
        self._said = [self.node.says(port) for port in range(len(self._peers))]

    def _repeat(self) -> None:
        self.start()
        self._send()
        self._try_to_go_on()

    def _send(self) -> None:
        now = self.round.to_bytes(WORD, "big")
        for peer, said, before in zip(self._peers, self._said, self._before, strict=True):
            words = said.to_bytes(WORD, "big") + before.to_bytes(WORD, "big")
            self.transport.send(self.wire.seal(ROUND, now, words, 0, self.terms.highest), peer)

    # -- receiving ------------------------------------------------------------------------------------------

    def receive(self, datagram: bytes, address: Hashable) -> None:
        try:
            letter = self.wire.open(datagram, self.clock.time())
            if letter.kind != ROUND or address not in self._peers:
                raise Dropped("stale")
            round = int.from_bytes(letter.exchange, "big")
            said, before = (int.from_bytes(letter.nonce[k : k + WORD], "big") for k in (0, WORD))
            if round >= LAST or not self.node.accepts(said) or not self.node.accepts(before):
                raise Dropped("invalid")
            self._take(address, Heard(letter.life, round, said, before, self.clock.time()))
            self.terms.hear(letter.fence)
        except Dropped as dropped:
            self.counters[dropped.reason] += 1

    def _take(self, address: Hashable, new: Heard) -> None:
        old = self.heard.get(address)
        if old is not None and old.life == new.life and new.round < old.round and not self._begins_again(old, new):
            raise Dropped("stale")  # late
        if old is not None and old.life != new.life and new.when - old.when < self.silence:
            raise Dropped("stale")  # perhaps of an earlier life; a new life is accepted when the old one is silent
        self.heard[address] = new
        if new.round > self.round + 1 and self.clock.time() >= self._calm:
            self._be_in(new.round)
        self._try_to_go_on()

    def _begins_again(self, old: Heard, new: Heard) -> bool:
        """Whether a neighbour's counter fell (corrupted, or past `LAST`): by more than late datagrams can explain."""
        return old.round - new.round > 2 or new.when - old.when > self.silence

    # -- rounds ---------------------------------------------------------------------------------------------

    def _be_in(self, round: int) -> None:
        """Send the present words as those of another round."""
        self.round = round
        if round >= LAST:
            self.round = 0
            self._calm = self.clock.time() + self.silence * (self.node.n + 1)
        self._before = list(self._said)
        self._waits_since = self.clock.time()

    def _word_of(self, peer: Hashable) -> int | None:
        """A neighbour's word of the present round, if it is known."""
        heard = self.heard.get(peer)
        if heard is None or heard.round not in (self.round, self.round + 1):
            return None
        return heard.said if heard.round == self.round else heard.before

    def _is_awaited(self, peer: Hashable) -> bool:
        """Whether to wait on for a neighbour whose word is missing."""
        now, heard = self.clock.time(), self.heard.get(peer)
        if heard is None:
            return bool(now - self._began < (GATHERING if self.node.begins_together else self.silence))
        is_late = now - self._waits_since >= self.silence and not self.node.begins_together
        return now - heard.when < self.silence and not is_late

    def _try_to_go_on(self) -> None:
        now = self.clock.time()
        if self.round >= LAST:  # a corrupted counter
            self._be_in(self.round)
        words = [self._word_of(peer) for peer in self._peers]
        missing = [peer for peer, word in zip(self._peers, words, strict=True) if word is None]
        if any(map(self._is_awaited, missing)):
            return
        if not self._peers:
            return
        if now < self._earliest:
            if self._next is None:
                self._next = self.clock.call_later(self._earliest - now, self._wake)
            return
        self.counters["unreachable"] += len(missing)
        self._earliest = now + self.pace
        self.node.receives(self.round, words)
        self.counters["responded"] += 1
        self.counters["completed"] += 1
        before = self._said
        self._be_in(self.round + 1)
        self._before = before
        self._speak()
        self.terms.follow(self.node.is_leader)
        self._send()
        self._try_to_go_on()

    def _wake(self) -> None:
        self._next = None
        self._try_to_go_on()
