"""Dijkstra's K-state ring, the first self-stabilizing system: one privilege remains and goes round."""

import numpy as np

from hegemon.models import Assumption, Bit, Parameter, PopulationProtocol, Range, whole


def is_privileged(l, r, p):  # noqa: E741 - l is the left neighbour of r
    """The special machine moves if its neighbour has its number, the others if it has another one."""
    return (l.x == r.x) == (r.special == 1)


def count_privileges(agents, p):
    number = 0
    for i in range(len(agents)):
        if is_privileged(agents[i - 1], agents[i], p):
            number += 1
    return number


def one_privilege(agents, p):
    return count_privileges(agents, p) == 1


class Dijkstra(PopulationProtocol):
    """The special agent counts on when it sees its own number, the others copy; one privilege goes round."""

    reference = (
        "E. W. Dijkstra, Self-stabilizing systems in spite of distributed control, Communications of the ACM 17, 1974"
    )
    grade = "exact"
    shelf = "rings"
    needs_graph = "directed-ring"
    smallest_n = 3
    inputs = {"special": 1}
    outputs = ()  # it circulates a privilege: who holds it does not follow from one agent's state
    assumes = (Assumption("K >= n - 1 (or several privileges may go round forever)", "K >= n - 1", "take K = n"),)

    K = Parameter("n", low=2, help="how many numbers there are")  # noqa: N815

    class State:
        special: Bit
        x: Range(0, "K-1")

    def interact(l, r, p):  # noqa: E741
        if is_privileged(l, r, p):
            if r.special == 1:
                r.x = (r.x + 1) % p.K
            else:
                r.x = l.x

    def start_all_equal(self, rng):
        """Every agent has the number 0: the special one is privileged."""
        agents = np.zeros(self.n, self.space.dtype)
        agents["special"][0] = 1
        return agents

    def start_descending(self, rng):
        """Numbers fall along the ring: everybody is privileged but the special one."""
        agents = self.start_all_equal(rng)
        agents["x"] = np.arange(self.n)[::-1] % self.K
        return agents

    safe = whole(one_privilege).described("exactly one privilege", closed=True)
