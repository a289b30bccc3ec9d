"""Message protocols whose parameters decide what they do: all that engine `compiled` translates, in a few classes."""

from hegemon.models import ELECTED, NON_ELECTED, Bit, Choice, MessageProtocol, Parameter, Range

LIMIT = 1000  # of the values in messages
FAULTS = (
    "none",
    "domain",
    "message",
    "absent",
    "port",
    "twice",
    "past",
    "zero",
    "large",
    "often",
    "forgotten",
    "raise",
)


def folded(total, value, width):
    """A function of the module, which calls no other."""
    if value > total:
        return (3 * total + value) % width
    return abs(total - value) // 2


class Machine(MessageProtocol):
    """Nodes ask and tell each other numbers, drawn and calculated, for `last` rounds."""

    smallest_n = 1
    a = Parameter(7, low=1, high=1000)
    b = Parameter(3, low=0, high=50)
    c = Parameter(2, low=1, high=9)
    last = Parameter(6, low=1)
    share = Parameter(0.5, low=0, high=1, real=True)
    style = Parameter("kind", choices=("kind", "rude"))
    fault = Parameter("none", choices=FAULTS)

    class Message:
        kind: Choice("ASK", "TELL")
        value: Range(0, LIMIT - 1)
        extra: Range(1, 5).when(kind="TELL")

    class Node:
        status = NON_ELECTED
        mood: Choice("calm", "wild") = "calm"
        total: Range(0, "10^6") = 0
        seen: Bit = 0
        port: Range(-1, "n") = -1

    def begin(self, node, rng):
        node.total = rng.randrange(self.a)
        node.status = None
        if rng.random() < self.share:
            node.mood = "wild"
            node.wake_at(node.round + rng.randint(0, self.b))
        return {
            port: self.message(kind="ASK", value=(node.total + port) % LIMIT)
            for port in range(node.degree)
            if (port + node.total) % self.c == 0
        }

    def round(self, node, inbox, rng):
        """What it hears changes the node; what it sends depends on both."""
        if node.round == self.last and self.fault != "none":
            return self.fail(node, inbox, rng)
        sent = []
        asked = [message.value for message in inbox.values() if message.kind == "ASK"]
        for port, message in inbox.items():
            if message.kind == "TELL":
                node.total = folded(node.total, message.extra * message.value + port, 10**5)
                continue
            sent.append((port, self.tell(node, message, rng)))
            if self.style == "rude" and message.value % 3 == 1:
                break
        node.seen = node.seen or (node.status is None and len(inbox) > 1)
        if asked and max(asked) > sum(asked) - len(asked):
            node.mood = "calm" if node.mood == "wild" else "wild"
        if node.round >= self.last:
            best = max([node.total, *(m.value for m in inbox.values())], default=0)
            node.status = (
                ELECTED if best == node.total and any(m.kind != "ASK" for m in inbox.values()) else NON_ELECTED
            )
            return None
        if not inbox and node.port in (-1, 0):
            return self.shout(node)
        if node.mood == "wild" and 0 in inbox:
            node.port = inbox[0].value % node.degree
            node.wake_at(node.round + 1 + self.b // 2)
            return {node.port: self.message(kind="ASK", value=node.total % LIMIT)}
        if rng.getrandbits(3) == 0:
            sent = []
        return sent

    def tell(self, node, message, rng):
        value = -(-(node.total + message.value) // 2) % LIMIT
        return self.message(kind="TELL", value=value, extra=1 + rng.randint(0, min(self.a, 4)))

    def shout(self, node):
        node.port = node.degree - 1
        return dict.fromkeys(range(0, node.degree, 2), self.message(kind="ASK", value=node.round % LIMIT))

    def fail(self, node, inbox, rng):
        tell = self.message(kind="TELL", value=1, extra=2)
        if self.fault == "domain":
            node.total = -1
        elif self.fault == "message":
            return {0: self.message(kind="ASK", value=LIMIT + rng.randrange(3))}
        elif self.fault == "absent":
            for message in inbox.values():
                node.total = 1 if message.extra == 3 else 2
        elif self.fault == "port":
            return [(node.degree, tell)]
        elif self.fault == "twice":
            return [(0, tell), (0, tell)]
        elif self.fault == "past":
            node.wake_at(node.round)
        elif self.fault == "zero":
            node.total = node.round // (node.round - self.last)
        elif self.fault == "large":
            node.total = (2**40 * (2**40 + node.total)) % 7
        elif self.fault == "often":
            for k in range(100):
                node.wake_at(node.round + 1 + k)
        elif self.fault == "forgotten":
            return {0: self.message(kind="TELL", value=1)}
        elif self.fault == "raise":
            raise KeyError(node.round)
        return {}

    def measure(self, nodes):
        return {"totals": [(node.total, node.mood, node.seen, node.port, node.round) for node in nodes]}


class Numbered(MessageProtocol):
    """Identifiers, messages that are passed on, and nodes that wait far ahead."""

    smallest_n = 2
    has_identifiers = True
    far = Parameter(9, low=1)

    class Message:
        id: Range(1, "n")
        hops: Range(0, "n")

    class Node:
        best: Range(0, "n") = 0
        heard: Range(0, "100*n") = 0

    def begin(self, node, rng):
        node.best = node.identifier
        node.wake_at(self.far * node.identifier)
        node.wake_at(self.far * (node.identifier // 2 + 1) + node.round)
        return [(port, self.message(id=node.best, hops=0)) for port in range(node.degree)]

    def round(self, node, inbox, rng):
        answers = {}
        for port, message in inbox.items():
            node.heard += 1
            if message.id <= node.best:
                continue
            node.best = message.id
            answers = {}
            for other in range(node.degree):
                if other != port:
                    answers[other] = message if message.hops == self.n else self.onward(message)
        if not inbox:
            node.status = ELECTED if node.best == node.identifier else NON_ELECTED
        return answers

    def onward(self, message):
        return self.message(id=message.id, hops=message.hops + 1)
