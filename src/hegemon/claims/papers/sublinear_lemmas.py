"""Elections with few messages, what the proofs rest on: balls and bins exactly, equation (5), mixing times, sizes."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from hegemon.analysis.scaling import LOG, LOG_SQUARED, Law
from hegemon.claims.checks import always, brief, number_at_most, number_is, share_at_least, share_at_most
from hegemon.claims.drawing import laws
from hegemon.claims.laboratory import Cases, Definition, Laboratory
from hegemon.claims.papers.trains_lemmas import nodes_of
from hegemon.claims.registry import Outcome, Plot, Series, Table
from hegemon.graphs.mixing import mixing_time
from hegemon.protocols.referees import Referees
from hegemon.protocols.walks import Walks

SEVERAL = 4  # rounds there, and as many back


def several_rounds(
    lab: Laboratory, protocol: Definition = Walks, *, n: int, exponents: Sequence[float], trials: int,
    rounds: int = SEVERAL,
) -> Outcome:  # fmt: skip
    """Theorem 3 for any number of rounds: an election of several rounds whose walks cost at most n^a messages. A
    candidate whose walks meet nobody else's elects itself, so one leader comes out of one candidate only."""
    checks, shares, apart = [], [], []
    for exponent in exponents:
        budget = float(n) ** exponent
        walks = max(1, int(budget / (2 * rounds)))
        case = protocol(n=n, walks=walks, mixing_time=rounds, candidates=1, lazy="no")
        rows = lab.trials(case, trials)
        good = sum(row["leaders"] == 1 for row in rows)
        what = f"n = {n:,}, n^{exponent:g} messages in {2 * rounds} rounds, 1 candidate expected: exactly one leader"
        checks.append(share_at_most(what, good, len(rows), 1 / math.e + 0.05, "probability ≤ 1/e + o(1)"))
        disjoint = sum(row["shared_referees"] == 0 for row in rows)
        what = f"n = {n:,}, n^{exponent:g} messages in {2 * rounds} rounds: influence clouds are disjoint"
        checks.append(share_at_least(what, disjoint, len(rows), 0.9, "probability 1 − o(1) (here ≥ 0.9)"))
        spent = float(np.mean([row["messages"] for row in rows]))
        checks.append(number_at_most(f"n^{exponent:g} messages: mean messages sent / budget", spent / budget, 1.1))
        shares.append(good / len(rows))
        apart.append(disjoint / len(rows))
    plot = Plot(f"Success in {2 * rounds} rounds with n^a messages, n = {n:,}", "exponent a", "share of runs",
                [Series("one leader", list(exponents), shares, kind="both"),
                 Series("clouds do not meet", list(exponents), apart, kind="both"),
                 Series("1/e", [exponents[0], exponents[-1]], [1 / math.e] * 2, kind="line")])  # fmt: skip
    notes = (
        "A lower bound is about all algorithms; what can be watched is one of them. Algorithm 2 with one expected "
        "candidate, few walks and a fixed length spends its budget over several rounds; 1/e is what it attains."
    )
    return Outcome(
        checks, f"at most {max(shares):.2f} with n^{exponents[-1]:.2g} messages or fewer", [plot], notes=notes
    )


LOG_LOGLOG = Law("log n log log n", lambda n: np.log2(n) * np.log2(np.log2(n)))


def no_collision(weights: Sequence[int], balls: int) -> Fraction:
    """The probability that two candidates, who throw `balls` each into bins of these weights, share no bin: the sum,
    over the sets S of bins that the first one may hit, of P(it hits exactly S) · P(the other misses S)."""
    bins, total = range(len(weights)), sum(weights)
    mass = [sum(weights[i] for i in bins if S >> i & 1) for S in range(1 << len(weights))]
    found = 0
    for S in range(1, len(mass)):
        exactly, T = 0, S
        while T:
            exactly += (-1) ** (S ^ T).bit_count() * mass[T] ** balls
            T = (T - 1) & S
        found += exactly * (total - mass[S]) ** balls
    return Fraction(found, total ** (2 * balls))


def balls_of(n: int) -> int:
    """How many walks a candidate starts: ρ."""
    return 2 * math.ceil(math.sqrt(n * math.log(n)))


def poisson_bound(n: int, balls: int) -> float:
    """(2 e^(-ρ/n) - e^(-2ρ/n))^n, which is at most exp(-ρ²/(n + ρ)); for large n the logarithm is exact enough."""
    x = balls / n
    return math.exp(n * (math.log1p(-math.expm1(-x)) - x))


