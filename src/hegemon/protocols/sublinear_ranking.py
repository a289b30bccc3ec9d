"""Sublinear-Time-SSR with parameter H: a ranking by names, and trees of who met whom that unmask a doubled name.

Agents collect each other's random names in a roster; with n names, the rank is the place of the own name. Two agents of
one name would never see the doubled name in a roster, so they must be found out: at every meeting both agents note one
random number (`sync`), and each keeps a tree, H deep, of what it met, and what that had met before. A name that cannot
show the sync value of any edge on a live path to it is an impostor's, and everybody is reset.

A tree is kept as H + 1 mappings, cut to depths 0..H, each from names to `Edge`s whose subtree is the other agent's
mapping of the depth before: shared, never changed. Timers are kept as the holder's clock at which they expire, since
all timers of a holder go down by one whenever it meets somebody; `shift` translates from the other's clock.
"""

import math
from typing import NamedTuple

from hegemon.models import Bit, Parameter, Range, whole
from hegemon.models.objects import ObjectProtocol, agent

COLLECTING, RESETTING = "COLLECTING", "RESETTING"


class Edge(NamedTuple):
    """The edge to a child: the number both drew when they met, when it expires, and the child's own tree."""

    sync: int
    expires: int
    shift: int
    below: dict


def collecting(name, p):
    """An agent that knows itself alone."""
    return {"role": COLLECTING, "name": name, "rank": 0, "roster": frozenset([name]), "clock": 0, "trees": bare(p)}


def bare(p):
    return ({},) * (int(p.H) + 1)


def become(a, **attributes):
    vars(a).clear()
    vars(a).update(attributes)


# Collision detection


def live_paths(tree, clock, target, names, depth):
    """Every path of live edges from the root to a node of this name, as [(name, sync), …]; names differ on a path."""
    for name, edge in tree.items():
        if edge.expires <= clock or name in names:
            continue
        if name == target:
            yield [(name, edge.sync)]
        elif depth > 1:
            rest = live_paths(edge.below, clock - edge.shift, target, names | {name}, depth - 1)
            for path in rest:
                yield [(name, edge.sync), *path]


def is_consistent(path, root, tree):
    """Whether the other agent remembers one of the path's meetings, walking the path back in its own tree."""
    names = [root, *(name for name, _ in path)]
    for t in range(len(path) - 1, -1, -1):
        edge = tree.get(names[t])
        if edge is None:
            return False
        if edge.sync == path[t][1]:
            return True
        tree = edge.below
    return False


def suspects(a, b, p):
    """Whether b, by the name that it has, cannot be the agent that a's tree speaks of."""
    paths = live_paths(a.trees[-1], a.clock, b.name, frozenset([a.name]), p.H)
    return any(not is_consistent(path, a.name, b.trees[-1]) for path in paths)


def collision(a, b, p):
    return a.name == b.name or suspects(a, b, p) or suspects(b, a, p)


def grafted(a, other_name, other_clock, other_trees, sync, p):
    """The trees of a, with the other's trees as they were before under its name."""
    shift = a.clock - other_clock
    edges = [Edge(sync, a.clock + p.T, shift, below) for below in other_trees]
    return ({},) + tuple({**a.trees[d], other_name: edges[d - 1]} for d in range(1, int(p.H) + 1))


# Propagate-Reset, as in `optimal-silent`


def start_reset(a, p):
    become(a, role=RESETTING, name="", resetcount=p.r_max, delay=0)


def propagate_reset(a, b, coins, p):
    for me, other in ((a, b), (b, a)):
        if me.role == RESETTING and me.resetcount > 0 and other.role != RESETTING:
            become(other, role=RESETTING, name=other.name, resetcount=0, delay=p.d_max)
    both = a.role == b.role == RESETTING
    before = [getattr(a, "resetcount", 0), getattr(b, "resetcount", 0)]
    if both:
        a.resetcount = b.resetcount = max(before[0] - 1, before[1] - 1, 0)
    for me, count in ((a, before[0]), (b, before[1])):
        if me.role == RESETTING and me.resetcount == 0:
            me.delay = p.d_max if count > 0 else max(me.delay - 1, 0)
    for me, bit in ((a, coins.first), (b, coins.second)):
        if me.role != RESETTING:
            continue
        if me.resetcount > 0:
            me.name = ""
        elif me.delay == 0 or not both:
            become(me, **collecting(me.name, p))
        elif len(me.name) < p.L:
            me.name += str(bit)


def all_ranked(agents, p):
    """Everybody collects, names differ, every roster is the set of names, and no live path is inconsistent."""
    names = frozenset(a.name for a in agents)
    if len(names) < p.n or any(a.role != COLLECTING or a.roster != names for a in agents):
        return False
    places = {name: place for place, name in enumerate(sorted(names), start=1)}
    if any(a.rank != places[a.name] for a in agents):
        return False
    return not any(suspects(a, b, p) for a in agents for b in agents if a is not b)


