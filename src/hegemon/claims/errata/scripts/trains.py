"""Blin, Gay, Ziccardi, Informative Trains (arXiv:2602.17541): four errata, shown with the paper's rules.
Needs Python alone.

    python trains.py [trains.lemma4.3 | trains.lemma4.5 | trains.last-carry | trains.local-errors]

A wagon is (idx, bit, carry, flag), or None for an empty station; a node is (leader, rand, F, L). N = 5.
"""

import sys

N = 5


def add(wagon, following):
    """Definition 3.6: the wagon that moves on; an empty station has no carry."""
    total = following[1] + (1 if following[0] == 0 else (wagon[2] if wagon else 0))
    return (following[0], total % 2, total // 2, following[3])


def after(node, near, x):
    """Definition 3.13 for a node with these neighbours, if X = x."""
    leader, rand, F, L = node
    shown = [u[2] for u in near if u[2]]
    head = any(B[3] == 1 and B[0] == 0 for B in shown)
    expects = head or (L is not None and L[3] == 1 and L[0] != N - 1)  # SuccIsMarked(v)
    wanted = None if L is None else 0 if expects and L[3] == 0 else (L[0] + 1) % N
    bits = [B[1] for B in shown if B[3] == expects and B[0] == wanted]  # of Succ
    local = L is None or any(B and B[0] == N - 1 and B[2] for B in (F, L))
    local = local or bool(F) and (L[0] != (F[0] + 1) % N or (L[0] != 0 and L[3] != F[3]))
    last = L is not None and L[0] == N - 2 and L[2] == 1 and 1 in bits and L[3] == expects  # Err-Overflow^L
    first = F is not None and L is not None and F[0] == N - 2 and F[2] == 1 and L[1] == 1  # Err-Overflow^F
    if not leader and (local or not bits or last or first):
        return (1, x, (0, 1, 0, 0), (1, 0, 0, 0))  # New-Leader
    if L is not None and L[3] == 0 and head:  # Is-Eliminated(v)
        leader = 0
    if leader:  # Wagon-Creation
        ends = L[0] == N - 1
        return (1, x if ends else rand * x, add(F, L), (0, 0, 0, rand) if ends else (L[0] + 1, 0, 0, L[3]))
    cut = expects and not (L[3] == 1 or L[0] == N - 1)
    return (0, rand, None if cut else add(F, L), add(L, (wanted, max(bits), 0, int(expects))))


def rounds(nodes, edges, number):
    """The configurations at times 0, 1, ..., with X = 0 at every node."""
    near = [[b if a == v else a for a, b in edges if v in (a, b)] for v in range(len(nodes))]
    found = [nodes]
    for _ in range(number):
        nodes = [after(node, [nodes[u] for u in near[v]], 0) for v, node in enumerate(nodes)]
        found.append(nodes)
    for time, nodes in enumerate(found):
        print(time, *(f"{'leader ' * n[0]}{text(n[2])}, {text(n[3])} |" for n in nodes))
    return found, near


def text(B):
    return "-" if B is None else f"{B[0]}{'*' * B[3]}/{B[1]}/{B[2]}"


def smallest(nodes, near):
    """The smallest Value of a complete marked train (Definitions 3.4 and 4.4)."""

    def values(v, station, k):
        B = nodes[v][station]
        if B and B[3] == 1 and B[0] == k:
            own, behind = B[1] + 2 * B[2], [(v, 3)] if station == 2 else [(u, 2) for u in near[v]]
            yield from [own] if k == N - 1 else (own + 2 * x for w, s in behind for x in values(w, s, k + 1))

    return min(x for v in range(len(nodes)) for station in (2, 3) for x in values(v, station, 0))


def lemma_4_3():
    start = [(1, 1, (3, 0, 0, 0), (4, 1, 0, 0)), (0, 0, (1, 0, 1, 0), (2, 1, 1, 0))]
    found, _ = rounds(start, [(0, 1)], 3)  # time 1 here is t in the lemma: v* begins a marked train
    assert found[1][0][3] == (0, 0, 0, 1) and found[3][1][0] == 1, "v is no leader at time t + 2"


def lemma_4_5():
    pairs = ["00* 10*", "30 40", "- 10*", "20* 30*", "40* 00", "01* 11*", "21* 31*", "41* 00"]
    stations = [[None if w == "-" else (int(w[0]), int(w[1]), 0, int("*" in w)) for w in p.split()] for p in pairs]
    found, near = rounds([(0, 0, *pair) for pair in stations], [(v, v + 1) for v in range(7)], 1)
    assert (smallest(found[0], near), smallest(found[1], near)) == (31, 1), "it grows by one at least"


def last_carry():
    start = [(0, 0, None, (0, 0, 0, 1)), (0, 0, (1, 0, 0, 1), (2, 0, 0, 1)), (1, 0, (3, 0, 1, 1), (4, 1, 0, 1))]
    found, near = rounds(start, [(0, 1), (1, 2), (0, 2)], 2)
    assert found[1][2][2] == (4, 0, 1, 1), "no wagon of index N - 1 has a carry"
    assert [smallest(nodes, near) for nodes in found] == [32, 33, 2]


def local_errors():
    found, _ = rounds([(1, 0, (3, 0, 1, 0), (4, 1, 0, 0)), (0, 0, (0, 0, 0, 1), (1, 0, 0, 1))], [(0, 1)], 1)
    assert found[1][0][:3] == (0, 0, (4, 0, 1, 0)), "Err_4 holds at a node that is no leader, at time 1"


if __name__ == "__main__":
    known = {"lemma4.3": lemma_4_3, "lemma4.5": lemma_4_5, "last-carry": last_carry, "local-errors": local_errors}
    for name in sys.argv[1:] or [f"trains.{name}" for name in known]:
        print(name)
        known[name.removeprefix("trains.")]()