def distributions(n: int, parts: int) -> Iterator[list[int]]:
    """All distributions on n bins with multiples of 1/parts, up to the order of the bins."""
    for chosen in itertools.combinations_with_replacement(range(n), parts):
        weights = [chosen.count(i) for i in range(n)]
        if weights == sorted(weights, reverse=True):
            yield weights


def lemma1(lab: Laboratory, chance: Callable[..., Any] = no_collision, *, cases: Cases) -> Outcome:
    """As it is stated: no distribution has a larger probability of no collision than the uniform one."""
    checks, rows, largest = [], [], 0.0
    for n, balls, parts in cases:
        lab.report(f"{n} bins, {balls} balls")
        uniform, made, good, worst = chance([1] * n, balls), 0, 0, None
        for weights in distributions(n, parts):
            value = chance(weights, balls)
            made, good = made + 1, good + (value <= uniform)
            if worst is None or value > worst[1]:
                worst = (weights, value)
        assert worst is not None  # there is at least one distribution
        lab.note(bins=n, balls=balls, distributions=made, at_most_uniform=good)
        shown = ", ".join(str(Fraction(weight, sum(worst[0]))) for weight in worst[0])
        rows.append([f"{n}", f"{balls}", f"{float(uniform):.5g}", f"({shown})", f"{float(worst[1]):.5g}"])
        largest = max(largest, float(worst[1] / uniform))
        checks.append(always(f"{n} bins, {balls} balls each: distributions that are not above the uniform one (exact)",
                             good, made, "maximized by the uniform one"))  # fmt: skip
    columns = ["bins", "balls", "uniform", "largest found at", "its probability"]
    table = Table("Probability that two candidates share no bin, exact", columns, rows)
    headline = f"another distribution has up to {largest:.4f} times the uniform one's probability"
    return Outcome(checks, headline, [], [table], UNIFORM)


UNIFORM = (
    "The proof bounds the probability by a product in which it replaces 1 − e^(−x) by x, which is larger: the "
    "inequality goes the wrong way, and an upper bound that is largest at the uniform distribution would not show "
    "that the probability itself is. Repaired: for every distribution it is at most (2e^(−ρ/n) − e^(−2ρ/n))^n ≤ "
    "exp(−ρ²/(n + ρ)). Whether bins are hit is negatively associated, so the probability is at most the product of "
    "1 − (1 − e^(−ρp_i))², and −log of a factor is convex in ρp_i: Jensen's inequality."
)


def lemma1_repaired(lab: Laboratory, bound: Callable[..., Any] = poisson_bound, *, cases: Cases, own: Cases) -> Outcome:
    """The bound that the theorem needs, for every distribution; and the number of balls that the algorithm throws."""
    checks = []
    for n, several, parts in cases:
        made = good = 0
        for balls, weights in itertools.product(several, distributions(n, parts)):
            made += 1
            good += float(no_collision(weights, balls)) <= bound(n, balls) * (1 + 1e-9)
        lab.note(bins=n, distributions=made, within=good)
        what = f"{n} bins, {several[0]} … {several[-1]} balls: at most (2e^(−ρ/n) − e^(−2ρ/n))^n (exact)"
        checks.append(always(what, good, made, "for every distribution"))
    for n, parts in own:
        balls = balls_of(n)
        uniform, found = no_collision([1] * n, balls), [no_collision(w, balls) for w in distributions(n, parts)]
        lab.note(bins=n, balls=balls, distributions=len(found), at_most_uniform=sum(v <= uniform for v in found))
        what = f"{n} bins, the algorithm's own ρ = {balls}: distributions not above the uniform one (exact)"
        checks.append(always(what, sum(value <= uniform for value in found), len(found), "Lemma 1 as it is stated"))
    sizes = [10**k for k in range(1, 13)]
    loosest = max(math.log(bound(n, balls_of(n))) + balls_of(n) ** 2 / (n + balls_of(n)) for n in sizes)
    checks.append(
        number_at_most("log of the bound + ρ²/(n + ρ), largest for n = 10 … 10¹²", loosest, 1e-9, "at most 0")
    )
    return Outcome(
        checks, "the bound holds for every distribution tried; at the algorithm's ρ the uniform one is worst"
    )


def equation5(lab: Laboratory, *, largest: int) -> Outcome:
    """The best success probability of c clouds that each lead with probability p: (1 − 1/c)^(c−1), at p = 1/c."""
    best = {c: (1 - 1 / c) ** (c - 1) if c > 1 else 1.0 for c in range(1, largest + 1)}
    lab.note(clouds=largest, smallest=min(best.values()), over_e=min(best.values()) * math.e)
    checks = [
        always(f"c = 1 … {largest}: c p (1 − p)^(c−1) at p = 1/c is at most 1/e",
               sum(value <= 1 / math.e for value in best.values()), largest, "at most 1/e for any c"),
    ]  # fmt: skip
    return Outcome(
        checks, f"1 at c = 1, ½ at c = 2, {best[largest]:.5f} at c = {largest}; 1/e = {1 / math.e:.5f}", notes=MANY
    )


