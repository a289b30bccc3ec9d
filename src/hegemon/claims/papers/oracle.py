"""The oracle Omega? as an experiment has it: exact runs of the protocol, from one report of absence to the next.

An oracle is a signal from outside: no pair of states tells whether a leader exists elsewhere, so `interact`
cannot ask for it. But as long as there is a leader the oracle changes nothing. So a run is an ordinary one
until it is safe or leaderless (`settled`); then the next agent to respond hears of the absence, at once,
which is the case that Table 1 of the ring paper speaks of.
"""

import numpy as np

from hegemon.claims.laboratory import FEW, Sample
from hegemon.compute.randomness import generator
from hegemon.engines.schedulers.uniform import UNIFORM
from hegemon.models.configuration import Configuration
from hegemon.runs.setting import topology_for
from hegemon.runs.simulate import simulate

START, REPORT = 0, 1  # purposes of a trial's streams; segment k of a run has the seed SEED + k


def simulate_with_oracle(protocol, start: str, seed: int, trial: int, max_steps: int) -> dict:
    """One run to the safe set: its steps, and how many reports it took."""
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


def with_oracle(lab, protocol, n: int, trials: int, start: str) -> Sample:
    """Fischer and Jiang's protocol under an oracle that reports at once."""
    case = protocol(n=n)
    seed = lab.seed_for(protocol.id, n, start, "oracle")

    def compute() -> list[dict]:
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
