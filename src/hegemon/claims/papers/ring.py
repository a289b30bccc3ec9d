"""P_RL on directed rings: how fast leaders are created and eliminated, and Table 1 measured."""

from collections.abc import Callable, Sequence

from hegemon.analysis.scaling import CUBE, SQUARE, Law
from hegemon.claims.checks import always, follows, number_at_most, number_is
from hegemon.claims.drawing import laws, means, over_n
from hegemon.claims.laboratory import Cases, Definition, Laboratory, Sample, counted
from hegemon.claims.papers.compared import ENDLESS, Measured, Row, cited_line, every_run_ends, measure, table
from hegemon.claims.papers.oracle import oracle_ring, with_oracle
from hegemon.claims.papers.ring_leaders import by_a_twelfth, of_three
from hegemon.claims.papers.ring_lemmas import (
    becomes_secure,
    claim1,
    claim2,
    fires_modest,
    insecure_by_the_left,
    keeps_outputs,
    lemma1,
    lemma7,
    one_step,
    stays,
    stays_modest,
)
from hegemon.claims.papers.ring_small import small_ring, worst_time
from hegemon.claims.registry import Check, Claim, Outcome, Plot
from hegemon.claims.settling import settles
from hegemon.exact.verification import verify
from hegemon.protocols.fischer_jiang import FischerJiang
from hegemon.protocols.odd_ring import OddRing
from hegemon.protocols.ring import Ring

STARTS = ("random", "all-leaders", "no-leader")
FOURTH = Law("n⁴", lambda n: n**4)


def creation(
    lab: Laboratory, protocol: Definition = Ring, *, exact: Cases, sizes: Sequence[int], trials: int
) -> Outcome:
    """Lemma 10: without a leader one is created within 3nN expected steps, from the worst of all such starts."""
    checks, found = [], []
    for n, N in exact:
        lab.report(f"all configurations of n = {n}, N = {N} without a leader")
        world = small_ring(protocol, n, N)
        rows = world.every()
        worst = worst_time(world, rows[world.get(rows, "leader").sum(axis=1) == 0])
        found.append(worst / (n * N))
        lab.note(protocol=protocol.id, n=n, N=N, worst_expected_steps=worst)
        what = f"n = {n}, N = {N}: expected steps to a leader from the worst start without one (exact)"
        checks.append(number_at_most(what, worst, 3 * n * N, f"at most 3nN = {3 * n * N}"))
    samples = [
        lab.times(protocol(n=n), trials, start="no-leader", until=A_LEADER, max_steps=200 * n * n) for n in sizes
    ]
    checks.append(follows("no-leader: steps to a leader, N = n", sizes, samples, SQUARE, CUBE))
    return Outcome(checks, f"at most {max(found):.2f}·nN expected steps from the worst start of small rings")


def to_c_ni(
    lab: Laboratory, protocol: Definition = Ring, *, exact: Cases, sizes: Sequence[int], trials: int
) -> Outcome:
    """Lemma 11: times in runs, and on small rings the last part of the proof, from C′ to C_NI, exactly."""
    found = times_to("C_NI", ("no-leader", "random"))(lab, protocol, sizes=sizes, trials=trials)
    for n, N in exact:
        world = small_ring(protocol, n, N)
        rows = world.every()
        rows = rows[world.inside(rows, "C_prime") & ~world.inside(rows, "C_NI")]
        worst = worst_time(world, rows)
        lab.note(protocol=protocol.id, n=n, N=N, worst_expected_steps=worst)
        what = f"n = {n}, N = {N}: expected steps from the worst configuration of C′ to C_NI (exact)"
        found.checks.append(number_at_most(what, worst, n * n, f"at most n² = {n * n}"))
    return found


