"""P_RL on directed rings: what bullets do, which sets are closed, how fast it is, and Table 1 measured."""

import numpy as np

from hegemon.analysis.scaling import CUBE, SQUARE, Law
from hegemon.claims.checks import always, follows, number_at_most, number_is
from hegemon.claims.drawing import laws, means
from hegemon.claims.laboratory import Sample, counted
from hegemon.claims.papers.compared import ENDLESS, Measured, Row, cited_line, every_run_ends, measure, table
from hegemon.claims.papers.oracle import with_oracle
from hegemon.claims.registry import Check, Claim, Outcome, Plot, Series
from hegemon.compute.randomness import generator
from hegemon.exact.chain import Chain
from hegemon.exact.verification import verify
from hegemon.protocols.fischer_jiang import FischerJiang
from hegemon.protocols.odd_ring import OddRing
from hegemon.protocols.ring import Ring
from hegemon.runs.simulate import simulate

STARTS = ("random", "all-leaders", "no-leader")
FOURTH = Law("n⁴", lambda n: n**4)


def longest_flight(protocol, rng, steps: int) -> tuple[int, int]:
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


def lemma1(lab, protocol=Ring, *, cases, trials, steps) -> Outcome:
    checks, flights, ended = [], [], 0
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


def stays(lab, protocol, name: str, n: int, trials: int, looks: int) -> tuple[int, int]:
    """Runs into the set, then as many looks at the configuration, n steps apart: how often it was inside."""
    case, inside = protocol(n=n), 0
    seed = lab.seed_for(protocol.id, n, name, "stays")
    for trial in range(trials):
        lab.report(f"{name} on n = {n}: run {trial + 1} of {trials}")
        run = simulate(case, until=name, seed=seed, trial=trial, max_steps=1000 * n * n)
        for look in range(looks):
            run = simulate(case, start=run.configuration, until=f"steps:{n}", seed=seed + 1 + look, trial=trial)
            assert run.configuration is not None  # one run always keeps it
            agents = run.configuration.agents.view(np.recarray)
            inside += bool(case.sets[name].contains(agents, case.p, case.values))
    lab.note(protocol=protocol.id, n=n, set=name, looks=trials * looks, inside=inside)
    return inside, trials * looks


def closed_set(name: str, keeps_leader: bool = False):
    """The experiment on one of the nested sets: exact on small rings, looked at again and again on larger ones."""

    def experiment(lab, protocol=Ring, *, exact, sizes, trials, looks) -> Outcome:
        checks, covered = [], 0
        for n, N in exact:
            lab.report(f"all configurations of n = {n}, N = {N}")
            answer = verify(protocol(n=n, N=N), property=f"closed:{name}")
            assert isinstance(answer.chain, Chain)  # these rings are small enough to be stored
            members = int(answer.chain.labelled[answer.inside].sum())
            covered += members
            closed = answer.finding("closed", name)
            lab.note(protocol=protocol.id, n=n, N=N, set=name, members=members, closed=closed.holds)
            what = f"n = {n}, N = {N}: no step leaves the set ({members:,} configurations, all of them)"
            checks.append(always(what, int(closed.holds), 1, "closed"))
            if keeps_leader:
                kept = verify(protocol(n=n, N=N), property=f"leader:{name}").finding("leader", name)
                what = f"n = {n}, N = {N}: one leader, and no output ever changes"
                checks.append(always(what, int(kept.holds), 1, "safe"))
        inside = looked = 0
        for n in sizes:
            there, looks_made = stays(lab, protocol, name, n, trials, looks)
            inside, looked = inside + there, looked + looks_made
        what = f"n = {', '.join(map(str, sizes))}: still inside when looked at"
        checks.append(always(what, inside, looked, "closed"))
        headline = f"exact on {covered:,} member configurations; inside at {inside:,} of {looked:,} later looks"
        return Outcome(checks, headline)

    return experiment


