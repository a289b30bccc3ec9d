"""Population protocols of several tests."""

from hegemon.models import Bit, Group, PopulationProtocol, exactly


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
