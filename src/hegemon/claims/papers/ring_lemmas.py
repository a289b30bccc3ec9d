"""P_RL, section 4: what bullets do, which sets are closed, who stays secure. Every configuration of small rings, many
random members of the sets on larger ones, each with every interaction."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from hegemon.claims.checks import always, number_at_most
from hegemon.claims.errata import erratum
from hegemon.claims.laboratory import Cases, Definition, Laboratory
from hegemon.claims.papers.ring_small import SmallRing, small_ring
from hegemon.claims.registry import Check, Outcome, Plot, Series
from hegemon.compute.randomness import generator
from hegemon.protocols.ring import DUMMY, Ring

ALL = ""  # every configuration
WITNESS = "ring-lemma-11-claim-2"
OneStep = Callable[[SmallRing, np.ndarray, np.ndarray, int], tuple[Any, Any]]  # whether it applies, and is right


def worlds(
    lab: Laboratory, protocol: Definition, exact: Cases, sampled: Cases, name: str,
    rng: np.random.Generator,
) -> Iterator[tuple[SmallRing, np.ndarray, str]]:  # fmt: skip
    """Small rings with their configurations in a set: all of them, then random members on larger rings."""
    for n, N in exact:
        lab.report(f"all configurations of n = {n}, N = {N}")
        world = small_ring(protocol, n, N)
        rows = world.every()
        yield world, rows[world.inside(rows, name)] if name else rows, "all"
    for n, N, number in sampled:
        lab.report(f"random configurations of n = {n}, N = {N}")
        world = small_ring(protocol, n, N)
        rows = world.members(name, number, rng) if name else mixed(world, number, rng)
        yield world, rows, "random"


def mixed(world: SmallRing, number: int, rng: np.random.Generator) -> np.ndarray:
    """Random configurations, and random members of every set: bullets are modest in the latter."""
    random = rng.integers(len(world.states), size=(number, world.n)).astype(np.int32)
    return np.concatenate([random, *(world.members(name, number, rng) for name in ("C_PB", "C_prime", "C_NI"))])


def one_step(statement: OneStep, name: str, claimed: str) -> Callable[..., Outcome]:
    """An experiment on a statement about one interaction: `statement(world, before, after, arc)` returns, for every
    row, whether the statement applies to it, and whether it is right."""

    def experiment(lab: Laboratory, protocol: Definition = Ring, *, exact: Cases, sampled: Cases) -> Outcome:
        checks, covered = [], 0
        rng = generator(lab.seed_for(protocol.id, claimed))
        for world, rows, which in worlds(lab, protocol, exact, sampled, name, rng):
            made = good = 0
            for arc in range(world.n):
                spoken, right = statement(world, rows, world.step(rows, arc), arc)
                made, good = made + int(spoken.sum()), good + int((spoken & right).sum())
            covered += len(rows)
            lab.note(protocol=protocol.id, n=world.n, N=world.N, which=which, configurations=len(rows), cases=made,
                     right=good)  # fmt: skip
            what = f"n = {world.n}, N = {world.N}: {which} {len(rows):,} configurations, every interaction"
            checks.append(always(what, good, made, claimed))
        return Outcome(checks, f"{covered:,} configurations, each with every interaction")

    return experiment


def stays(name: str) -> OneStep:
    def statement(world: SmallRing, before: np.ndarray, after: np.ndarray, arc: int) -> tuple[np.ndarray, Any]:
        return np.ones(len(before), bool), world.inside(after, name)

    return statement


def keeps_outputs(world: SmallRing, before: np.ndarray, after: np.ndarray, arc: int) -> tuple[np.ndarray, Any]:
    """S_RL is closed, and no output changes."""
    same = (world.get(before, "leader") == world.get(after, "leader")).all(axis=1)
    return np.ones(len(before), bool), same & world.inside(after, "safe")


def stays_modest(world: SmallRing, before: np.ndarray, after: np.ndarray, arc: int) -> tuple[np.ndarray, Any]:
    """Lemma 3, for every modest bullet that does not disappear (section 3.2 says when it does)."""
    live, modest_before, modest_after = world.live(before), world.modest(before), world.modest(after)
    spoken, right = np.zeros(len(before), bool), np.ones(len(before), bool)
    for i in range(world.n):
        follower = (i + 1) % world.n
        bullet = live[:, i] & modest_before[:, i]
        place = i
        if i == arc:
            gone = (world.get(before, "leader")[:, follower] == 1) | (world.get(before, "bullet")[:, follower] > 0)
            bullet = bullet & ~gone & (world.get(before, "distL")[:, i] < world.N - 1)
            place = follower
        bullet = bullet & world.live(after)[:, place]
        spoken |= bullet
        right &= ~bullet | modest_after[:, place]
    return spoken, right


def fires_modest(world: SmallRing, before: np.ndarray, after: np.ndarray, arc: int) -> tuple[np.ndarray, Any]:
    """Lemma 4: a leader that shoots to the right, or a new leader, has a modest bullet."""
    right = (arc + 1) % world.n
    free = (world.get(before, "leader")[:, right] == 0) & (world.get(before, "bullet")[:, right] == 0)
    shoots = (world.get(before, "leader")[:, arc] == 1) & (world.get(before, "signal")[:, arc] == 1) & free
    born = (world.get(before, "leader")[:, right] == 0) & (world.get(after, "leader")[:, right] == 1)
    spoken = (shoots | born) & world.live(after)[:, right]
    return shoots | born, ~(shoots | born) | (spoken & world.modest(after)[:, right])


def insecure_by_the_left(world: SmallRing, before: np.ndarray, after: np.ndarray, arc: int) -> tuple[np.ndarray, Any]:
    """Lemma 5: if all live bullets are modest, an agent that turns insecure has just met an insecure left neighbour."""
    spoken = (world.modest(before) | ~world.live(before)).all(axis=1)
    secure, later = world.secure(before), world.secure(after)
    right, responder = np.ones(len(before), bool), (arc + 1) % world.n
    for i in range(world.n):
        fell = secure[:, i] & ~later[:, i]
        right &= ~fell | ((i == responder) & ~secure[:, arc])
    return spoken, right


def lemma7(lab: Laboratory, protocol: Definition = Ring, *, exact: Cases, sampled: Cases) -> Outcome:
    """Lemma 7, of whole executions: everything that is reached from C_NI on small rings, random walks on larger ones.
    So it does not take from Lemma 6 that C_NI is never left."""
    checks, covered = [], 0
    rng = generator(lab.seed_for(protocol.id, "lemma7"))
    for world, rows, which in worlds(lab, protocol, exact, sampled, "C_NI", rng):
        made, good = everywhere(world, rows) if which == "all" else on_walks(world, rows, rng)
        covered += made
        lab.note(protocol=protocol.id, n=world.n, N=world.N, which=which, configurations=len(rows), cases=made,
                 right=good)  # fmt: skip
        executions = "all executions" if which == "all" else "random walks"
        what = f"n = {world.n}, N = {world.N}: {executions} from {which} {len(rows):,} configurations"
        checks.append(always(what, good, made, "no new leader"))
    return Outcome(checks, f"{covered:,} interactions in executions from C_NI")


def makes_no_leader(world: SmallRing, before: np.ndarray, after: np.ndarray) -> Any:
    return (world.get(after, "leader") <= world.get(before, "leader")).all(axis=1)


def everywhere(world: SmallRing, rows: np.ndarray) -> tuple[int, int]:
    """Every interaction in every configuration reached from these: how many, and how many make no leader."""
    made = good = 0
    for reached in world.reached(rows):
        for arc in range(world.n):
            made, good = (
                made + len(reached),
                good + int(makes_no_leader(world, reached, world.step(reached, arc)).sum()),
            )
    return made, good


def on_walks(world: SmallRing, rows: np.ndarray, rng: np.random.Generator) -> tuple[int, int]:
    """The same along one random walk from each, long enough that a lost leader would be replaced (Lemma 10)."""
    made = good = 0
    for _ in range(10 * world.n * world.N):
        after = world.walk(rows, rng)
        made, good, rows = made + len(rows), good + int(makes_no_leader(world, rows, after).sum()), after
    return made, good


def becomes_secure(repaired: bool) -> OneStep:
    """Claim 2 in the proof of Lemma 11, as it is stated or for agents that carry no bullet."""

    def statement(world: SmallRing, before: np.ndarray, after: np.ndarray, arc: int) -> tuple[np.ndarray, Any]:
        i, secure = (arc + 1) % world.n, world.secure(before)
        spoken = secure[:, arc] & ~secure[:, i]
        if repaired:
            spoken &= world.get(before, "bullet")[:, i] == 0
        return spoken, world.secure(after)[:, i]

    return statement


def claim2(lab: Laboratory, protocol: Definition = Ring, *, exact: Cases, sampled: Cases) -> Outcome:
    """As it is stated: all configurations of small rings, those of Ξ′ among them, and the shipped execution."""
    statement = becomes_secure(repaired=False)
    found = one_step(statement, "C_prime", "secure")(lab, protocol, exact=exact, sampled=sampled)
    checks, exceptions, dummies = found.checks, 0, 0
    for n, N in exact:
        world = small_ring(protocol, n, N)
        if len(world.states) ** n * 2**n > MOST_FOLLOWED:
            continue  # among all configurations above
        rows, made, good = world.every()[world.without_old_bullets()], 0, 0
        rows = rows[world.inside(rows, "C_prime")]
        for arc in range(n):
            spoken, right = statement(world, rows, world.step(rows, arc), arc)
            wrong = spoken & ~right
            made, good = made + int(spoken.sum()), good + int((spoken & right).sum())
            exceptions += int(wrong.sum())
            dummies += int((world.get(rows, "bullet")[wrong, (arc + 1) % n] == DUMMY).sum())
        lab.note(protocol=protocol.id, n=n, N=N, which="Ξ′", configurations=len(rows), cases=made, right=good)
        what = f"n = {n}, N = {N}: all {len(rows):,} configurations of Ξ′ (the bullets of the start are gone)"
        checks.append(always(what, good, made, "secure"))
    checks.append(from_the_witness(protocol))
    headline = f"{exceptions:,} exceptions in Ξ′; in {dummies:,} of them the agent carries a dummy bullet"
    return Outcome(checks, headline, notes=BULLET)


MOST_FOLLOWED = 10_000_000  # configurations with the bullets of the start marked


def from_the_witness(protocol: Definition) -> Check:
    """The shipped execution: its last interaction is the exception."""
    known = erratum(WITNESS)
    space = protocol(n=len(known["agents"]), **known["parameters"]).space
    world = small_ring(protocol, len(known["agents"]), known["parameters"]["N"])
    row = np.array([[space.code(space.parse(state)) for state in known["agents"]]], np.int32)
    for arc, _ in known["interactions"][:-1]:
        row = world.step(row, arc)
    arc, i = known["interactions"][-1]
    spoken, right = becomes_secure(repaired=False)(world, row, world.step(row, arc), arc)
    what = f"the execution errata/{WITNESS}.json: agent {i} after it has met agent {arc}, which is secure"
    return always(what, int(right[0]), int(spoken[0] & world.inside(row, "C_prime")[0]), "secure")


BULLET = (
    "Line 2 leaves distL as it is where the responder carries a bullet, so an insecure agent with a (dummy) bullet "
    "stays insecure when it meets a secure left neighbour. Repaired: … if it carries no bullet. After e_i an agent "
    "that is no leader has none until the next e_(i−1), so each agent needs the pair e_i, e_(i−1) instead of e_(i−1): "
    "at most 2n² expected steps instead of n², and the O(nN) of Theorem 1 stands."
)


def claim1(lab: Laboratory, protocol: Definition = Ring, *, cases: Cases, steps: int) -> Outcome:
    """Lemma 11, Claim 1: who has been a leader since C′ is secure from then on. Random walks; every step is checked."""
    checks = []
    rng = generator(lab.seed_for(protocol.id, "claim1"))
    for n, N, number in cases:
        world = small_ring(protocol, n, N)
        rows = world.members("C_prime", number, rng)
        been, bad = world.get(rows, "leader") == 1, np.zeros(number, bool)
        for _ in range(steps):
            rows = world.walk(rows, rng)
            been |= world.get(rows, "leader") == 1
            bad |= (been & ~world.secure(rows)).any(axis=1)
        lab.note(protocol=protocol.id, n=n, N=N, walks=number, steps=steps, insecure=int(bad.sum()))
        what = f"n = {n}, N = {N}: {number:,} walks of {steps} steps from C′"
        checks.append(always(what, int((~bad).sum()), number, "always secure"))
    return Outcome(checks, f"every former leader stayed secure in {sum(c[2] for c in cases):,} walks")


def lemma1(
    lab: Laboratory, protocol: Definition = Ring, *, pairs: Sequence[int], cases: Cases, trials: int,
    steps: int,
) -> Outcome:  # fmt: skip
    """Every pair of states: a bullet that moves adds one to distL, so it has moved at most distL times, and none moves
    on from N − 1. And bullets followed in runs."""
    checks = [flight_of_pairs(lab, protocol, N) for N in pairs]
    flights, ended = [], 0
    for n, N in cases:
        case = protocol(n=n, N=N)
        rng = generator(lab.seed_for(protocol.id, n, N))
        runs = []
        for trial in range(trials):
            lab.report(f"bullets on n = {n}, N = {N}: run {trial + 1} of {trials}")
            runs.append(longest_flight(case, rng, steps))
            lab.note(protocol=protocol.id, n=n, N=N, trial=trial, longest_flight=runs[-1][0], bullets_ended=runs[-1][1])
        flights.append(max(flight for flight, _ in runs))
        ended += sum(number for _, number in runs)
        checks.append(number_at_most(f"n = {n}, N = {N}: most moves of any bullet", flights[-1], N - 1, f"< N = {N}"))
        checks.append(always(f"n = {n}, N = {N}: bullets end in every run", sum(e > 0 for _, e in runs), trials))
    bounds = [N for _, N in cases]
    order = np.argsort(bounds)
    plot = Plot(
        "The longest flight of a bullet",
        "N",
        "moves",
        [
            Series("observed", [bounds[k] for k in order], [flights[k] for k in order]),
            Series("N − 1", sorted(bounds), [N - 1 for N in sorted(bounds)], kind="line"),
        ],
    )
    closest = max(flight / (N - 1) for flight, N in zip(flights, bounds, strict=True))
    return Outcome(checks, f"{ended:,} bullets ended; the longest flight was {closest:.0%} of N − 1", [plot])


def flight_of_pairs(lab: Laboratory, protocol: Definition, N: int) -> Check:
    """On two agents alone, which is all that an interaction reads: distL counts the moves of a follower's bullet."""
    world = small_ring(protocol, 2, N)
    size = len(world.states)
    left, right = np.divmod(np.arange(size * size), size)
    before, after = np.stack([left, right], axis=1), world.table[left, right]
    bullet, leader, dist = (world.get(before, name) for name in ("bullet", "leader", "distL"))
    bullet_after, leader_after, dist_after = (world.get(after, name) for name in ("bullet", "leader", "distL"))
    carried, met = (bullet[:, 0] > 0) & (leader[:, 0] == 0), (bullet[:, 1] == 0) & (leader[:, 1] == 0)
    moved = carried & met & (bullet_after[:, 1] > 0) & (leader_after[:, 1] == 0)
    good = ~moved | ((dist_after[:, 1] == dist[:, 0] + 1) & (dist[:, 0] < N - 1))
    good &= ~carried | (bullet_after[:, 0] == 0)  # it moves, or disappears
    waits = (bullet[:, 1] > 0) & (leader[:, 1] == 0) & (leader_after[:, 1] == 0)
    good &= ~waits | (dist_after[:, 1] >= dist[:, 1])
    lab.note(protocol=protocol.id, N=N, pairs=len(good), right=int(good.sum()))
    what = f"N = {N}: distL counts a bullet's moves, and none moves on from N − 1 (every pair of states)"
    return always(what, int(good.sum()), len(good), "fewer than N moves")


def longest_flight(protocol: Any, rng: np.random.Generator, steps: int) -> tuple[int, int]:
    """The most often that any one bullet moved, and how many bullets ended, in a run from a random start.

    A leader's shot that lands on its right neighbour in the same interaction counts as that bullet's first move.
    """
    agents = [protocol.space.namespace(code) for code in rng.integers(protocol.space.size, size=protocol.n)]
    moves = [0] * protocol.n  # of the bullet that the agent carries
    longest = ended = 0
    for first in rng.integers(protocol.n, size=steps):
        left, right = agents[first], agents[(first + 1) % protocol.n]
        waited = right.bullet > 0
        flying = moves[first] if left.bullet > 0 else 0
        protocol.interact(left, right, protocol.p)
        if left.bullet > 0:
            continue  # it stayed, or was fired just now
        if right.bullet > 0 and not waited and right.leader == 0:
            moves[(first + 1) % protocol.n] = flying + 1
            longest = max(longest, flying + 1)
        else:
            ended += 1
        moves[first] = 0
    return longest, ended
