"""Questions about the graph of a chain: components, reachability, shortest ways."""

from functools import wraps

import numpy as np

from hegemon.compute.caching import kernel

UNSEEN = -1
LITTLE = 10_000  # transitions that Python has gone through before a kernel would be compiled


def graph_kernel(function):
    """Compiled for all but small graphs: the same code either way."""
    compiled = kernel(function)

    @wraps(function)
    def ask(offsets, targets, *given):
        return (function if len(targets) <= LITTLE else compiled)(offsets, targets, *given)

    return ask


@graph_kernel
def components(offsets, targets, active):
    """Strongly connected components of the active part (Tarjan 1972), as labels and as one ordering.

    Components are numbered in reverse topological order: every transition leads to its own component or to
    one with a smaller number. `order` lists the configurations component by component.
    """
    size = len(active)
    label = np.full(size, UNSEEN, np.int32)
    lowest, number = np.full(size, UNSEEN, np.int32), np.full(size, UNSEEN, np.int32)
    stack, path = np.empty(size, np.int32), np.empty(size, np.int32)
    cursor = offsets[:-1].copy()
    order = np.empty(size, np.int32)
    height, clock, found, listed = 0, 0, 0, 0
    for root in range(size):
        if not active[root] or number[root] != UNSEEN:
            continue
        depth = 0
        path[0] = root
        while depth >= 0:
            v = path[depth]
            if number[v] == UNSEEN:
                number[v] = lowest[v] = clock
                clock += 1
                stack[height] = v
                height += 1
            descended = False
            while cursor[v] < offsets[v + 1]:
                w = targets[cursor[v]]
                if active[w] and number[w] == UNSEEN:
                    depth += 1
                    path[depth] = w
                    descended = True
                    break
                if active[w] and label[w] == UNSEEN:
                    lowest[v] = min(lowest[v], lowest[w])
                cursor[v] += 1
            if descended:
                continue
            if lowest[v] == number[v]:
                while True:
                    height -= 1
                    w = stack[height]
                    label[w] = found
                    order[listed] = w
                    listed += 1
                    if w == v:
                        break
                found += 1
            depth -= 1
    return label, order[:listed], found


@graph_kernel
def is_bottom(offsets, targets, label, number):
    """Which components no transition leaves."""
    bottom = np.ones(number, np.bool_)
    for v in range(len(label)):
        if label[v] != UNSEEN:
            for k in range(offsets[v], offsets[v + 1]):
                if label[targets[k]] != label[v]:
                    bottom[label[v]] = False
    return bottom


@graph_kernel
def distances(offsets, targets, sources, active):
    """Breadth-first from all sources along active nodes: how far, and from where; -1 where never."""
    size = len(active)
    distance, parent = np.full(size, UNSEEN, np.int32), np.full(size, UNSEEN, np.int32)
    queue = np.empty(size, np.int32)
    length = 0
    for v in sources:
        if distance[v] == UNSEEN:
            distance[v] = 0
            queue[length] = v
            length += 1
    head = 0
    while head < length:
        v = queue[head]
        head += 1
        for k in range(offsets[v], offsets[v + 1]):
            w = targets[k]
            if active[w] and distance[w] == UNSEEN:
                distance[w] = distance[v] + 1
                parent[w] = v
                queue[length] = w
                length += 1
    return distance, parent


@graph_kernel
def leaves(offsets, targets, weights, inside):
    """For every configuration inside, the first entry of positive weight that leads outside; else -1."""
    first = np.full(len(inside), -1, np.int64)
    for v in range(len(inside)):
        if inside[v]:
            for k in range(offsets[v], offsets[v + 1]):
                if weights[k] > 0 and not inside[targets[k]]:
                    first[v] = k
                    break
    return first
