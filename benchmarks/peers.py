"""One measurement of a peer, in the peers' own environment, which has nothing of ours.

Reads one request as JSON from standard input and writes one line of JSON: the processor seconds of the set-up and of
the run, and what became of the agents. The peer is at its best: it is imported and has made one run before anything is
timed, and of several runs, each with a new simulation, the fastest set-up and the fastest run count.

The peers count time differently. In ppsim one unit of time is n
interactions of an ordered pair. In batss a reaction of two species has the rate of a chemical network, where a
pair reacts once per unit and volume whatever its order: half as often. So batss is given twice the time.
"""

import json
import sys
import time
import warnings
from functools import cache

MAJORITY = {("A", "B"): ("U", "U"), ("A", "U"): ("A", "A"), ("B", "U"): ("B", "B")}


def ppsim_majority(counts):
    import ppsim

    return ppsim.Simulation(counts, MAJORITY, seed=1), 1


def batss_majority(counts):
    import batss
    from batss.crn import species

    a, b, u = species("A B U")
    reactions = [a + b >> 2 * u, a + u >> 2 * a, b + u >> 2 * b]
    return batss.Simulation({a: counts["A"], b: counts["B"]}, reactions, seed=1), 2


@cache
def read_table(path):
    """The transition table of a protocol: next[i, j] are the states that i and j become. Reading it is not timed: the
    first run does it."""
    import numpy

    return numpy.load(path).tolist()


def ppsim_table(counts, path):
    import ppsim

    table = read_table(path)
    start = {int(state): number for state, number in counts.items()}
    return ppsim.Simulation(start, lambda i, j: tuple(table[i][j]), transition_order="asymmetric", seed=1), 1


def batss_table(counts, path):
    import batss
    from batss.crn import species

    table = read_table(path)
    names = species(" ".join(f"s{k}" for k in range(len(table))))
    rates = {}  # a pair reacts in either order, half of the time in each; equal reactions are added up
    for i, row in enumerate(table):
        for j, (k, m) in enumerate(row):
            reaction = (*sorted((i, j)), *sorted((k, m)))
            if reaction[:2] != reaction[2:]:
                rates[reaction] = rates.get(reaction, 0) + (1.0 if i == j else 0.5)
    reactions = [(names[i] + names[j] >> names[k] + names[m]).k(rate) for (i, j, k, m), rate in rates.items()]
    return batss.Simulation({names[int(state)]: number for state, number in counts.items()}, reactions, seed=1), 2


def measured(make, request: dict) -> tuple[float, float, object]:
    """Processor seconds of the set-up and of the run, and the simulation."""
    begin = time.process_time()
    simulation, scale = make(request["counts"], *request.get("table", []))
    started = time.process_time()
    duration = scale * request["time"]
    simulation.run(duration, history_interval=duration, stopping_interval=duration, timer=False)
    return started - begin, time.process_time() - started, simulation


def main() -> None:
    warnings.filterwarnings("ignore")
    request = json.loads(sys.stdin.read())
    make = globals()[f"{request['peer']}_{request['work']}"]
    runs = [measured(make, request)]  # the first loads and compiles; it counts only if it is the only one
    while len(runs) <= request["runs"]:
        runs.append(measured(make, request))
    counted = runs[1:] or runs
    counts = {str(getattr(s, "name", s)): int(number) for s, number in counted[-1][2].config_dict.items()}
    start, seconds = (min(run[k] for run in counted) for k in (0, 1))
    print(json.dumps({"start_seconds": start, "seconds": seconds, "counts": counts}))


if __name__ == "__main__":
    main()
