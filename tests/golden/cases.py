"""One small run for every engine, model and catalogue protocol, as the numbers that its seed gives.

`python -m tests.golden.cases` writes the table anew. Do that only when a change of numbers is meant, and say why.
"""

import hashlib
import json
from pathlib import Path

import hegemon as hg

TABLE = Path(__file__).with_name("numbers.json")


def digest(run) -> dict:
    """Where a run ended, down to every agent's state."""
    numbers = {"steps": run.steps, "reached": run.reached, "leaders": run.leaders, "engine": run.engine}
    if run.configuration is not None:
        codes, counts = run.configuration.multiset
        text = f"{codes.tolist()} {counts.tolist()}"
        numbers["states"] = hashlib.sha256(text.encode()).hexdigest()[:16]
    kept = ("messages", "candidates", "recovery_steps", "recovery_rounds", "fast_forwarded_rounds")
    return numbers | {name: run.measures[name] for name in kept if name in run.measures}


def simulated(protocol, **options):
    return lambda: [digest(hg.simulate(protocol(), seed=7, trial=trial, **options)) for trial in range(2)]


def verified(protocol, **options):
    def numbers():
        answer = hg.verify(protocol(), **options)
        found = {"configurations": answer.chain.size, "findings": [f"{f.question} {f.holds}" for f in answer.findings]}
        if answer.hitting is not None:
            found |= {"worst": round(answer.hitting.worst, 8), "mean": round(answer.hitting.mean, 8)}
        return found

    return numbers


ENGINES = ("agents", "events", "batch", "auto")
POPULATION = {
    "pairwise": (lambda: hg.Pairwise(n=50), {}),
    "pairwise-large": (lambda: hg.Pairwise(n=200_000), {"max_steps": 3_000_000}),
    "threshold": (lambda: hg.Threshold(n=40, k=10, marked=12), {}),
    "timer": (lambda: hg.Timer(n=20, s=30), {}),
    "timer-holding": (lambda: hg.Timer(n=8, s=12), {"start": "safe", "until": "broken", "max_steps": 10**6}),
    "epidemic": (lambda: hg.Epidemic(n=100), {}),
    "countdown": (lambda: hg.Countdown(n=60, top=20), {}),
    "quick-elimination": (lambda: hg.QuickElimination(n=64), {}),
    "time-optimal": (lambda: hg.TimeOptimal(n=30), {}),
    "time-optimal-records": (lambda: hg.TimeOptimal(n=30, r_max=5000, r_mid=3000, b_max=300), {"max_steps": 200_000}),
    "cai-izumi-wada": (lambda: hg.CaiIzumiWada(n=12), {}),
    "fault": (
        lambda: hg.TimeOptimal(n=30),
        {"faults": (hg.Fault(3000, 10), hg.Fault(20_000, 5, {"leader": 1}))},
    ),
    "condition": (lambda: hg.Timer(n=20, s=30), {"until": "all(timer >= 20) and count(leader == 1) <= 2"}),
    "steps": (lambda: hg.TimeOptimal(n=30), {"until": "steps:12345"}),
}
GRAPHS = {
    "ring": (lambda: hg.Ring(n=20), {"max_steps": 10**6}),
    "ring-closed-set": (lambda: hg.Ring(n=20), {"until": "C_PB"}),
    "fischer-jiang": (lambda: hg.FischerJiang(n=12), {"max_steps": 20_000}),
    "timer-torus": (lambda: hg.Timer(n=36, s=40), {"graph": "torus:6x6", "max_steps": 300_000}),
    "epidemic-regular": (lambda: hg.Epidemic(n=100), {"graph": "regular:100,4", "max_steps": 10**6}),
    "time-optimal-star": (lambda: hg.TimeOptimal(n=20), {"graph": "star:20", "max_steps": 100_000}),
}
CASES = {
    **{
        f"{name} {engine}": simulated(make, engine=engine, **options)
        for name, (make, options) in POPULATION.items()
        for engine in (ENGINES if name != "pairwise-large" else ("agents", "batch", "auto"))
    },
    **{
        f"{name} {engine}": simulated(make, engine=engine, **options)
        for name, (make, options) in GRAPHS.items()
        for engine in ("agents", "events", "auto")
    },
    "trains": simulated(lambda: hg.Trains(n=9), graph="grid:3x3", max_steps=10**6),
    "trains slow": simulated(lambda: hg.Trains(n=6), graph="ring:6", fast_forward=False, max_steps=3000),
    "trains fault": simulated(lambda: hg.Trains(n=8), graph="star:8", max_steps=10**6, faults=(hg.Fault(500, 3),)),
    "referees contacts": simulated(lambda: hg.Referees(n=2000), engine="contacts"),
    "referees nodes": simulated(lambda: hg.Referees(n=500), engine="nodes"),
    "referees wakeup": simulated(lambda: hg.Referees(n=500, variant="wakeup"), wake="random"),
    "referees explicit": simulated(lambda: hg.Referees(n=500, variant="explicit")),
    "walks tokens": simulated(lambda: hg.Walks(n=64), graph="torus:8x8", engine="tokens"),
    "walks nodes": simulated(lambda: hg.Walks(n=36), graph="torus:6x6", engine="nodes"),
    "flood-max": simulated(lambda: hg.FloodMax(n=30), graph="ring:30"),
    "afek-gafni": simulated(lambda: hg.AfekGafni(n=60)),
    "chang-roberts": simulated(lambda: hg.ChangRoberts(n=30)),
    "hirschberg-sinclair": simulated(lambda: hg.HirschbergSinclair(n=30), identifiers="decreasing"),
    "franklin uniform": simulated(lambda: hg.Franklin(n=30), delay="uniform:1..5", loss="1/1000"),
    "peterson exponential": simulated(lambda: hg.Peterson(n=30), delay="exponential:2", crashes=["round=40,nodes=1"]),
    "verify pairwise": verified(lambda: hg.Pairwise(n=20)),
    "verify timer": verified(lambda: hg.Timer(n=3, s=4)),
    "verify ring": verified(lambda: hg.Ring(n=2, N=3)),
    "verify time-optimal": verified(lambda: hg.TimeOptimal(n=3, r_max=4, r_mid=2, b_max=3, m=2)),
    "verify threshold": verified(lambda: hg.Threshold(n=5, k=3)),
}


def plain(numbers):
    return json.loads(json.dumps(numbers))


if __name__ == "__main__":
    table = {}
    for name, numbers in CASES.items():
        print(name, flush=True)
        table[name] = plain(numbers())
    TABLE.write_text(json.dumps(table, indent=1) + "\n")
