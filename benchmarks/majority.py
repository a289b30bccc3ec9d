"""Approximate majority: the work on which simulators of complete graphs are compared."""

from hegemon.models import Choice, Group, PopulationProtocol, count, everywhere

A, B, U = range(3)


def is_first(a, p):
    return a.opinion == A


class ApproximateMajority(PopulationProtocol):
    """Two opinions that meet cancel out; who has none takes the other's."""

    reference = (
        "D. Angluin, J. Aspnes, D. Eisenstat, A simple population protocol for fast robust approximate majority, "
        "Distributed Computing 21, 2008"
    )
    default_start = "close"

    class State:
        opinion: Choice("A", "B", "U")

    def interact(a, b, p):
        if a.opinion == U:
            a.opinion = b.opinion
        elif b.opinion == U:
            b.opinion = a.opinion
        elif a.opinion != b.opinion:
            a.opinion = b.opinion = U

    def start_close(self, rng):
        """51 of 100 begin with A, all others with B."""
        return [Group(self.n * 51 // 100, {"opinion": "A"}), Group(self.n - self.n * 51 // 100, {"opinion": "B"})]

    safe = everywhere(is_first).described("all agree on A", closed=True)

    first = count(is_first, "agents with opinion A")
