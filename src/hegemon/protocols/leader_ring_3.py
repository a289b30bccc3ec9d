"""An election on rings of three or five nodes with six states, found by synthesis: one node acts at a time."""

from hegemon.models import Assumption, Bit, Range, RoundsProtocol, whole

KEEP = -1
# For the values l, x, r of left neighbour, node and right neighbour, at place 9 l + 3 x + r: the next x, and whether
# the node leads then. Where there is no rule, both are kept.
NEXT = (
    1, 2, KEEP, 1, 2, 2, 1, KEEP, 2,
    KEEP, 0, 0, 1, 0, 0, 2, 0, 0,
    KEEP, 0, 0, 2, 0, 0, 2, KEEP, 0,
)  # fmt: skip
LEADS = (
    0, 0, KEEP, 0, 0, 0, 0, KEEP, 0,
    KEEP, 1, 1, 0, 1, 1, 0, 1, 1,
    KEEP, 0, 1, 0, 0, 1, 0, KEEP, 1,
)  # fmt: skip


def place(left, me, right):
    return 9 * left.x + 3 * me.x + right.x


def is_done(nodes, offsets, targets, p):
    """No rule changes anything, and one node leads."""
    leaders = 0
    for v in range(len(nodes)):
        me = nodes[v]
        k = place(nodes[v - 1], me, nodes[(v + 1) % len(nodes)])
        if NEXT[k] != KEEP and (NEXT[k] != me.x or LEADS[k] != me.leader):
            return False
        leaders += me.leader
    return leaders == 1


class LeaderRing3(RoundsProtocol):
    """Three values and a bit: a table of rules leads to one leader on rings of three or five nodes."""

    id = "leader-ring-3"
    reference = (
        "A. Klinkhamer and A. Ebnenasir, protocon, a synthesizer of self-stabilizing protocols; rules as in "
        "examplesynt/LeaderRing.prot"
    )
    grade = "exact"
    shelf = "rings"
    needs_graph = "oriented-ring"
    smallest_n = 3
    oriented = True
    daemon = "central"
    assumes = (
        Assumption("n is 3 or 5 (4, 6, 7 and 8 nodes may end otherwise)", "n == 3 or n == 5", "take n = 3 or n = 5"),
    )

    class State:
        x: Range(0, 2)
        leader: Bit

    def update(me, neighbours, coins, p):
        k = place(neighbours[0], me, neighbours[1])
        if NEXT[k] != KEEP:
            me.x, me.leader = NEXT[k], LEADS[k]

    safe = whole(is_done).described("nothing can change, and one node leads", closed=True)