def times_to(name: str, starts: tuple[str, ...]) -> Callable[..., Outcome]:
    """Lemmas 11 and 13: expected steps into a set, from the slowest starts known."""

    def experiment(lab: Laboratory, protocol: Definition = Ring, *, sizes: Sequence[int], trials: int) -> Outcome:
        checks, curves, made = [], [], []
        for start in starts:
            limit = [200 * n * n for n in sizes]
            samples = [lab.times(protocol(n=n), trials, start=start, until=name, max_steps=most)
                       for n, most in zip(sizes, limit, strict=True)]  # fmt: skip
            made += samples
            checks.append(follows(f"{start}: steps to {name}, N = n", sizes, samples, SQUARE, CUBE))
            curves.append(means(start, sizes, samples))
        checks.append(always(f"every run from {', '.join(starts)} gets there", *counted(made)))
        plot = over_n(f"Steps to {name}", "steps", [*curves, *laws(sizes, made[: len(sizes)], SQUARE, CUBE)])
        return Outcome(checks, f"{made[len(sizes) - 1].mean / sizes[-1] ** 2:.2f}·n² steps at n = {sizes[-1]}", [plot])

    return experiment


A_LEADER = "count(leader == 1) >= 1"


def theorem1(
    lab: Laboratory, protocol: Definition = Ring, *, sizes: Sequence[int], trials: Sequence[int], ratios: Sequence[int],
    ratio_trials: int, exact: Cases, alike: Cases,
) -> Outcome:  # fmt: skip
    checks: list[Check] = []
    samples: dict[str, list[Sample]] = {start: [] for start in STARTS}
    for start in STARTS:
        for n, number in zip(sizes, trials, strict=True):
            samples[start].append(lab.times(protocol(n=n), number, start=start, max_steps=200 * n * n))
    by_ratio = {1: samples["no-leader"]}
    for ratio in ratios:
        by_ratio[ratio] = []
        for n in sizes:
            case = protocol(n=n, N=ratio * n)
            by_ratio[ratio].append(lab.times(case, ratio_trials, start="no-leader", max_steps=200 * n * case.N))
    good, made = counted(sample for group in (*samples.values(), *by_ratio.values()) for sample in group)
    checks.append(always(f"one leader from {', '.join(STARTS)}", good, made))
    for n, N in exact:
        answer = verify(protocol(n=n, N=N), property="reached")
        lab.note(protocol=protocol.id, n=n, N=N, configurations=answer.chain.size, reached=answer.findings[0].holds)
        what = f"n = {n}, N = {N}: safe is reached with probability 1 from every configuration (exact)"
        checks.append(always(what, int(answer.findings[0].holds), 1, "self-stabilizing"))
    for n, N, random in alike:  # beyond what can be enumerated
        checks += settles(lab, protocol(n=n, N=N), limit=400 * n * N, watch=20 * n * N, random=random)
    for start in STARTS:
        checks.append(follows(f"{start}: steps at N = n", sizes, samples[start], SQUARE, CUBE))
    for ratio in ratios:
        checks.append(follows(f"no-leader: steps at N = {ratio}n", sizes, by_ratio[ratio], SQUARE, CUBE))
    linear, square = Law("N", lambda N: N), Law("N²", lambda N: N**2)
    N = sizes[-1]
    bounds, as_bound_grows = [ratio * N for ratio in by_ratio], [values[-1] for values in by_ratio.values()]
    checks.append(follows(f"no-leader: steps at n = {N:,} as N grows", bounds, as_bound_grows, linear, square))
    checks.append(number_is(f"states at N = {N:,}", protocol(n=N).states, 24 * (N + 1)))
    plots = [
        over_n(
            "Convergence on rings, N = n",
            "steps",
            [means(start, sizes, samples[start]) for start in STARTS] + laws(sizes, samples["random"], SQUARE, CUBE),
        ),
        Plot(
            "Too large an N: no leader at the start",
            "n",
            "steps / (nN)",
            [
                means(
                    f"N = {ratio}n", sizes, [v.scaled(1 / (ratio * n**2)) for n, v in zip(sizes, values, strict=True)]
                )
                for ratio, values in by_ratio.items()
            ],
            logx=True,
        ),
    ]
    constant = samples["random"][-1].mean / N**2
    headline = f"{good:,} of {made:,} runs elect one leader; {constant:.2f}·n² steps at n = N = {N:,}"
    return Outcome(checks, headline, plots)


