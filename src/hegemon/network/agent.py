"""One agent among real ones: a state, a Poisson clock, and exchanges that change both ends or neither.

An interaction is four datagrams. The initiator asks (REQUEST); the responder makes a fresh nonce (OFFER); the
initiator sends its state with that nonce (STATE); the responder lets the two states interact, keeps its own new
one and sends back the other (ANSWER). From STATE to ANSWER the initiator's state is locked (promised), so it
refuses others (BUSY). A responder locks nothing, and a request without a reply blocks nothing. A nonce is used
once: a repeated STATE gets the same ANSWER, and a STATE whose nonce was refused, forgotten or issued by an earlier life
is dropped. If every ANSWER is lost, the interaction was one-sided: the responder changed, the initiator did not.
Over a whole network their number is `responded - completed`.

No input or output here: a `clock` (`time()`, `call_later(delay, callback)`, as asyncio's loops have it) and a
`transport` (`send(datagram, address)`) are given, so the same code runs over UDP and in virtual time.
"""

import os
import random
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hegemon.network.terms import Event, Terms
from hegemon.network.wire import EXCHANGE_BYTES, NONCE_BYTES, Dropped, Letter, Wire

if TYPE_CHECKING:
    from hegemon.network.rules import InteractionRules

REQUEST, OFFER, STATE, ANSWER, BUSY = range(5)
NO_NONCE = bytes(NONCE_BYTES)
MOST_ASKED = 64  # requests that wait for an offer: bounds the cost of dead peers
OFFERS_PER_LIFE = 8  # offers and answers remembered for each requesting member, which has few requests open at a time
REQUESTS_PER_SECOND = 2000  # from one life; more is treated as a flood
COURSE = (
    *("requested", "completed", "responded", "refused", "refusing", "unreachable", "unanswered"),
    *("given_up", "skipped", "repeated"),
)
DROPS = (
    *("malformed", "other_version", "other_protocol", "other_key", "forged", "replayed", "reflected", "flood"),
    *("stale", "invalid", "failed"),
)


@dataclass
class Pending:
    """An exchange that this agent has begun."""

    exchange: bytes
    peer: Hashable
    kind: int  # REQUEST or STATE: what was sent last
    nonce: bytes = NO_NONCE
    tries: int = 1
    timer: Any = None


@dataclass
class Offer:
    nonce: bytes
    answer: int | None = None  # the initiator's new state, once the interaction has happened


