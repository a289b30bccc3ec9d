"""Which of two opinions is more common? The three states that are nearly always right, and the four that always are."""

from hegemon.models import Choice, Group, Parameter, PopulationProtocol, count, everywhere


class ApproximateMajority(PopulationProtocol):
    """An agent that meets the other opinion goes blank, a blank one takes the opinion it meets; one opinion remains."""

    reference = (
        "D. Angluin, J. Aspnes, D. Eisenstat, A simple population protocol for fast robust approximate majority, "
        "Distributed Computing 21, 2008"
    )
    grade = "exact"
    shelf = "complete graphs"
    outputs = ("Y or blank", "X")
    arbitrary_start = False
    default_start = "votes"
    input_parameter = "votes"

    votes = Parameter("n//2 + 1", low=0, high="n", help="how many agents start with opinion X")

    class State:
        opinion: Choice("X", "Y", "BLANK")

    def interact(a, b, p):  # the initiator persuades the responder
        if a.opinion != "BLANK" and b.opinion == "BLANK":
            b.opinion = a.opinion
        elif a.opinion != "BLANK" and b.opinion != a.opinion:
            b.opinion = "BLANK"

    def output(a, p):
        return a.opinion == "X"

    def start_votes(self, rng):
        """`votes` agents are for X, the others for Y."""
        return [Group(self.votes, {"opinion": "X"}), Group(self.n - self.votes, {"opinion": "Y"})]

    all_X = everywhere(lambda a, p: a.opinion == "X").described("everybody is for X", closed=True)  # noqa: N815
    all_Y = everywhere(lambda a, p: a.opinion == "Y").described("everybody is for Y", closed=True)  # noqa: N815
    safe = everywhere(lambda a, p: a.opinion == ("X" if 2 * p.votes > p.n else "Y")).described(
        "everybody has the opinion of the majority (Y on a tie); not certain, only very likely", closed=True
    )

    for_X = count(lambda a, p: a.opinion == "X", "agents for X")  # noqa: N815
    for_Y = count(lambda a, p: a.opinion == "Y", "agents for Y")  # noqa: N815
    blank = count(lambda a, p: a.opinion == "BLANK", "agents without an opinion")


def is_for_x(a, p):
    return a.opinion == "STRONG_X" or a.opinion == "WEAK_X"


def is_right(a, p):
    """On a tie no answer is wrong."""
    return 2 * p.votes == p.n or is_for_x(a, p) == (2 * p.votes > p.n)


class ExactMajority(PopulationProtocol):
    """Two strong opinions cancel and become weak; a strong opinion persuades weak ones; always right."""

    reference = (
        "M. Draief, M. Vojnović, Convergence speed of binary interval consensus, SIAM Journal on Control and "
        "Optimization 50, 2012; G. Mertzios et al., Determining majority in networks with local interactions, "
        "ICALP 2014"
    )
    grade = "exact"
    shelf = "complete graphs"
    outputs = ("Y", "X")
    arbitrary_start = False
    default_start = "votes"
    input_parameter = "votes"

    votes = Parameter("n//2 + 1", low=0, high="n", help="how many agents start with opinion X")

    class State:
        opinion: Choice("STRONG_X", "STRONG_Y", "WEAK_X", "WEAK_Y")

    def interact(a, b, p):
        persuade(a, b)
        persuade(b, a)
        if a.opinion == "STRONG_X" and b.opinion == "STRONG_Y":
            a.opinion, b.opinion = "WEAK_X", "WEAK_Y"
        elif a.opinion == "STRONG_Y" and b.opinion == "STRONG_X":
            a.opinion, b.opinion = "WEAK_Y", "WEAK_X"

    def output(a, p):
        return a.opinion == "STRONG_X" or a.opinion == "WEAK_X"

    def start_votes(self, rng):
        """`votes` agents are strongly for X, the others for Y."""
        return [Group(self.votes, {"opinion": "STRONG_X"}), Group(self.n - self.votes, {"opinion": "STRONG_Y"})]

    safe = everywhere(is_right).described("every agent gives the right answer; on a tie every answer is right")

    strong = count(lambda a, p: a.opinion == "STRONG_X" or a.opinion == "STRONG_Y", "agents with a strong opinion")
    for_X = count(is_for_x, "agents that answer X")  # noqa: N815


def persuade(a, b):
    if a.opinion == "STRONG_X" and b.opinion == "WEAK_Y":
        b.opinion = "WEAK_X"
    elif a.opinion == "STRONG_Y" and b.opinion == "WEAK_X":
        b.opinion = "WEAK_Y"
