"""A second reading of Informative Trains, section 3: a wagon is a tuple or None, and every predicate stands alone."""

from collections import namedtuple

Wagon = namedtuple("Wagon", "idx bit carry flag")
Node = namedtuple("Node", "leader rand F L")


def node(state) -> Node:
    stations = [
        Wagon(*(getattr(state, f"{name}_{part}") for part in Wagon._fields)) if getattr(state, name) else None
        for name in "FL"
    ]
    return Node(state.leader, state.rand, *stations)


def added(wagon, behind):
    old = wagon.carry if wagon else 0
    total = behind.bit + (1 if behind.idx == 0 else old)
    return Wagon(behind.idx, total % 2, int(total == 2), behind.flag)


def update(v: Node, near: list[Node], x: int, N: int) -> Node:
    firsts = [u.F for u in near if u.F is not None]
    L, F = v.L, v.F
    marked_head = any(w.flag == 1 and w.idx == 0 for w in firsts)
    succ_is_marked = (L is not None and L.flag == 1 and L.idx != N - 1) or marked_head
    nxt = None if L is None else (L.idx + 1) % N
    succ = {
        1: [w for w in firsts if w.flag == 1 and L and (w.idx == nxt if L.flag == 1 else w.idx == 0)],
        0: [w for w in firsts if w.flag == 0 and w.idx == nxt],
    }[int(succ_is_marked)]
    local = [
        L is None,
        L is not None and F is not None and L.idx != (F.idx + 1) % N,
        L is not None and F is not None and L.idx != 0 and L.flag != F.flag,
        F is not None and F.idx == N - 1 and F.carry == 1,
        L is not None and L.idx == N - 1 and L.carry == 1,
    ]
    overflow_last = (
        L is not None
        and L.idx == N - 2
        and L.carry == 1
        and max((w.bit for w in succ), default=0) == 1
        and L.flag == int(succ_is_marked)
    )
    overflow_first = F is not None and F.idx == N - 2 and F.carry == 1 and L is not None and L.bit == 1
    if not v.leader and (any(local) or not succ or overflow_last or overflow_first):
        return Node(1, x, Wagon(0, 1, 0, 0), Wagon(1, 0, 0, 0))
    leader = v.leader
    if L is not None and L.flag == 0 and marked_head:
        leader = 0
    if leader:
        if L is None:
            return Node(1, x, None, Wagon(0, 0, 0, 0))
        if L.idx == N - 1:
            return Node(1, x, added(F, L), Wagon(0, 0, 0, v.rand))
        return Node(1, v.rand * x, added(F, L), Wagon(L.idx + 1, 0, 0, L.flag))
    cut = succ_is_marked and L.flag == 0 and L.idx != N - 1
    return Node(0, v.rand, None if cut else added(F, L), added(L, max(succ, key=lambda w: w.bit)))
