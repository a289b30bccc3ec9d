"""Are at least k agents marked? A predicate by accumulation, then by epidemic."""

from hegemon.models import Group, Parameter, PopulationProtocol, Range, count, everywhere, maximum


def says_yes(a, p):
    return a.x == p.k


def is_right(a, p):
    return (a.x == p.k) == (p.marked >= p.k)


def collected(a, p):
    return a.x


class Threshold(PopulationProtocol):
    """Decides whether at least k agents are marked: marks are added up, and k spreads to everyone."""

    reference = (
        "Y. Sudo, Leader Election in Population Protocol Model (survey, in Japanese), section 2; "
        "D. Angluin et al., Distributed Computing 18, 2006"
    )
    grade = "exact"
    shelf = "survey"
    outputs = ("No", "Yes")
    arbitrary_start = False
    default_start = "inputs"
    input_parameter = "marked"

    k = Parameter(10, low=2, help="the threshold")
    marked = Parameter("min(k, n)", low=0, high="n", help="how many agents start with input 1")

    class State:
        x: Range(0, "k")

    def interact(a, b, p):
        if a.x + b.x < p.k:
            a.x, b.x = a.x + b.x, 0
        else:
            a.x, b.x = p.k, p.k

    def output(a, p):
        return a.x == p.k

    def start_inputs(self, rng):
        """`marked` agents have input 1, the others 0."""
        return [Group(self.marked, {"x": 1}), Group(self.n - self.marked, {"x": 0})]

    safe = everywhere(is_right).described("every agent gives the right answer for `marked`", closed=True)

    yes = count(says_yes, "agents that answer Yes")
    largest = maximum(collected, "the most that one agent has collected")
