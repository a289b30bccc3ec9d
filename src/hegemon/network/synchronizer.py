"""Rounds over datagrams: an α-synchronizer between neighbours (Awerbuch, JACM 1985) that recovers from any counters.

In each round a node says one thing to every neighbour, and goes on to the next when it has heard what each of them
said in this one. It repeats what it says in the present round and the one before until they go on, so late, lost and
repeated datagrams change nothing: neighbours differ by at most one round, and each round is the definition's.

A counter may hold anything at first: whoever hears of a higher one takes it over, so all meet at the highest.
Counters end at `LAST`. A node that gets there begins again at 0, and for a while takes over nothing from above, so
that the highest counters of before cannot come back. A neighbour that is silent, or says nothing of the present
round, for `silence` seconds leaves the round, and is back in it when it is heard again. Definitions whose nodes must
begin together (message passing: a message that is lost never comes again) wait longer: for a neighbour that was never
heard `GATHERING` seconds, and for one that is heard however far behind it is.
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

ROUND = 8  # the kind of letter; no exchange of a population protocol has it
LAST = 1 << 63
WORD = 8  # bytes of what is said in one round
GATHERING = 60.0  # seconds


@dataclass
class Heard:
    """The newest from one neighbour."""

    life: bytes
    round: int
    said: int
    before: int  # what it said in the round before
    when: float


class Synchronizer:
    """One node. `node` knows the definition: `says(port)`, `accepts(word)`, `hears(round, words)`, `state`, `size`,
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
        self._calm = -float("inf")  # until then nothing is taken over from above
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
        """Ports are the places in this list."""
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

    # -- saying ---------------------------------------------------------------------------------------------

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

    # -- hearing --------------------------------------------------------------------------------------------

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
            raise Dropped("stale")  # of an earlier life, perhaps; a new one is heard when the old one is silent
        self.heard[address] = new
        if new.round > self.round + 1 and self.clock.time() >= self._calm:
            self._be_in(new.round)
        self._try_to_go_on()

    def _begins_again(self, old: Heard, new: Heard) -> bool:
        """A neighbour whose counter fell: it was corrupted, or came to the end. Late datagrams are not so late."""
        return old.round - new.round > 2 or new.when - old.when > self.silence

    # -- going on -------------------------------------------------------------------------------------------

    def _be_in(self, round: int) -> None:
        """Say what there is to say as that of another round."""
        self.round = round
        if round >= LAST:
            self.round = 0
            self._calm = self.clock.time() + self.silence * (self.node.n + 1)
        self._before = list(self._said)
        self._waits_since = self.clock.time()

    def _word_of(self, peer: Hashable) -> int | None:
        """What a neighbour said in the present round, if it is known."""
        heard = self.heard.get(peer)
        if heard is None or heard.round not in (self.round, self.round + 1):
            return None
        return heard.said if heard.round == self.round else heard.before

    def _is_awaited(self, peer: Hashable) -> bool:
        """Whether a neighbour whose word is missing is still waited for."""
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
        self.node.hears(self.round, words)
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