def any_resetting(agents, p):
    return any(a.role == RESETTING for a in agents)


class SublinearRanking(ObjectProtocol):
    """Agents that know n rank themselves by random names; trees of past meetings unmask a doubled name quickly."""

    reference = (
        "J. Burman, H.-L. Chen, H.-P. Chen, D. Doty, T. Nowak, E. Severson, C. Xu, Time-optimal self-stabilizing "
        "leader election in population protocols, PODC 2021 (Sublinear-Time-SSR, Protocols 5-8); recalled"
    )
    grade = "faithful"
    shelf = "complete graphs"
    needs_exact_n = True

    H = Parameter(1, low=0, help="depth of the trees: O(n^(1/(H+1))) time, O(log n) at H = log2 n")
    L = Parameter("3*ceil(log2(n))", low=1, help="bits of a name")
    S = Parameter("n^2", low=1, help="sync values")
    T = Parameter("ceil(8*H*n^(1/(H+1)) + 8*log2(n))", low=1, help="meetings for which an edge stays alive")
    r_max = Parameter("ceil(60*log(n))", low=1, help="how far a reset spreads")
    d_max = Parameter("4*L", low=1, help="how long an agent sleeps after a reset: enough to draw a name")

    class Coins:
        sync: Range(1, "S")
        first: Bit
        second: Bit

    def interact(a, b, p, coins):
        if a.role == COLLECTING and b.role == COLLECTING:
            roster = a.roster | b.roster
            if len(roster) > p.n or collision(a, b, p):  # rule 1.1
                start_reset(a, p)
                start_reset(b, p)
                return
            if p.H > 0:  # rule 1.2
                of_a = a.name, a.clock, a.trees
                a.trees = grafted(a, b.name, b.clock, b.trees, coins.sync, p)
                b.trees = grafted(b, *of_a, coins.sync, p)
            a.clock += 1
            b.clock += 1
            for me in (a, b):  # rule 1.3
                me.roster = roster
                if len(roster) == p.n:
                    me.rank = 1 + sorted(roster).index(me.name)
        else:  # rule 2
            propagate_reset(a, b, coins, p)

    def output(a, p):
        return a.role == COLLECTING and a.rank == 1

    def start_random(self, rng):
        """Arbitrary: random names, rosters, ranks, forged trees, and resets under way."""
        names = [self._name(rng) for _ in range(self.n)]
        return [self._arbitrary(rng, names) for _ in range(self.n)]

    def start_fresh(self, rng):
        """Everybody has just drawn a name, and knows nobody else."""
        return [agent(**collecting(self._name(rng), self.p)) for _ in range(self.n)]

    def start_doubled_name(self, rng):
        """All names and ranks are known, and one name is had by two agents."""
        return self._ranked(rng, doubled=True)

    def start_safe(self, rng):
        """All names differ and are known to everybody."""
        return self._ranked(rng, doubled=False)

    def _name(self, rng) -> str:
        return "".join(str(bit) for bit in rng.integers(2, size=self.L))

    def _ranked(self, rng, doubled: bool):
        width = max(self.L, math.ceil(math.log2(self.n)))
        names = sorted(format(k, f"0{width}b") for k in rng.choice(2 ** min(width, 60), size=self.n, replace=False))
        roster = frozenset(names)
        agents = [
            agent(**collecting(name, self.p) | {"rank": place, "roster": roster})
            for place, name in enumerate(names, start=1)
        ]
        if doubled:
            become(agents[1], **vars(agents[0]))
        return agents

    def _arbitrary(self, rng, names):
        if rng.random() < 0.25:
            count = int(rng.integers(self.r_max + 1))
            name = "" if count else self._name(rng)[: int(rng.integers(self.L + 1))]
            return agent(role=RESETTING, name=name, resetcount=count, delay=int(rng.integers(self.d_max + 1)))
        name = names[int(rng.integers(self.n))]
        known = frozenset(names[int(k)] for k in rng.integers(self.n, size=int(rng.integers(1, self.n + 1)))) | {name}
        made = collecting(name, self.p) | {"roster": known, "rank": int(rng.integers(self.n + 1))}
        return agent(**made | {"trees": self._forged(rng, names)})

    def _forged(self, rng, names):
        """Trees with random edges, the same at every depth."""
        trees = [{}]
        for _ in range(self.H):
            chosen = {names[int(k)] for k in rng.integers(self.n, size=min(3, self.n))}
            trees.append(
                {
                    name: Edge(int(rng.integers(1, self.S + 1)), int(rng.integers(self.T + 1)), 0, trees[-1])
                    for name in sorted(chosen)
                }
            )
        return tuple(trees)

    alarmed = whole(any_resetting).described("somebody resets: a doubled name, or a forged memory, was found")
    safe = whole(all_ranked).described("all names differ and are known, ranks are right, no path is inconsistent")
