"""P_TO: the synchronization of section 5 (Lemmas 6 to 13), two agents, and the number of states."""

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hegemon.analysis.scaling import LOG, Law
from hegemon.claims.checks import always, follows, number_at_least, number_at_most, share_at_least
from hegemon.claims.drawing import laws, means
from hegemon.claims.laboratory import Definition, Laboratory, Sample, counted
from hegemon.claims.registry import Claim, Outcome, Plot
from hegemon.models.configuration import Configuration, Group
from hegemon.protocols.time_optimal import TimeOptimal
from hegemon.runs.simulate import simulate

LOG_CUBED = Law("log³ n", lambda n: np.log2(n) ** 3)
ELECTION_BEGINS = "count(phase == 'EL') >= 1"
CHECK_BEGINS = "count(phase == 'CH') >= 1"


def enters(until: str, starts: tuple[str, ...]) -> Callable[..., Outcome]:
    """An experiment on "quickly enters": parallel time to the stop, from these starts."""

    def experiment(
        lab: Laboratory, protocol: Definition = TimeOptimal, *, sizes: Sequence[int], trials: int
    ) -> Outcome:
        checks, curves, made = [], [], []
        for start in starts:
            samples = [parallel(lab, protocol, n, trials, start, until) for n in sizes]
            made += samples
            checks.append(follows(f"{start}: parallel time to {until}", sizes, samples, LOG, LOG_CUBED))
            curves.append(means(start, sizes, samples))
        checks.append(always(f"every run from {', '.join(starts)} gets there", *counted(made)))
        plot = Plot(f"Parallel time to {until}", "n", "parallel time",
                    [*curves, *laws(sizes, made[: len(sizes)], LOG, LOG_CUBED)], logx=True)  # fmt: skip
        slowest = max(sample.mean / math.log2(sample.n) for sample in made)
        return Outcome(checks, f"at most {slowest:.1f}·log n parallel time on average", [plot])

    return experiment


def parallel(lab: Laboratory, protocol: Definition, n: int, trials: int, start: str, until: str) -> Sample:
    options: dict[str, Any] = {"start": start, "until": until, "max_steps": 2000 * n * math.ceil(math.log2(n))}
    return lab.times(protocol(n=n), trials, **options).scaled(1 / n)


def first_times(
    lab: Laboratory, case: Any, trials: int, start: str, stops: tuple[str, ...], limit: int
) -> list[dict[str, Any]]:
    """When runs first meet each of several stops: the same run every time, since a stop changes no coins."""
    seed = lab.seed_for("first times", case.id, case.n, case.parameters, start)

    def compute() -> list[dict[str, Any]]:
        rows = []
        for trial in range(trials):
            runs = [simulate(case, start=start, until=stop, seed=seed, trial=trial, max_steps=limit) for stop in stops]
            times = [run.steps if run.reached else None for run in runs]
            rows.append({"protocol": case.id, "n": case.n, "start": start, "trial": trial, "times": times})
        return rows

    rows = lab.remember(["first times", case.id, case.n, case.parameters, start, stops, limit, trials], compute)
    lab.rows += [{**row, "times": " ".join(map(str, row["times"]))} for row in rows]
    return rows


def phases(first: str, begins: str, entered: str, back: str, timer: str) -> Callable[..., Outcome]:
    """Lemmas 7 and 8: from one phase into the other, without an agent that goes back, after Ω(τ n log n) steps."""

    def experiment(
        lab: Laboratory, protocol: Definition = TimeOptimal, *, sizes: Sequence[int], trials: int
    ) -> Outcome:
        checks, ratios = [], []
        for n in sizes:
            case, limit = protocol(n=n), 2000 * n * math.ceil(math.log2(n))
            rows = first_times(lab, case, trials, first, (entered, begins, back), limit)
            there = [row["times"] for row in rows if row["times"][0] is not None]
            good = sum(times[2] is None or times[0] <= times[2] for times in there)
            what = f"n = {n}: {first} leads into {entered}, nobody changing the phase again before"
            checks.append(share_at_least(what, good, len(rows), 0.9, "with very high probability (here ≥ 0.9)"))
            left = [times[1] for times in there if times[1] is not None]
            ratios.append(float(np.mean(left)) / (n * getattr(case, timer)) if left else 0.0)
        what = f"steps in the first phase / (n·{timer}), smallest for n = {', '.join(map(str, sizes))}"
        checks.append(number_at_least(what, min(ratios), 0.2, "Ω(1)"))
        return Outcome(checks, f"the phase lasts at least {min(ratios):.2f}·n·{timer} steps on average")

    return experiment