class Agent:
    """Call `start`, feed it with `receive(datagram, address)`, and `stop` it."""

    def __init__(
        self,
        rules: "InteractionRules",
        wire: Wire,
        transport: Any,
        clock: Any,
        *,
        state: int,
        peers: Sequence[Hashable] = (),
        rate: float = 10.0,
        patience: float = 1.0,
        tries: int = 4,
        rng: random.Random | None = None,
        random_bytes: Callable[[int], bytes] = os.urandom,
        tell: Callable[[Event], None] = lambda event: None,
        wall: Callable[[], float] | None = None,
    ):
        self.rules, self.wire, self.transport, self.clock = rules, wire, transport, clock
        self.peers: list[Any] = list(peers)  # addresses in the transport's own form
        self.rate = rate
        self.interval, self.tries = patience / tries, tries
        self.rng = rng or random.Random(os.urandom(16))
        self.random_bytes = random_bytes
        self.counters: Counter[str] = Counter(dict.fromkeys(COURSE + DROPS, 0))
        self.terms = Terms(tell, self.rng, **({"wall": wall} if wall else {}))
        self.met: Callable[[Any, int, int], None] | None = None  # called after each interaction: peer, its state, ours
        self.ended: Callable[[bool], None] | None = None  # called when an exchange with a sent STATE has ended
        self._offers: OrderedDict[bytes, OrderedDict[bytes, Offer]] = OrderedDict()
        self._asked: dict[bytes, Pending] = {}  # requests without a reply yet
        self._promised: Pending | None = None  # the one exchange in which this agent has sent its state
        self._tick = None
        self.state = state

    # -- the state ----------------------------------------------------------------------------------------

    @property
    def state(self) -> int:
        """The agent's state, as its code."""
        return self._state

    @state.setter
    def state(self, code: int) -> None:
        self._state = code
        self.terms.follow(self.rules.is_leader(code))

    @property
    def is_promised(self) -> bool:
        """Whether the state was sent in an open exchange and must not change until its end."""
        return self._promised is not None

    # -- the Poisson clock ----------------------------------------------------------------------------------

    def start(self) -> None:
        self._tick = self.clock.call_later(self.rng.expovariate(self.rate), self._ring)

    def stop(self) -> None:
        if self._tick:
            self._tick.cancel()
        for pending in self.pending:
            self._forget(pending)

    def _ring(self) -> None:
        self.start()
        if self.is_promised or len(self._asked) >= MOST_ASKED:
            self.counters["skipped"] += 1
        elif self.peers:
            self.ask(self.rng.choice(self.peers))

    # -- as initiator ---------------------------------------------------------------------------------------

    @property
    def pending(self) -> list[Pending]:
        """The exchanges that this agent has begun and that are not over."""
        return [*self._asked.values(), *([self._promised] if self._promised else [])]

    def ask(self, peer: Hashable) -> None:
        """Begin an exchange."""
        self.counters["requested"] += 1
        pending = Pending(self.random_bytes(EXCHANGE_BYTES), peer, REQUEST)
        self._asked[pending.exchange] = pending
        self._send_pending(pending)

    def _send_pending(self, pending: Pending) -> None:
        state = self._state if pending.kind == STATE else 0
        pending.timer = self.clock.call_later(self.interval, self._time_out, pending)
        self._send(pending.peer, pending.kind, pending.exchange, pending.nonce, state)

    def _time_out(self, pending: Pending) -> None:
        if pending.tries < self.tries:
            pending.tries += 1
            self._send_pending(pending)
            return
        self.counters["unreachable" if pending.kind == REQUEST else "unanswered"] += 1
        self._forget(pending)
        if self.ended and pending.kind == STATE:
            self.ended(False)

    def _forget(self, pending: Pending) -> None:
        pending.timer.cancel()
        if pending is self._promised:
            self._promised = None
        else:
            del self._asked[pending.exchange]

    def _offered(self, letter: Letter, address: Any) -> None:
        pending = self._asked.get(letter.exchange)
        if pending is None:
            raise Dropped("stale")
        self._forget(pending)
        if self.is_promised:  # in another exchange, begun after this request
            self.counters["given_up"] += 1
            return
        pending.kind, pending.nonce, pending.tries = STATE, letter.nonce, 1
        self._promised = pending
        self._send_pending(pending)

    def _answered(self, letter: Letter, address: Any) -> None:
        pending = self._promised
        if pending is None or pending.exchange != letter.exchange or pending.nonce != letter.nonce:
            raise Dropped("stale")
        self._require_valid(letter.state)
        self._forget(pending)
        self.counters["completed"] += 1
        self.state = letter.state
        if self.ended:
            self.ended(True)

    def _refused(self, letter: Letter, address: Any) -> None:
        for pending in (self._asked.get(letter.exchange), self._promised):
            if pending is not None and (pending.exchange, pending.nonce) == (letter.exchange, letter.nonce):
                self.counters["refused"] += 1
                self._forget(pending)
                return
        raise Dropped("stale")

    # -- as responder ---------------------------------------------------------------------------------------

    def _requested(self, letter: Letter, address: Any) -> None:
        if not self.wire.allow(letter.life, self.clock.time(), REQUESTS_PER_SECOND):
            raise Dropped("flood")
        if self.is_promised:
            self._refuse(letter, address)
            return
        offers = self._offers.setdefault(letter.life, OrderedDict())
        self._offers.move_to_end(letter.life)
        if letter.exchange not in offers:
            offers[letter.exchange] = Offer(self.random_bytes(NONCE_BYTES))
            if len(offers) > OFFERS_PER_LIFE:
                offers.popitem(last=False)
            if len(self._offers) > self.wire.most_senders:
                self._offers.popitem(last=False)
        self._send(address, OFFER, letter.exchange, offers[letter.exchange].nonce)

    def _stated(self, letter: Letter, address: Any) -> None:
        offers = self._offers.get(letter.life) or OrderedDict[bytes, Offer]()
        offer = offers.get(letter.exchange)
        if offer is None or offer.nonce != letter.nonce:
            raise Dropped("stale")
        if offer.answer is not None:
            self.counters["repeated"] += 1
        elif self.is_promised:
            del offers[letter.exchange]  # a later copy of this STATE must not get an ANSWER after the refusal
            self._refuse(letter, address)
            return
        else:
            self._require_valid(letter.state)
            offer.answer = self._interact(letter.state, address)
        self._send(address, ANSWER, letter.exchange, letter.nonce, offer.answer)

    def _interact(self, other: int, address: Any) -> int:
        """Make the interaction in which the other agent is the initiator; returns the initiator's new state."""
        try:
            theirs, own = self.rules.interact(other, self._state)
        except Exception:
            raise Dropped("failed") from None  # the author's error must not end the member
        self.counters["responded"] += 1
        self.state = own
        if self.met:
            self.met(address, theirs, own)
        return theirs

    def _refuse(self, letter: Letter, address: Any) -> None:
        self.counters["refusing"] += 1
        self._send(address, BUSY, letter.exchange, letter.nonce)

    # -- datagrams ------------------------------------------------------------------------------------------

    def receive(self, datagram: bytes, address: Hashable) -> None:
        """Process a datagram, or drop and count it."""
        try:
            letter = self.wire.open(datagram, self.clock.time())
            if letter.kind >= len(_ACTIONS):
                raise Dropped("invalid")
            _ACTIONS[letter.kind](self, letter, address)
            self.terms.hear(letter.fence)
        except Dropped as dropped:
            self.counters[dropped.reason] += 1

    def _require_valid(self, code: int) -> None:
        if not 0 <= code < self.rules.size:
            raise Dropped("invalid")

    def _send(self, address: Any, kind: int, exchange: bytes, nonce: bytes = NO_NONCE, state: int = 0) -> None:
        self.transport.send(self.wire.seal(kind, exchange, nonce, state, self.terms.highest), address)


_ACTIONS = (Agent._requested, Agent._offered, Agent._stated, Agent._answered, Agent._refused)
