"""Colouring with degree + 1 colours: the range of a field depends on the degree of its node.

hegemon run examples/colouring.py --graph gnp:50,0.1
hegemon verify examples/colouring.py --graph star:4
"""

from hegemon import Parameter, Range, RoundsProtocol, whole


def is_proper(nodes, offsets, targets, p):
    for v in range(len(nodes)):
        for arc in range(offsets[v], offsets[v + 1]):
            if nodes[targets[arc]].colour == nodes[v].colour:
                return False
    return True


class Colouring(RoundsProtocol):
    """A node with a neighbour of its own colour takes, if its coin shows 1, the least colour that no neighbour has."""

    topology = "ring"
    neighbourhood = "multiset"  # the degree is how many they are
    random_bits = 1
    outputs = ()

    max_degree = Parameter("n - 1", low=1, high="n - 1", help="the largest degree of a node")

    class State:
        colour: Range(0, "degree")

    def update(me, neighbours, coins, p):
        clashes = 0
        for k in range(len(neighbours)):
            if neighbours[k].colour == me.colour:
                clashes += 1
        if clashes > 0 and coins == 1:
            for colour in range(len(neighbours), -1, -1):
                used = 0
                for k in range(len(neighbours)):
                    if neighbours[k].colour == colour:
                        used = 1
                if used == 0:
                    me.colour = colour

    safe = whole(is_proper).described("no two neighbours have one colour", closed=True)