def losers(lab: Laboratory, protocol: Definition = TimeOptimal, *, sizes: Sequence[int], trials: int) -> Outcome:
    """Lemma 13: half of the agents are decided leaders of the lower of two levels; they all follow in O(n log n)."""
    samples = []
    for n in sizes:
        case = protocol(n=n)
        elector = {"leader": 1, "phase": "EL", "mode": "A", "done": 1}
        groups = [Group(n // 2, {**elector, "level": 0}), Group(n - n // 2, {**elector, "level": 1})]
        start = Configuration.from_groups(case.space, groups, None, as_multiset=True)
        options: dict[str, Any] = {
            "start": start,
            "label": "two levels",
            "max_steps": 2000 * n * math.ceil(math.log2(n)),
        }
        until = f"count(leader == 1 and level == 0) == 0 and count(leader == 1) <= {n - n // 2}"
        samples.append(lab.times(case, trials, until=until, **options).scaled(1 / n))
    checks = [
        follows("two levels: parallel time until the lower ones have yielded", sizes, samples, LOG, LOG_CUBED),
        always("every run gets there", *counted(samples)),
    ]
    plot = Plot("Leaders below the highest level", "n", "parallel time",
                [means("two levels", sizes, samples), *laws(sizes, samples, LOG, LOG_CUBED)], logx=True)  # fmt: skip
    return Outcome(
        checks, f"{samples[-1].mean / math.log2(sizes[-1]):.1f}·log n parallel time at n = {sizes[-1]:,}", [plot]
    )


def two_agents(lab: Laboratory, protocol: Definition = TimeOptimal, *, taus: Sequence[int]) -> Outcome:
    """Section 4.2: of two agents exactly one leads forever, from every configuration. All pairs of states."""
    checks = []
    for tau in taus:
        case = type("TwoAgents", (protocol,), {"smallest_n": 2})(n=2, tau=tau)
        space, size = case.space, case.space.size
        following = np.empty((size * size, 2), np.int64)
        for number in range(size * size):
            for k, (i, j) in enumerate(((0, 1), (1, 0))):
                pair = [copy.copy(space.namespace(number // size)), copy.copy(space.namespace(number % size))]
                case.interact(pair[i], pair[j], case.p)
                following[number, k] = space.code(pair[0]) * size + space.code(pair[1])
        leads = np.array([space.namespace(code).leader for code in range(size)])
        outputs = np.stack([leads[np.arange(size * size) // size], leads[np.arange(size * size) % size]], axis=1)
        stays = outputs.sum(axis=1) == 1  # the largest set with one leader in which no output changes
        while True:
            same = (outputs[following] == outputs[:, None, :]).all(axis=(1, 2))
            smaller = stays & same & stays[following].all(axis=1)
            if (smaller == stays).all():
                break
            stays = smaller
        reaches = stays.copy()
        while True:
            larger = reaches | reaches[following].any(axis=1)
            if (larger == reaches).all():
                break
            reaches = larger
        lab.note(protocol=protocol.id, n=2, tau=tau, configurations=size * size, settled=int(stays.sum()))
        what = f"τ = {tau}: one leader forever is reached with probability 1 from all pairs of states"
        checks.append(always(what, int(reaches.sum()), size * size, "self-stabilizing for n = 2"))
    return Outcome(checks, "of two agents exactly one leads forever, from every configuration")


def states(
    lab: Laboratory, protocol: Definition = TimeOptimal, *, sizes: Sequence[int], taus: Sequence[int]
) -> Outcome:
    """O(τ log n) states: counted."""
    ratios = []
    for n in sizes:
        for tau in taus:
            case = protocol(n=n, tau=tau)
            ratios.append(case.states / (tau * math.log2(n)))
            lab.note(protocol=protocol.id, n=n, tau=tau, states=case.states)
    what = f"states / (τ log n), largest over smallest, n = {sizes[0]:,} … {sizes[-1]:,}, τ = {taus[0]} … {taus[-1]}"
    check = number_at_most(what, max(ratios) / min(ratios), 2, "O(τ log n)")
    return Outcome([check], f"between {min(ratios):.0f} and {max(ratios):.0f}·τ log n states")


_SIZES = {
    "quick": {"sizes": (32, 128, 512), "trials": 20},
    "full": {"sizes": (100, 1000, 10_000, 100_000), "trials": 60},
}


def _sync(id: str, place: str, title: str, statement: str, experiment: Callable[..., Outcome], **other: Any) -> Claim:
    quick, full = other.get("quick", _SIZES["quick"]), other.get("full", _SIZES["full"])
    return Claim(f"to.{id}", place, title, statement, experiment, quick=quick, full=full)


_PHASES = {"quick": {"sizes": (32, 128), "trials": 60}, "full": {"sizes": (32, 128, 512, 2048), "trials": 300}}
ANY = ("tied-electors", "all-synchronizers", "random")

CLAIMS = (
    _sync("lemma6", "Lemma 6", "Synchronization is recovered",
          "From every configuration A_CH≥ is entered within O(τ n log n) steps with very high probability.",
          enters("A_CH_fresh", ANY)),
    _sync("lemma7", "Lemma 7", "The check phase",
          "From A_CH≥ the set C_EL≥ is entered in O(τ n log n) steps, nobody going back before, and A_CH is not left "
          "within Ω(τ n log n) steps.",
          # timers of this start are below r_max, so an agent with r_max has come back
          phases("barely-safe", ELECTION_BEGINS, "C_EL_fresh", "C_reset", "r_mid"), **_PHASES),
    _sync("lemma8", "Lemma 8", "The election phase",
          "From C_EL≥ the set A_CH≥ is entered in O(τ n log n) steps, nobody going to the election phase before, and "
          "A_EL is not left within Ω(τ n log n) steps.",
          # an agent goes to the election only after its timer has fallen below r_mid
          phases("fresh-electors", CHECK_BEGINS, "A_CH_fresh", "count(timer_r < r_mid) >= 1", "b_max"), **_PHASES),
    _sync("lemma9", "Lemma 9", "Leaders decide",
          "From A_EL all leaders have decided, or C_reset is entered, within O(τ n log n) steps.",
          enters("C_decided", ("fresh-electors",))),
    _sync("lemma10", "Lemma 10", "A synchronizer comes",
          "Once all leaders have decided, there is a synchronizer within O(τ n log n) steps.",
          enters("C_synchronizing", ("tied-electors",))),
    _sync("lemma11", "Lemma 11", "A synchronizer ends the phase",
          "From a configuration with a synchronizer C_reset is entered within O(τ n log n) steps.",
          enters("C_reset", ("all-synchronizers",))),
    _sync("lemma12", "Lemma 12", "C_reset is entered",
          "From every configuration C_reset is entered within O(τ n log n) steps.",
          enters("C_reset", ("tied-electors", "barely-safe", "fresh-electors"))),
    _sync("lemma13", "Lemma 13", "Losers follow",
          "Leaders below the highest level become followers within O(n log n) steps.", losers),
    _sync("two-agents", "section 4.2", "Two agents", "For n = 2 the protocol is self-stabilizing.", two_agents,
          quick={"taus": (1,)}, full={"taus": (1, 2, 4)}),
    _sync("states", "section 1, Table 1", "O(τ log n) states", "The protocol has O(τ log n) states.", states,
          quick={"sizes": (10, 10**3, 10**6, 10**9), "taus": (1, 2, 4)},
          full={"sizes": tuple(10**k for k in range(1, 13)), "taus": (1, 2, 4, 8)}),
)  # fmt: skip
