"""Population protocols of several tests."""

from hegemon.models import Bit, Choice, Group, PopulationProtocol, Range, exactly


def copies(a, b, p):
    a.x = b.x


def own(body, **members):
    class Own(PopulationProtocol):
        class State:
            x: Bit

        interact = body

    return type("Own", (Own,), {"interact": body, **members})


def conditional(**members):
    class Own(PopulationProtocol):
        class State:
            kind: Choice("idle", "busy")
            timer: Range(0, 500).when(kind="busy")

        def interact(a, b, p):
            if a.kind == "busy" and a.timer > 0:
                a.timer -= 1
            elif b.kind == "idle":
                b.kind = "busy"
                b.timer = 500

    return type("Own", (Own,), members)(n=4)


class Relay(PopulationProtocol):
    """One token is handed on: a one-sided interaction makes two of it, and they never become one again."""

    class State:
        token: Bit

    def interact(a, b, p):
        if a.token == 1 and b.token == 0:
            a.token, b.token = 0, 1

    def start_one(self, rng):
        return [Group(1, {"token": 1}), Group(self.n - 1, {"token": 0})]

    default_start = "one"
    two = exactly(2, lambda a, p: a.token == 1)
    three = exactly(3, lambda a, p: a.token == 1)
