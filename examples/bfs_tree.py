"""A breadth-first tree by parent pointers: nodes number their neighbours, and ranges of fields depend on the degree.

hegemon run examples/bfs_tree.py --graph grid:5x8      # one node is the root; from any states
hegemon verify examples/bfs_tree.py --graph path:3
"""

from hegemon import Bit, Parameter, Range, RoundsProtocol, whole


def is_tree(nodes, offsets, targets, p):
    """Every node but the root is one farther than its parent, nobody is nearer, and children are counted."""
    for v in range(len(nodes)):
        children = 0
        for arc in range(offsets[v], offsets[v + 1]):
            u = targets[arc]
            if nodes[u].parent >= 0 and targets[offsets[u] + nodes[u].parent] == v:
                children += 1
            if nodes[v].root == 0 and nodes[u].distance < nodes[v].distance - 1:
                return False
        if children != nodes[v].children:
            return False
        if nodes[v].root == 1:
            if nodes[v].distance != 0 or nodes[v].parent != -1:
                return False
        elif nodes[v].parent == -1 or nodes[targets[offsets[v] + nodes[v].parent]].distance != nodes[v].distance - 1:
            return False
    return True


class BfsTree(RoundsProtocol):
    """A node points at its first neighbour of least distance, is one farther, and counts who points at it."""

    topology = "path"
    neighbourhood = "ports"  # neighbours[k] is on port k, and neighbours[k].back is the port there that leads back
    inputs = {"root": 1}
    outputs = ()

    max_degree = Parameter("n - 1", low=1, high="n - 1", help="the largest degree of a node")

    class State:
        root: Bit
        distance: Range(0, "n - 1")
        parent: Range(-1, "degree - 1")
        children: Range(0, "degree")

    def update(me, neighbours, coins, p):
        me.parent, me.children = -1, 0
        least = p.n
        for k in range(len(neighbours)):
            if neighbours[k].parent == neighbours[k].back:
                me.children += 1
            if me.root == 0 and neighbours[k].distance < least:
                least = neighbours[k].distance
                me.parent = k
        me.distance = min(least + 1, p.n - 1) if me.root == 0 else 0

    safe = whole(is_tree).described("a breadth-first tree", closed=True)
