"""The compiled rounds: which node is called when, and how messages get from port to port.

Every arc has two places for messages, one for even and one for odd rounds; a message carries its round, so that
nothing need be cleared. The nodes that are called at the end of a round are marked in bytes, and those in blocks of 64
and groups of 64 blocks, so that a round costs as much as its calls.
"""

from collections import namedtuple

import numpy as np

from hegemon.compute.border import ingredient
from hegemon.compute.intrinsics import require

# What `state` holds: messages are counted in the round in which they travel, and `AHEAD` are those of the next one.
ROUND, MESSAGES, BITS, LARGEST, AHEAD, AHEAD_BITS, AHEAD_LARGEST, WAITING, BEGUN, SENT, WOKEN, CALLS = range(12)
ENDED, GOES_ON, FULL = 0, 1, 2
MOST_CALLS = 64  # calls that a node may have requested at a time

# The arguments of one call of a node: parameters, the format of messages, coins, what it sends and requests, its inbox.
World = namedtuple(
    "World",
    "numbers reals layout rng ports rows count calls slots first degree round lowest highest heard",
)

bare = ingredient(_nrt=False)  # arrays are not reference-counted, which would take longer than a small call


@bare
def nonzero(divisor):
    """The divisor itself. Machine code divides by zero without an error."""
    require(divisor != 0)
    return divisor


@bare
def wake(w, round):
    """`node.wake_at(round)`."""
    k = w.count[1]
    require(k < len(w.calls))
    w.calls[k] = round
    w.count[1] = k + 1


@bare
def after(w, port):
    """The next port behind this one on which a message arrived, or -1."""
    if w.heard == 0 or port >= w.highest:
        return np.int64(-1)
    port = max(port + 1, w.lowest)
    while w.slots[w.first + port]._round != w.round:
        port += 1
    return port


@bare
def holds(w, port):
    """Whether a message arrived on this port."""
    return 0 <= port < w.degree and w.slots[w.first + port]._round == w.round


