"""The largest value spreads to everyone."""

from hegemon.models import Group, Parameter, PopulationProtocol, Range, count, everywhere


def has_largest(a, p):
    return a.x == p.top


class Epidemic(PopulationProtocol):
    """Both agents take the larger of their two values."""

    reference = "Sudo, Eguchi, Izumi, Masuzawa, DISC 2021, section 3.1 (P_EP, Lemma 2); Angluin et al. 2008"
    grade = "exact"
    shelf = "toolbox"
    default_start = "one-source"

    top = Parameter(1, low=1, help="the largest value")

    class State:
        x: Range(0, "top")

    def interact(a, b, p):
        a.x = b.x = max(a.x, b.x)

    def start_one_source(self, rng):
        """One agent has the largest value, the others 0."""
        return [Group(1, {"x": self.top}), Group(self.n - 1, {"x": 0})]

    def start_random(self, rng):
        """One agent has the largest value, the others are uniform over all values."""
        return [Group(1, {"x": self.top}), Group(self.n - 1, {}, random=True)]

    safe = everywhere(has_largest).described("every agent has the largest value", closed=True)

    informed = count(has_largest, "agents that have the largest value")
