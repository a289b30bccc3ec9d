"""Quick elimination (QE): a lottery among leaders, the coin being who speaks first."""

from hegemon.models import Bit, Group, Parameter, PopulationProtocol, Range, count, everywhere, exactly, maximum


def is_leader(a, p):
    return a.leader == 1


def is_decided(a, p):
    """A follower, or a leader whose level is final."""
    return a.leader == 0 or a.done == 1


def level(a, p):
    return a.level


def flip_head(a, p):
    """The initiator's coin shows head."""
    if a.leader == 1 and a.done == 0:
        a.level = min(a.level + 1, 2 * p.m)


def flip_tail(b, p):
    """The responder's coin shows tail."""
    if b.leader == 1 and b.done == 0:
        b.done = 1


def compare_levels(a, b, p):
    """Once both are decided, the higher level wins and spreads; a leader that sees it yields."""
    if is_decided(a, p) and is_decided(b, p):
        if a.level < b.level:
            a.level = b.level
            a.leader = 0
        elif b.level < a.level:
            b.level = a.level
            b.leader = 0


class QuickElimination(PopulationProtocol):
    """Every leader counts heads until its first tail; the highest count spreads and defeats the rest."""

    reference = (
        "Sudo, Eguchi, Izumi, Masuzawa, DISC 2021, section 3.3 (QE; Algorithm 1 is missing from the text that was read)"
    )
    grade = "reconstructed"
    shelf = "toolbox"
    default_start = "all-leaders"

    m = Parameter("max(1, ceil(log2(n)))", low="log2(n)", help="known approximation of log2 n")

    class State:
        leader: Bit
        level: Range(0, "2*m")
        done: Bit

    def interact(a, b, p):
        flip_head(a, p)
        flip_tail(b, p)
        compare_levels(a, b, p)

    def start_all_leaders(self, rng):
        """Every agent is a leader that has not flipped yet, as in Lemma 5."""
        return [Group(self.n, {"leader": 1, "level": 0, "done": 0})]

    def start_no_leader(self, rng):
        """No leader: nothing to decide."""
        return [Group(self.n, {"leader": 0, "level": 0, "done": 0})]

    def start_safe(self, rng):
        """One decided leader, and every agent knows its level."""
        follower = {"leader": 0, "level": 1, "done": 1}
        return [Group(1, {**follower, "leader": 1}), Group(self.n - 1, follower)]

    safe = everywhere(is_decided).described("every leader has decided its level (Lemma 5)", closed=True)
    elected = (everywhere(is_decided) & exactly(1, is_leader)).described(
        "every level is decided and exactly one leader is left: not always reached", closed=True
    )

    leaders = count(is_leader, "agents that are leaders")
    undecided = count(lambda a, p: a.leader == 1 and a.done == 0, "leaders still flipping")
    highest_level = maximum(level, "the highest level of an agent")
