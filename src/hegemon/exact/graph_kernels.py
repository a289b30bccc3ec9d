"""Questions about the graph of a chain: components, reachability, shortest ways."""

from functools import wraps

import numpy as np

from hegemon.compute.caching import kernel

UNSEEN = -1
LITTLE = 10_000  # transitions: up to here plain Python takes less time than compiling a kernel


def graph_kernel(function):
    """The decorator of functions that are compiled for large graphs, and run as plain Python on small ones."""
    compiled = kernel(function)

    @wraps(function)
    def run(offsets, targets, *arguments):
        return (function if len(targets) <= LITTLE else compiled)(offsets, targets, *arguments)

    return run


@graph_kernel
def components(offsets, targets, active, weights=None):
    """Strongly connected components of the active part (Pearce 2016), as labels and as one ordering.

    Components are numbered in reverse topological order: every transition leads to its own component or to
    one with a smaller number. `order` lists the configurations component by component, and in each those that are
    left first, so that a sweep in this order mostly visits successors before predecessors. With `weights`, a
    transition of weight 0 is none. One array holds numbers and labels: configurations in progress have the numbers
    1, 2, …, finished ones size, size - 1, …; another array is order (from its beginning) and stack (from its end).
    """
    size = len(active)
    label, order = np.zeros(size, np.int32), np.empty(size, np.int32)
    path, cursor, is_root = np.empty(size, np.int32), np.empty(size, offsets.dtype), np.empty(size, np.bool_)
    top, clock, finished, listed = size, 1, 0, 0
    for begin in range(size):
        if not active[begin] or label[begin] != 0:
            continue
        depth = 0
        path[0] = begin
        cursor[0], is_root[0] = offsets[begin], True
        label[begin] = clock
        clock += 1
        while depth >= 0:
            v = path[depth]
            last, descended = offsets[v + 1], False
            while cursor[depth] < last:
                k = cursor[depth]
                w = targets[k]
                if active[w] and (weights is None or weights[k] != 0):
                    if label[w] == 0:
                        depth += 1
                        path[depth] = w
                        cursor[depth], is_root[depth] = offsets[w], True
                        label[w] = clock
                        clock += 1
                        descended = True
                        break
                    if label[w] < label[v]:
                        label[v] = label[w]
                        is_root[depth] = False
                cursor[depth] += 1
            if descended:
                continue
            if is_root[depth]:
                last = top
                while last < size and label[order[last]] >= label[v]:
                    last += 1
                for k in range((last - top) // 2):  # reverses the stack: what was left first lies deepest
                    order[top + k], order[last - 1 - k] = order[last - 1 - k], order[top + k]
                for k in range(top, last):
                    label[order[k]] = size - finished
                    order[listed] = order[k]
                    listed += 1
                clock -= last - top + 1
                top = last
                order[listed] = v
                listed += 1
                label[v] = size - finished
                finished += 1
            else:
                top -= 1
                order[top] = v
            depth -= 1
    for v in range(size):
        label[v] = size - label[v] if label[v] != 0 else UNSEEN
    return label, order[:listed], finished


@graph_kernel
def prospects(offsets, targets, weights, denominator, label, order):
    """From which labelled configurations the labelled part can be left at all, and from which it surely is.

    It is left where the weights of a row that stay in it add up to less than the denominator. `label` and `order` are
    those of its components: the successors of a component are evaluated before it.
    """
    able, sure = np.zeros(len(label), np.bool_), np.zeros(len(label), np.bool_)
    begin = 0
    while begin < len(order):
        own, end = label[order[begin]], begin
        can, must = False, True
        while end < len(order) and label[order[end]] == own:
            v, left = order[end], denominator
            for k in range(offsets[v], offsets[v + 1]):
                w = targets[k]
                if weights[k] != 0 and label[w] != UNSEEN:
                    left -= weights[k]
                    if label[w] != own:
                        can, must = can or able[w], must and sure[w]
            can = can or left > 0
            end += 1
        for k in range(begin, end):
            able[order[k]], sure[order[k]] = can, can and must
        begin = end
    return able, sure


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
def distances(offsets, targets, sources, active, weights=None):
    """Breadth-first from all sources along active nodes: how far, and from where; -1 where never.

    With `weights`, a transition of weight 0 is none.
    """
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
            if active[w] and distance[w] == UNSEEN and (weights is None or weights[k] != 0):
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