def theorem1(lab, protocol=Ring, *, sizes, trials, ratios, ratio_trials, exact) -> Outcome:
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
        Plot(
            "Convergence on rings, N = n",
            "n",
            "steps",
            [means(start, sizes, samples[start]) for start in STARTS] + laws(sizes, samples["random"], SQUARE, CUBE),
            logx=True,
            logy=True,
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
    lab, protocol=Ring, oracle_protocol=FischerJiang, barriers=OddRing, *, sizes, trials, oracle_sizes, oracle_trials,
    odd_sizes, odd_trials, every_sizes, every_trials,
) -> Outcome:  # fmt: skip
    """Every row of the table: measured, measured with a stand-in, or cited."""

    def steps(row, chosen, number):
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
    plot = Plot("Steps to one leader on a ring", "n", "steps", curves, logx=True, logy=True)
    notes = (
        "All four rows, and a by-product. Chen and Chen 2019 is cited. Row [3] (Angluin et al. 2008) is measured with "
        "a stand-in of this project (`odd-ring`, whose barriers are their idea), from three barriers as far apart as "
        "possible; with k = N + 1 it elects on every ring of at most N agents, the assumption of P_RL, in n³ steps "
        "instead of nN. The oracle is simulated: it reports the absence of a leader at once, to the next agent that "
        "responds. The slow case of Fischer and Jiang has two shields that must meet by chance."
    )
    headline = f"{ours.growth} for P_RL against {opposed.growth} with an oracle and {odd.growth} with barriers"
    return Outcome(checks, headline, [plot], [table("Table 1, every row, in steps", lines)], notes)


_SMALL = {"exact": ((2, 2), (2, 3), (3, 3)), "sizes": (8, 16), "trials": 10, "looks": 15}
_LARGE = {
    "exact": ((2, 2), (2, 3), (2, 5), (2, 8), (3, 3), (3, 4)), "sizes": (8, 16, 32, 64), "trials": 50, "looks": 100
}  # fmt: skip

CLAIMS = (
    Claim(
        "ring.lemma1",
        "ring",
        "Lemma 1",
        "Bullets move fewer than N times",
        "Every bullet disappears before it has moved N times.",
        lemma1,
        quick={"cases": ((4, 4), (6, 6), (6, 12), (10, 10)), "trials": 10, "steps": 10_000},
        full={"cases": ((4, 4), (6, 6), (6, 12), (10, 10), (16, 16), (16, 32), (24, 24)), "trials": 40,
              "steps": 50_000},
    ),
    Claim(
        "ring.lemma2",
        "ring",
        "Lemma 2",
        "C_PB is closed",
        "Once there is a leader and every live bullet is peaceful, it stays that way: a leader always exists.",
        closed_set("C_PB"),
        quick=_SMALL,
        full=_LARGE,
    ),
    Claim(
        "ring.lemma6",
        "ring",
        "Lemma 6",
        "C_NI is closed",
        "Once, besides, all agents are secure and all live bullets modest, it stays that way: no leader is created.",
        closed_set("C_NI"),
        quick=_SMALL,
        full=_LARGE,
    ),
    Claim(
        "ring.lemma8",
        "ring",
        "Lemma 8",
        "S_RL is safe",
        "From a configuration in C_NI with exactly one leader, that agent is the leader for ever and no other is.",
        closed_set("safe", keeps_leader=True),
        quick=_SMALL,
        full=_LARGE,
    ),
    Claim(
        "ring.thm1",
        "ring",
        "Theorem 1",
        "Self-stabilizing election in O(nN) steps with 24(N + 1) states",
        "On directed rings of any size n ≤ N, P_RL reaches a safe configuration from every start within O(nN) "
        "expected steps.",
        theorem1,
        quick={"sizes": (16, 64, 256), "trials": (24, 24, 16), "ratios": (2, 4), "ratio_trials": 24,
               "exact": ((2, 2), (2, 4), (3, 3))},
        full={"sizes": (10, 100, 1000, 10_000, 100_000), "trials": (200, 200, 100, 60, 20),
              "ratios": (2, 4), "ratio_trials": 12,
              "exact": ((2, 2), (2, 4), (2, 8), (3, 3), (3, 4))},
    ),
    Claim(
        "ring.table1",
        "ring",
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