def table1(
    lab: Laboratory, protocol: Definition = Ring, oracle_protocol: Definition = FischerJiang,
    barriers: Definition = OddRing, *, sizes: Sequence[int], trials: int, oracle_sizes: tuple[int, ...],
    oracle_trials: int, odd_sizes: Sequence[int], odd_trials: int, every_sizes: Sequence[int], every_trials: int,
) -> Outcome:  # fmt: skip
    """Every row of the table: measured, measured with a stand-in, or cited."""

    def steps(row: Row, chosen: Sequence[int], number: int) -> Measured:
        return measure(lab, row, chosen, number, lambda n: 1.0, lambda n: 200 * n**3)

    yokota = Row(
        "Yokota et al. 2021 (P_RL)", "N ≥ n", "O(nN)", ENDLESS, lambda n: protocol(n=n), "all-leaders", SQUARE, CUBE
    )
    fischer = Row(
        "Fischer, Jiang 2006", "oracle Ω?", "Θ(n³)", ENDLESS, lambda n: oracle_protocol(n=n), "opposed", CUBE, FOURTH,
        held=f"{ENDLESS} (while the oracle speaks the truth)",
    )  # fmt: skip
    angluin = Row(
        "odd-ring", "k does not divide n", "Θ(n³)", ENDLESS, lambda n: barriers(n=n), "three-barriers", CUBE, FOURTH,
        stands_for="[3]",
    )  # fmt: skip
    beyond = Row(
        "odd-ring, k = N + 1", "N ≥ n", "O(n³)", ENDLESS, lambda n: barriers(n=n, k=n + 1), "three-barriers", CUBE,
        FOURTH,
    )  # fmt: skip
    opposed, random = (
        Measured(fischer, oracle_sizes, [with_oracle(lab, oracle_protocol, n, number, s) for n in oracle_sizes])
        for s, number in (("opposed", oracle_trials), ("random", oracle_trials // 5))  # the law is about the slow start
    )
    ours, odd = steps(yokota, sizes, trials), steps(angluin, odd_sizes, odd_trials)
    measured = [ours, opposed, odd, steps(beyond, every_sizes, every_trials)]
    checks = [one.check("steps") for one in measured]
    for one in (opposed, odd):
        checks.append(follows(f"{one.title}: steps", one.sizes, one.samples, CUBE, SQUARE, "Ω"))
    checks.append(every_run_ends([*measured, random], "every run ends with one leader that stays"))
    lines = [one.line() for one in measured]
    lines.insert(3, cited_line("chen-chen-2019", ENDLESS))
    curves = [one.series() for one in measured]
    curves.append(means("Fischer, Jiang 2006, random start", oracle_sizes, random.samples))
    plot = over_n("Steps to one leader on a ring", "steps", curves)
    notes = (
        "All four rows, and a by-product. Chen and Chen 2019 is cited. Row [3] (Angluin et al. 2008) is measured with "
        "a stand-in of this project (`odd-ring`, whose barriers are their idea), from three barriers as far apart as "
        "possible; with k = N + 1 it elects on every ring of at most N agents, the assumption of P_RL, in n³ steps "
        "instead of nN. The oracle is simulated: it reports the absence of a leader at once, to the next agent that "
        "responds. The slow case of Fischer and Jiang has two shields that must meet by chance."
    )
    headline = f"{ours.growth} for P_RL against {opposed.growth} with an oracle and {odd.growth} with barriers"
    return Outcome(checks, headline, [plot], [table("Table 1, every row, in steps", lines)], notes)


_SMALL = {"exact": ((2, 2), (2, 3), (3, 3)), "sampled": ((4, 4, 4000), (6, 6, 3000))}
_LARGE = {
    "exact": ((2, 2), (2, 3), (2, 5), (2, 8), (3, 3), (3, 4)),
    "sampled": ((4, 4, 100_000), (5, 6, 50_000), (7, 7, 20_000), (8, 12, 20_000)),
}


def _one_step(
    id: str,
    place: str,
    title: str,
    text: str,
    experiment: Callable[..., Outcome],
    quick: dict[str, tuple[tuple[int, ...], ...]] = _SMALL,
) -> Claim:
    return Claim(f"ring.{id}", place, title, text, experiment, quick=quick, full=_LARGE)


_SMALLER = {**_SMALL, "exact": ((2, 2), (2, 3))}  # where all configurations count, not only those of a set


CLAIMS = (
    Claim(
        "ring.lemma1",
        "Lemma 1",
        "Bullets move fewer than N times",
        "Every bullet disappears before it has moved N times.",
        lemma1,
        quick={"pairs": (2, 3, 4, 6), "cases": ((4, 4), (6, 6), (6, 12), (10, 10)), "trials": 4, "steps": 10_000},
        full={"pairs": (2, 3, 4, 6, 9, 16), "cases": ((4, 4), (6, 6), (6, 12), (10, 10), (16, 16), (16, 32), (24, 24)),
              "trials": 40, "steps": 50_000},
    ),
    _one_step("lemma2", "Lemma 2", "C_PB is closed",
              "Once there is a leader and every live bullet is peaceful, it stays that way: a leader always exists.",
              one_step(stays("C_PB"), "C_PB", "stays in C_PB")),
    _one_step("lemma3", "Lemma 3", "A modest bullet stays modest", "A modest bullet never becomes non-modest.",
              one_step(stays_modest, "", "stays modest until it disappears"), _SMALLER),
    _one_step("lemma4", "Lemma 4", "A new live bullet is modest", "A newly fired live bullet is modest.",
              one_step(fires_modest, "", "is modest"), _SMALLER),
    _one_step("lemma5", "Lemma 5", "Insecurity comes from the left",
              "Where all live bullets are modest, a secure agent becomes insecure only by meeting an insecure left "
              "neighbour.",
              one_step(insecure_by_the_left, "", "only by an insecure left neighbour"), _SMALLER),
    _one_step("lemma6", "Lemma 6", "C_NI is closed",
              "Once, besides, all agents are secure and all live bullets modest, it stays that way.",
              one_step(stays("C_NI"), "C_NI", "stays in C_NI")),
    _one_step("lemma7", "Lemma 7", "No leader is created in C_NI",
              "From C_NI on no follower ever becomes a leader.",
              lemma7),
    _one_step("lemma8", "Lemma 8", "S_RL is safe",
              "From a configuration in C_NI with exactly one leader, that agent is the leader forever and no other is.",
              one_step(keeps_outputs, "safe", "stays in S_RL with the same outputs")),
    Claim(
        "ring.lemma10",
        "Lemma 10",
        "A leader is created in O(nN) steps",
        "Without a leader, one is created within 3nN expected steps.",
        creation,
        quick={"exact": ((2, 2), (2, 4)), "sizes": (16, 32, 64), "trials": 16},
        full={"exact": ((2, 2), (2, 4), (2, 8), (3, 3), (3, 4)), "sizes": (16, 32, 64, 128, 256, 512), "trials": 60},
    ),
    Claim(
        "ring.lemma11",
        "Lemma 11",
        "C_NI is reached in O(nN) steps",
        "From every configuration C_NI is reached within O(nN) expected steps.",
        to_c_ni,
        quick={"exact": ((2, 2), (3, 3)), "sizes": (16, 32, 64), "trials": 20},
        full={"exact": ((2, 2), (2, 4), (3, 3), (3, 4)), "sizes": (16, 32, 64, 128, 256, 512), "trials": 60},
    ),
    Claim(
        "ring.lemma11.claim1",
        "Lemma 11, Claim 1",
        "Who has been a leader stays secure",
        "In Ξ′, once an agent has become a leader it is secure from then on.",
        claim1,
        quick={"cases": ((3, 3, 2000), (5, 6, 2000)), "steps": 100},
        full={"cases": ((3, 3, 20_000), (5, 6, 20_000), (8, 12, 20_000)), "steps": 1000},
    ),
    _one_step("lemma11.claim2", "Lemma 11, Claim 2", "A secure left neighbour makes secure",
              "In Ξ′, an insecure agent becomes secure when it meets its left neighbour while that one is secure.",
              claim2),
    _one_step("lemma11.claim2.repaired", "Lemma 11, Claim 2, repaired", "… unless it carries a bullet",
              "In Ξ′, an insecure agent that carries no bullet becomes secure when it meets its secure left neighbour.",
              one_step(becomes_secure(repaired=True), "C_prime", "secure")),
    Claim(
        "ring.lemma12",
        "Lemma 12",
        "Of three neighbouring leaders one yields in O(n(d1 + d2)) steps",
        "From every configuration of C_NI one of three neighbouring leaders, at distances d1 and d2, becomes a "
        "follower within O(n(d1 + d2)) expected steps.",
        of_three,
        quick={"exact": ((2, 2), (2, 3), (3, 3)), "n": 256, "gaps": (4, 16, 64), "sizes": (64, 256, 1024), "gap": 4,
               "trials": 48},
        full={"exact": ((2, 2), (2, 3), (2, 8), (3, 3), (3, 4)), "n": 1024, "gaps": (4, 8, 16, 32, 64, 128, 256),
              "sizes": (64, 256, 1024, 4096), "gap": 4, "trials": 200},
    ),
    Claim(
        "ring.lemma13.claim3",
        "Lemma 13, Claim 3",
        "Leaders fall by a factor 12/11 in O(n²/α^k) steps",
        "From every configuration of C_NI with at most α^(k+1) leaders, α = 12/11, at most α^k are left within "
        "O(n²/α^k) expected steps.",
        by_a_twelfth,
        quick={"n": 256, "numbers": (6, 24, 96), "sizes": (96, 192, 384), "few": 12, "trials": 48},
        full={"n": 1536, "numbers": (6, 12, 24, 48, 96, 192, 384, 768), "sizes": (96, 192, 384, 768, 1536),
              "few": 12, "trials": 200},
    ),
    Claim(
        "ring.lemma13",
        "Lemma 13",
        "From C_NI to one leader in O(n²) steps",
        "From every configuration of C_NI one leader is left within O(n²) expected steps.",
        times_to("safe", ("all-leaders",)),
        quick={"sizes": (16, 32, 64), "trials": 30},
        full={"sizes": (16, 32, 64, 128, 256, 512), "trials": 60},
    ),
    Claim(
        "ring.thm1",
        "Theorem 1",
        "Self-stabilizing election in O(nN) steps with 24(N + 1) states",
        "On directed rings of any size n ≤ N, P_RL reaches a safe configuration from every start within O(nN) "
        "expected steps.",
        theorem1,
        quick={"sizes": (16, 64, 256), "trials": (24, 24, 16), "ratios": (3, 4), "ratio_trials": 24,
               "exact": ((2, 2), (2, 4), (2, 6), (3, 3)), "alike": ((4, 4, 30), (5, 5, 0))},
        full={"sizes": (10, 100, 1000, 10_000, 100_000), "trials": (200, 200, 100, 60, 20),
              "ratios": (2, 3, 4), "ratio_trials": 12,
              "exact": ((2, 2), (2, 4), (2, 6), (2, 8), (3, 3), (3, 4)),
              "alike": ((4, 4, 500), (5, 8, 500), (12, 12, 500))},
    ),
    Claim(
        "ring.oracle",
        "section 1.1, oracle",
        "Lines 6 to 16 with an oracle: O(n²) steps, O(1) states",
        "With an oracle that reports the absence of a leader, the elimination of leaders alone elects one from every "
        "configuration in O(n²) expected steps with O(1) states.",
        oracle_ring,
        quick={"sizes": (16, 32, 64), "trials": 20, "starts": ("all-leaders", "random")},
        full={"sizes": (16, 32, 64, 128, 256), "trials": 100, "starts": ("all-leaders", "random", "no-leader")},
    ),
    Claim(
        "ring.table1",
        "Table 1",
        "The compared ring systems, measured side by side",
        "With O(1) states an oracle, or a k that does not divide n, leads to one leader in Θ(n³) steps; without any "
        "assumption it takes exponentially many; P_RL, which knows N ≥ n, needs O(nN) with O(N) states.",
        table1,
        quick={"sizes": (16, 32, 64), "trials": 30, "oracle_sizes": (16, 32, 64), "oracle_trials": 100,
               "odd_sizes": (33, 65, 129), "odd_trials": 60, "every_sizes": (32, 64, 128), "every_trials": 60},
        full={"sizes": (16, 32, 64, 128, 256, 512), "trials": 100, "oracle_sizes": (16, 32, 64, 128, 256),
              "oracle_trials": 200, "odd_sizes": (33, 65, 129, 257, 513), "odd_trials": 100,
              "every_sizes": (32, 64, 128, 256, 512), "every_trials": 60},
    ),
)  # fmt: skip
