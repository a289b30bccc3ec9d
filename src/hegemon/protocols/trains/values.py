"""The trains present in a configuration (Definition 4.4) and their values (Definition 3.4), in time O(arcs).

A complete train is wagons 0..N-1 with one flag in stations that follow one another: behind v.F comes v.L,
behind v.L comes u.F for a neighbour u. Stations are numbered 2v for v.L and 2v + 1 for v.F. Since a wagon may
have several correct wagons behind it, one head may belong to many trains; their smallest and largest values
come from the wagons behind by  Value(B_i ...) = bit + 2 carry + 2 Value(B_i+1 ...).
"""

import numpy as np

from hegemon.protocols.trains.legitimate import station

EITHER = -1


def extreme_values(nodes, offsets, targets, flag, sign, p):
    """For every station the smallest (sign = 1) or largest (sign = -1) value of the partial train from its
    wagon back to wagon N-1, among trains with this flag; -1 where there is none."""
    n = len(nodes)
    value = np.full(2 * n, -1)
    for idx in range(p.N - 1, -1, -1):
        for s in range(2 * n):
            v = s // 2
            at, bit, carry, marked = station(nodes[v], s % 2)
            if at != idx or (flag != EITHER and marked != flag):
                continue
            best = -1
            if idx == p.N - 1:
                best = 0
            elif s % 2 == 1:
                behind, _, _, same = station(nodes[v], 0)
                if behind == idx + 1 and same == marked:
                    best = value[s - 1]
            else:
                for arc in range(offsets[v], offsets[v + 1]):
                    u = targets[arc]
                    behind, _, _, same = station(nodes[u], 1)
                    rest = value[2 * u + 1]
                    if behind == idx + 1 and same == marked and rest >= 0 and (best < 0 or sign * rest < sign * best):
                        best = rest
            if best >= 0:
                value[s] = bit + 2 * carry + 2 * best
    return value


def extreme_value(nodes, offsets, targets, flag, sign, p):
    """The smallest or largest Value of a complete train with this flag, -1 if there is none."""
    value = extreme_values(nodes, offsets, targets, flag, sign, p)
    best = -1
    for s in range(len(value)):
        if value[s] >= 0 and station(nodes[s // 2], s % 2)[0] == 0 and (best < 0 or sign * value[s] < sign * best):
            best = value[s]
    return best


def smallest_value(nodes, offsets, targets, p):
    return extreme_value(nodes, offsets, targets, EITHER, 1, p)


def largest_value(nodes, offsets, targets, p):
    return extreme_value(nodes, offsets, targets, EITHER, -1, p)


def train_heads(nodes, offsets, targets, p):
    """How many stations hold the first wagon of a complete train."""
    value = extreme_values(nodes, offsets, targets, EITHER, 1, p)
    heads = 0
    for s in range(len(value)):
        if value[s] >= 0 and station(nodes[s // 2], s % 2)[0] == 0:
            heads += 1
    return heads


def marked_wagons(nodes, offsets, targets, p):
    number = 0
    for v in range(len(nodes)):
        for layer in range(2):
            idx, _, _, flag = station(nodes[v], layer)
            if idx >= 0 and flag == 1:
                number += 1
    return number