@bare
def mark(v, odd, n, flags, blocks, groups):
    """Mark node v, so that it is called."""
    flags[odd * n + v] = 1
    blocks[odd * (n // 64 + 1) + v // 64] = 1
    groups[odd * (n // 4096 + 1) + v // 4096] = 1


@bare
def push_call(heap, size, round, v):
    """Add a call to a heap whose first entry has the lowest round."""
    place = size
    while place > 0 and heap[0, (place - 1) // 2] > round:
        heap[0, place], heap[1, place] = heap[0, (place - 1) // 2], heap[1, (place - 1) // 2]
        place = (place - 1) // 2
    heap[0, place], heap[1, place] = round, v


@bare
def pop_call(heap, size):
    """Take the first entry out of a heap of this size; its node."""
    found, round, v = heap[1, 0], heap[0, size - 1], heap[1, size - 1]
    size -= 1
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and heap[0, child + 1] < heap[0, child]:
            child += 1
        if heap[0, child] >= round:
            break
        heap[0, place], heap[1, place] = heap[0, child], heap[1, child]
        place = child
    heap[0, place], heap[1, place] = round, v
    return found


@bare
def count(state, ahead, messages, bits, largest):
    """Count messages and bits in this round or, with `ahead`, in the next one."""
    state[ahead + MESSAGES] += messages
    state[ahead + BITS] += bits
    state[ahead + LARGEST] = max(state[ahead + LARGEST], largest)


def collect(v, node, sends, w, boxes, slots, marks, cross, targets, back, first, heap, allowed, state):
    """Send what node v has put down, in the round `sends`, and note the rounds in which it is to be called."""
    flags, blocks, groups = marks
    n, odd = len(flags) // 2, sends & 1
    fits(w, node)  # noqa: F821 - bound by part
    for k in range(w.count[0]):
        port = w.ports[k]
        require(0 <= port < node.degree)
        arc = first + port
        slot = odd * len(targets) + cross[arc]
        require(slots[slot]._round != sends)
        bits = deliver(w, k, slots, slot)  # noqa: F821
        require(bits <= allowed)
        slots[slot]._round = sends
        target = np.int64(targets[arc])
        box = odd * n + target
        there = np.int64(back[arc])
        if boxes[box].round != sends:
            boxes[box].round = sends
            boxes[box].heard = 1
            boxes[box].lowest = there
            boxes[box].highest = there
        else:
            boxes[box].heard += 1
            boxes[box].lowest = min(boxes[box].lowest, there)
            boxes[box].highest = max(boxes[box].highest, there)
        mark(target, odd, n, flags, blocks, groups)
        count(state, 3 if sends > state[ROUND] else 0, 1, bits, bits)
    if w.count[0] > 0:
        state[SENT] = sends
    for k in range(w.count[1]):
        call = w.calls[k]
        require(call >= sends)
        if call <= state[ROUND] + 1:
            mark(v, call & 1, n, flags, blocks, groups)
            state[WOKEN] = max(state[WOKEN], call)
        else:
            if state[WAITING] >= heap.shape[1]:
                return False
            push_call(heap, state[WAITING], call, v)
            state[WAITING] += 1
    w.count[0] = w.count[1] = 0
    state[CALLS] += 1
    return True


def play(nodes, boxes, slots, flags, blocks, groups, heap, state, rng, offsets, targets, cross, back, beginners,
         rounds, numbers, reals, layout, ports, rows, put, calls, allowed, limit, budget):  # fmt: skip
    """Play rounds until nothing is left to do, the next one is beyond the limit, or `budget` calls were made."""
    n = len(nodes)
    marks = flags, blocks, groups
    work = state[CALLS] + budget
    while True:
        round = state[ROUND] + 1
        if state[SENT] < round and state[WOKEN] < round:
            ahead = np.int64(-1)
            if state[BEGUN] < len(beginners):
                ahead = rounds[state[BEGUN]]
            if state[WAITING] > 0 and (ahead < 0 or heap[0, 0] < ahead):
                ahead = heap[0, 0]
            if ahead < 0:
                return ENDED
            round = ahead
        if round > limit or state[CALLS] >= work:
            return GOES_ON
        state[ROUND] = round
        odd = round & 1
        count(state, 0, state[AHEAD], state[AHEAD_BITS], state[AHEAD_LARGEST])
        state[AHEAD : AHEAD + 3] = 0
        while state[BEGUN] < len(beginners) and rounds[state[BEGUN]] == round:
            v = beginners[state[BEGUN]]
            state[BEGUN] += 1
            first = offsets[v]
            node = nodes[v]
            node.round = round
            w = World(numbers, reals, layout, rng, ports, rows, put, calls, slots, first, node.degree, round,
                      np.int64(0), np.int64(0), np.int64(0))  # fmt: skip
            begin(w, node)  # noqa: F821
            if not collect(  # noqa: F821
                v, node, round, w, boxes, slots, marks, cross, targets, back, first, heap, allowed, state
            ):
                return FULL
        while state[WAITING] > 0 and heap[0, 0] == round:
            mark(pop_call(heap, state[WAITING]), odd, n, flags, blocks, groups)
            state[WAITING] -= 1
        half = odd * len(targets)
        for group in range(n // 4096 + 1):
            if groups[odd * (n // 4096 + 1) + group] == 0:
                continue
            groups[odd * (n // 4096 + 1) + group] = 0
            for block in range(64 * group, min(64 * group + 64, n // 64 + 1)):
                if blocks[odd * (n // 64 + 1) + block] == 0:
                    continue
                blocks[odd * (n // 64 + 1) + block] = 0
                for v in range(64 * block, min(64 * block + 64, n)):
                    if flags[odd * n + v] == 0:
                        continue
                    flags[odd * n + v] = 0
                    first = offsets[v]
                    node = nodes[v]
                    node.round = round
                    box = boxes[odd * n + v]
                    w = World(numbers, reals, layout, rng, ports, rows, put, calls, slots, half + first, node.degree,
                              round, box.lowest, box.highest, box.heard if box.round == round else 0)  # fmt: skip
                    hear(w, node)  # noqa: F821
                    if not collect(  # noqa: F821
                        v, node, round + 1, w, boxes, slots, marks, cross, targets, back, first, heap, allowed, state
                    ):
                        return FULL
