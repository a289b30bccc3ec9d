"""The legitimate configurations of Informative Trains (Definition 4.1), and which clause keeps one outside.

Around the leader v*, layer 2i is {v.L : d(v, v*) = i} and layer 2i+1 is {v.F : d(v, v*) = i}. Plain Python
that is also compiled: `nodes` is any indexable of states, and `offsets`, `targets` are the graph in rows.
"""

import numpy as np

EMPTY, WAGON = 0, 1  # a station
LEGITIMATE, LEADERS, NO_WAGON, NOT_SINGLETON, INDEX, FLAG, VALUE = range(7)


def breadth_first(root, offsets, targets):
    """All nodes in the order of their distance from the root, and the distance of each."""
    n = len(offsets) - 1
    order = np.empty(n, np.int64)
    distance = np.full(n, -1)
    order[0] = root
    distance[root] = 0
    seen = 1
    for place in range(n):
        v = order[place]
        for arc in range(offsets[v], offsets[v + 1]):
            u = targets[arc]
            if distance[u] < 0:
                distance[u] = distance[v] + 1
                order[seen] = u
                seen += 1
    return order, distance


def station(a, layer):
    """The wagon that a node has in a layer: idx (-1 if the station is empty), bit, carry, flag."""
    if layer % 2 == 0:
        if a.L == EMPTY:
            return -1, 0, 0, 0
        return int(a.L_idx), int(a.L_bit), int(a.L_carry), int(a.L_flag)
    if a.F == EMPTY:
        return -1, 0, 0, 0
    return int(a.F_idx), int(a.F_bit), int(a.F_carry), int(a.F_flag)


def first_flaw(nodes, offsets, targets, p):
    """(what is wrong, at which node, in which layer): LEGITIMATE if nothing is."""
    n = len(nodes)
    leaders = 0
    root = -1
    for v in range(n):
        if nodes[v].leader == 1:
            leaders += 1
            root = v
    if leaders != 1:  # clause (a)
        return LEADERS, leaders, 0
    order, distance = breadth_first(root, offsets, targets)
    begin = 0
    last_idx, last_flag, value = -1, 0, 0  # of the layer before
    while begin < n:
        depth = distance[order[begin]]
        end = begin + 1
        while end < n and distance[order[end]] == depth:
            end += 1
        for layer in range(2 * depth, 2 * depth + 2):
            first = order[begin]
            idx, bit, carry, flag = station(nodes[first], layer)
            if idx < 0:
                return NO_WAGON, first, layer
            for place in range(begin + 1, end):  # clause (b): one wagon per layer ...
                if station(nodes[order[place]], layer) != (idx, bit, carry, flag):
                    return NOT_SINGLETON, order[place], layer
            if layer > 0 and (idx + 1) % p.N != last_idx:  # ... and the indices line up
                return INDEX, first, layer
            if layer == 0 or idx == p.N - 1:  # clause (c): partial trains, with the value of their age
                value = bit + 2 * carry
            else:
                if flag != last_flag:
                    return FLAG, first, layer
                value = bit + 2 * carry + 2 * value
            if value != layer >> idx:
                return VALUE, first, layer
            last_idx, last_flag = idx, flag
        begin = end
    return LEGITIMATE, -1, -1


def is_legitimate(nodes, offsets, targets, p):
    return first_flaw(nodes, offsets, targets, p)[0] == LEGITIMATE


def why_not(nodes, offsets, targets, p) -> str:
    """The clause of Definition 4.1 that fails first, going outwards from the leader, and where."""
    flaw, node, layer = (int(number) for number in first_flaw(nodes, offsets, targets, p))
    if flaw == LEGITIMATE:
        return "in Γ_L"
    if flaw == LEADERS:
        return f"clause (a): there are {node} leaders instead of one"
    where = f"at node {node}, station {'LF'[layer % 2]}, layer {layer}"
    return {
        NO_WAGON: f"clause (b): there is no wagon {where}",
        NOT_SINGLETON: f"clause (b): the wagon differs from the others of its layer {where}",
        INDEX: f"clause (b): the index does not line up with the layer before {where}",
        FLAG: f"clause (c): the flag is not that of the wagon behind it {where}",
        VALUE: f"clause (c): the train does not have the value ⌊{layer}/2^idx⌋ {where}",
    }[flaw]