MANY = (
    "The maximum (1 − 1/c)^(c−1) falls towards 1/e and is above it for every finite c. Theorem 3 survives: a node that "
    "never sends nor receives is an initiator with a cloud of its own, so there are at least n − f(n) clouds, and the "
    "maximum is at most 1/e · (1 + 1/(n − f(n) − 1))."
)


def repaired_bound(c: int) -> float:
    return (1 + 1 / (c - 1)) / math.e


def equation5_repaired(lab: Laboratory, bound: Callable[..., Any] = repaired_bound, *, largest: int) -> Outcome:
    """The same for all c from some c on: at most 1/e (1 + 1/(c − 1))."""
    chosen = range(2, largest + 1)
    good = sum((1 - 1 / c) ** (c - 1) <= bound(c) for c in chosen)
    lab.note(clouds=largest, within=good)
    check = always(f"c = 2 … {largest}: at most (1 + 1/(c − 1))/e", good, len(chosen), "1/e + O(1/c)")
    return Outcome([check], "at most 1/e + O(1/c), and c is at least n − f(n)")


def mixing(
    lab: Laboratory, measure: Callable[..., Any] = mixing_time, *, complete: Sequence[int], families: Cases
) -> Outcome:
    """The stated values of τ: 1 on complete graphs, O(log n) on expanders, O(log n log log n) on hypercubes."""
    checks, curves = [], []
    for n in complete:
        found = measure(f"complete:{n}").high
        lab.note(graph=f"complete:{n}", mixing_time=found)
        checks.append(number_is(f"complete graph of {n}: τ by equation (1)", found, 1))
    for family, graphs, law, rival in families:
        sizes = [nodes_of(graph) for graph in graphs]
        times = [float(measure(graph, method="exact").high) for graph in graphs]
        for graph, time in zip(graphs, times, strict=True):
            lab.note(graph=graph, mixing_time=time)
        laws_of = {"log": LOG, "log loglog": LOG_LOGLOG, "log²": LOG_SQUARED}
        ratios = [time / float(laws_of[law].of(n)) for n, time in zip(sizes, times, strict=True)]
        what = f"{family}, n = {sizes[0]} … {sizes[-1]}: τ / ({laws_of[law].name}), largest over smallest"
        checks.append(number_at_most(what, max(ratios) / min(ratios), 1.5, "bounded"))
        curves.append(Series(family, sizes, times, kind="both"))
        curves += laws(sizes, [np.array([time]) for time in times], laws_of[law], laws_of[rival])[:1]
    plot = Plot("Mixing times, exact", "n", "τ", curves, logx=True)
    notes = "After one step on a complete graph a walk is not at its start, which is 1/n away from π*: τ is 2 (n ≥ 3)."
    headline = ", ".join(f"{one.label}: τ = {one.y[0]:.0f} … {one.y[-1]:.0f}" for one in curves if one.kind == "both")
    if complete:
        headline = f"τ = {', '.join(brief(check.figure) for check in checks)} on complete graphs of {complete}"
    return Outcome(checks, headline, [plot] if curves else [], notes=notes if complete else "")


def message_size(
    lab: Laboratory, referees: Definition = Referees, walks: Definition = Walks, *, sizes: Sequence[int], most: int
) -> Outcome:
    """Messages have O(log n) bits: those that the definitions declare, counted."""
    rows, largest = [], 0.0
    for n in sizes:
        one = referees(n=n)
        other = walks(n=n, mixing_time=5, lazy="no")
        bits = [one.message(kind="RANK", rank=1, wins=0).bits, other.message(kind="TOKEN", rank=1, count=1).bits]
        largest = max(largest, *(value / math.log2(n) for value in bits))
        lab.note(n=n, referees_bits=bits[0], walks_bits=bits[1])
        rows.append([f"{n:,}", *(f"{value}" for value in bits), *(f"{value / math.log2(n):.2f}" for value in bits)])
    check = number_at_most(
        f"bits of a message / log₂ n, largest for n = {sizes[0]:,} … {sizes[-1]:,}", largest, most, "O(log n)"
    )
    table = Table("Bits of the largest message", ["n", "referees", "walks", "referees / log n", "walks / log n"], rows)
    return Outcome([check], f"at most {largest:.1f}·log₂ n bits", [], [table])
