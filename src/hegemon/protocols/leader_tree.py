"""Election on trees by pointers: silent, deterministic, one node at a time."""

from hegemon.errors import InvalidInput
from hegemon.models import Assumption, Parameter, Range, RoundsProtocol, count, whole


def is_rooted(nodes, offsets, targets, p):
    """One node points at nobody, and no two point at each other: then every edge has one pointer, towards the root."""
    roots = 0
    for v in range(len(nodes)):
        if nodes[v].parent == -1:
            roots += 1
        else:
            u = targets[offsets[v] + nodes[v].parent]
            if nodes[u].parent != -1 and targets[offsets[u] + nodes[u].parent] == v:
                return False
    return roots == 1


def is_root(a, p):
    return a.parent == -1


class LeaderTree(RoundsProtocol):
    """A node at which all neighbours but one point points at that one, any other at nobody; one root remains."""

    reference = (
        "A. P. Klinkhamer, A. Ebnenasir, protocon (github.com/ProtocolConvergence/protocon), "
        "examplesoln/LeaderTree.prot, written there for nodes of degree 1 to 3"
    )
    grade = "exact"
    shelf = "any graph"
    topology = "path"
    neighbourhood = "ports"
    daemon = "central"
    assumes = (Assumption("the graph is a tree"),)

    max_degree = Parameter("n - 1", low=1, high="n - 1", help="the largest degree of a node")

    class State:
        parent: Range(-1, "degree - 1")  # the port of the neighbour that the node points at; -1 for nobody

    def output(a, p):
        return a.parent == -1

    def check_topology(self, topology):
        super().check_topology(topology)
        if topology.arcs != 2 * (topology.n - 1):
            raise InvalidInput(
                f"{self.id} runs on trees, and {topology.name} has a cycle; use for instance path:{self.n}"
            )

    def update(me, neighbours, coins, p):
        others, chosen = 0, -1
        for k in range(len(neighbours)):
            if neighbours[k].parent != neighbours[k].back:
                others += 1
                chosen = k
        me.parent = chosen if others == 1 else -1

    safe = whole(is_rooted).described("every pointer leads to the one root", closed=True)

    roots = count(is_root, "nodes that point at nobody")
