"""The oracle Omega? in experiments: exact runs of the protocol, from one report of absence to the next.

An oracle is a signal from outside: a pair of states does not show whether a leader exists elsewhere, so `interact`
cannot compute it. But as long as there is a leader the oracle changes nothing. So a run is an ordinary one
until it is safe or leaderless (`settled`); then the next agent to respond learns of the absence, at once,
which is the case that Table 1 of the ring paper is about. Lines 6 to 16 of P_RL with such an oracle are here, too.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hegemon.analysis.scaling import CUBE, SQUARE
from hegemon.claims.checks import always, follows, number_at_most
from hegemon.claims.drawing import laws, means, over_n
from hegemon.claims.laboratory import FEW, Definition, Laboratory, Sample, counted
from hegemon.claims.registry import Outcome
from hegemon.compute.randomness import generator
from hegemon.models import Bit, PopulationProtocol, Range, exactly, whole
from hegemon.models.configuration import Configuration
from hegemon.process.schedulers.uniform import UNIFORM
from hegemon.protocols.ring import DUMMY, LIVE, Ring, bullets_are_peaceful, is_leader
from hegemon.runs.setting import topology_for
from hegemon.runs.simulate import simulate

START, REPORT = 0, 1  # purposes of a trial's streams; segment k of a run has the seed SEED + k


def simulate_with_oracle(protocol: Any, start: str, seed: int, trial: int, max_steps: int) -> dict[str, int]:
    """One run to the safe set: its steps, and the number of reports."""
    configuration = protocol.initial(start, generator(seed, trial, START))
    rng, topology = generator(seed, trial, REPORT), topology_for(protocol)
    steps = reports = 0
    while True:
        left = max_steps - steps
        run = simulate(protocol, start=configuration, until="settled", seed=seed + reports, trial=trial, max_steps=left)
        steps += run.steps
        if run.leaders == 1 or not run.reached or steps >= max_steps:
            return {"steps": steps, "reached": run.reached and run.leaders == 1, "reports": reports}
        assert run.configuration is not None  # one run always keeps it
        agents = run.configuration.agents.copy().view(np.recarray)
        initiator, met = UNIFORM.meet(topology, lambda bound: int(rng.integers(bound)))
        responder = agents[met]
        protocol.interact(agents[initiator], responder, protocol.p)
        protocol.report_absence(responder)
        configuration = Configuration(protocol.space, agents=agents.view(np.ndarray))
        steps, reports = steps + 1, reports + 1


def with_oracle(lab: Laboratory, protocol: Definition, n: int, trials: int, start: str) -> Sample:
    """A protocol under an oracle that reports at once."""
    case = protocol(n=n)
    seed = lab.seed_for(protocol.id, n, start, "oracle")

    def compute() -> list[dict[str, Any]]:
        rows = []
        for trial in range(trials):
            lab.report(f"{protocol.id} with the oracle, n = {n}: {trial} of {trials}")
            row = {"protocol": protocol.id, "n": n, "start": start, "seed": seed, "trial": trial}
            rows.append(row | simulate_with_oracle(case, start, seed, trial, 20 * n**3))
            if len(rows) == FEW and not any(row["reached"] for row in rows):
                break
        return rows

    rows = lab.remember([protocol.id, n, trials, start, seed], compute)
    lab.rows += rows
    times = {met: np.array([row["steps"] for row in rows if row["reached"] == met], float) for met in (True, False)}
    return Sample(n, times[True], times[False])


def is_settled(agents: Any, p: Any) -> bool:
    leaders = 0
    for i in range(len(agents)):
        leaders += agents[i].leader
    return leaders == 0 or (leaders == 1 and bullets_are_peaceful(agents, p))


class OracleRing(PopulationProtocol):
    """Lines 6 to 16 of P_RL: how leaders are eliminated, without the distances by which their absence is detected."""

    needs_graph = "directed-ring"
    needs_oracle = True
    smallest_n = 3
    reaches = "settled"

    class State:
        leader: Bit  # type: ignore[valid-type]
        bullet: Range(0, 2)  # type: ignore[valid-type]
        shield: Bit  # type: ignore[valid-type]
        signal: Bit  # type: ignore[valid-type]

    def interact(l: Any, r: Any, p: Any) -> None:  # noqa: E741 - the paper's names: the left agent is the initiator
        if l.leader == 1 and l.signal == 1:  # lines 6-7
            l.bullet = LIVE
            l.shield = 1
            l.signal = 0
        if r.leader == 1 and r.signal == 1:  # lines 8-9
            r.bullet = DUMMY
            r.shield = 0
            r.signal = 0
        if l.bullet > 0 and r.leader == 1:  # lines 10-12
            if l.bullet == LIVE and r.shield == 0:
                r.leader = 0
            l.bullet = 0
        elif l.bullet > 0:  # lines 13-15
            if r.bullet == 0:
                r.bullet = l.bullet
            l.bullet = 0
            r.signal = 0
        l.signal = max(l.signal, r.signal, r.leader)  # line 16

    def report_absence(self, agent: Any) -> None:
        """Lines 3 to 5: a new leader, with a live bullet and a shield."""
        agent["leader"] = agent["shield"] = 1
        agent["bullet"], agent["signal"] = LIVE, 0

    start_all_leaders = Ring.start_all_leaders

    def start_no_leader(self, rng: np.random.Generator) -> np.ndarray:
        """Nothing anywhere: only the oracle can help."""
        return np.zeros(self.n, self.space.dtype)

    safe = (exactly(1, is_leader) & whole(bullets_are_peaceful)).described(
        "one leader, and every live bullet is peaceful", closed=True
    )
    settled = whole(is_settled).described("safe, or without a leader until the oracle says so", closed=True)


def oracle_ring(
    lab: Laboratory, protocol: Definition = OracleRing, *, sizes: Sequence[int], trials: int, starts: Sequence[str]
) -> Outcome:
    """Section 1.1: with an oracle the mechanism alone elects in O(n²) steps with O(1) states."""
    samples = {start: [with_oracle(lab, protocol, n, trials, start) for n in sizes] for start in starts}
    checks = [follows(f"{start}: steps", sizes, group, SQUARE, CUBE) for start, group in samples.items()]
    everything = [one for group in samples.values() for one in group]
    checks.append(always(f"one leader that stays, from {', '.join(starts)}", *counted(everything)))
    largest = max(protocol(n=n).states for n in sizes)
    checks.append(number_at_most(f"states at n = {', '.join(map(str, sizes))}", largest, 24, "24, whatever n is"))
    curves = [means(start, sizes, group) for start, group in samples.items()]
    plot = over_n(
        "Lines 6 to 16 of P_RL with an oracle", "steps", [*curves, *laws(sizes, samples[starts[0]], SQUARE, CUBE)]
    )
    notes = (
        "The oracle reports the absence of a leader at once, to the next agent that responds; the paper allows O(n²)."
    )
    return Outcome(checks, f"{everything[len(sizes) - 1].mean / sizes[-1] ** 2:.2f}·n² steps with 24 states", [plot],
                   notes=notes)  # fmt: skip
