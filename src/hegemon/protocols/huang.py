"""Huang's election on uniform rings of prime size: deterministic, one node at a time."""

from hegemon.errors import InvalidInput
from hegemon.models import Assumption, Range, RoundsProtocol, whole


def is_spread(nodes, offsets, targets, p):
    """The values go round the ring in equal differences, and one node has 0: so all of them are different."""
    step = (nodes[0].x - nodes[len(nodes) - 1].x) % p.n
    zeros = 0
    for v in range(len(nodes)):
        if (nodes[v].x - nodes[v - 1].x) % p.n != step:
            return False
        zeros += nodes[v].x == 0
    return step != 0 and zeros == 1


class Huang(RoundsProtocol):
    """A node counts on until the values around the ring have equal differences; then all differ, and 0 leads."""

    reference = (
        "S.-T. Huang, Leader election in uniform rings, ACM Transactions on Programming Languages and Systems 15, "
        "1993; rules as in protocon (examplesoln/LeaderRingHuang.prot)"
    )
    grade = "exact"
    shelf = "rings"
    needs_graph = "oriented-ring"
    smallest_n = 3
    oriented = True
    daemon = "central"
    assumes = (Assumption("n is prime (or a ring in which everybody waits may have several leaders)"),)

    class State:
        x: Range(0, "n-1")

    def output(a, p):
        return a.x == 0

    def validate(self):
        divisors = [k for k in range(2, self.n) if self.n % k == 0]
        if divisors:
            raise InvalidInput(
                f"{self.id} assumes that n is prime, and {self.n} is divisible by {divisors[0]}; take a prime n"
            )

    def update(me, neighbours, coins, p):
        left, right = neighbours[0].x, neighbours[1].x
        if me.x == right or (left != me.x and (me.x - left) % p.n < (right - me.x) % p.n):
            me.x = (me.x + 1) % p.n

    safe = whole(is_spread).described("values in equal differences, one of them 0", closed=True)
