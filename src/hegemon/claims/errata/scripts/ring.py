"""Yokota, Sudo, Masuzawa, Time-Optimal Self-Stabilizing Leader Election on Rings in Population Protocols (IEICE 2021),
Claim 2 in the proof of Lemma 11: an execution of P_RL with n = N = 3 in which it fails. Needs Python alone.

    python ring.py
"""

from dataclasses import dataclass, replace

N = 3
DUMMY, LIVE = 1, 2


@dataclass
class RingAgent:
    leader: int
    bullet: int
    shield: int
    signal: int
    distL: int


def interact(l, r):  # noqa: E741
    """Algorithm 1; l is the initiator. Line numbers are the paper's."""
    if l.leader == 1:  # 1
        l.distL = 0
    if r.leader == 1:  # 2
        r.distL = 0
    elif r.bullet == 0:
        r.distL = min(l.distL + 1, N)
    if r.distL == N:  # 3-5
        r.leader, r.distL, r.bullet, r.shield, r.signal = 1, 0, LIVE, 1, 0
    if l.leader == 1 and l.signal == 1:  # 6-7
        l.bullet, l.shield, l.signal = LIVE, 1, 0
    if r.leader == 1 and r.signal == 1:  # 8-9
        r.bullet, r.shield, r.signal = DUMMY, 0, 0
    if l.bullet > 0 and r.leader == 1:  # 10-12
        if l.bullet == LIVE and r.shield == 0:
            r.leader = 0
        l.bullet = 0
    elif l.bullet > 0:  # 13-15
        if r.bullet == 0:
            r.bullet = l.bullet
        l.bullet = r.signal = 0
    l.signal = max(l.signal, r.signal, r.leader)  # 16


def secure(ring, i):
    """Secure(i), section 4.1; d_R(i) is the distance to the nearest leader on the right."""
    if ring[i].leader == 1:
        return ring[i].distL == 0
    return any(a.leader for a in ring) and ring[i].distL <= N - right(ring, i)


def right(ring, i):
    return next(d for d in range(len(ring)) if ring[(i + d) % len(ring)].leader)


def left(ring, i):
    return next(d for d in range(len(ring)) if ring[(i - d) % len(ring)].leader)


def modest(ring, i):
    """Modest(i): peaceful, and no distL on the way back to the nearest left leader is too large."""
    back = range(left(ring, i) + 1)
    peaceful = ring[i - left(ring, i)].shield == 1 and all(ring[i - j].signal == 0 for j in back)
    return peaceful and all(ring[i - j].distL <= left(ring, i - j) for j in back)


def in_suffix(ring):
    """Where the suffix of the proof begins: a leader, every live bullet modest, distL = 0 at leaders."""
    leaders = [a for a in ring if a.leader]
    live = [i for i, a in enumerate(ring) if a.bullet == LIVE]
    return bool(leaders) and all(modest(ring, i) for i in live) and all(a.distL == 0 for a in leaders)


def main():
    ring = [RingAgent(0, 0, 0, 0, 0), RingAgent(0, 2, 0, 0, 1), RingAgent(1, 0, 0, 1, 0)]
    print("(leader, bullet, shield, signal, distL) of u_0, u_1, u_2")
    for i in (1, 2, 1, 0, 2, 0):
        before = [replace(a) for a in ring]
        interact(ring[i], ring[(i + 1) % N])
        print(f"(u_{i}, u_{(i + 1) % N})", *(tuple(vars(a).values()) for a in ring))
    assert in_suffix(before), "the suffix has begun"
    assert secure(before, 0) and not secure(before, 1), "u_1 is insecure and meets u_0, which is secure"
    assert ring[0].leader == 1 and not secure(ring, 1), "u_1 has become secure, as Claim 2 says"
    print(
        "u_1 met u_0 while u_0 was secure, and is still insecure: it carried a bullet, so line 2 left its distL alone."
    )


if __name__ == "__main__":
    main()
