"""A run that is stopped at a limit is the beginning of the whole run, and says how long it was, in every engine."""

import pytest

import hegemon as hg
from hegemon import parts
from hegemon.engines.messages.nodes import Nodes

LIMITS = range(21)
LISTED = [3, 1, 4, 1, 9]
CASES = {
    **{f"referees {variant}": (hg.Referees(n=5, variant=variant), {}) for variant in ("implicit", "explicit")},
    **{
        f"referees wakeup {wake if isinstance(wake, str) else 'listed'}": (
            hg.Referees(n=5, variant="wakeup", candidates=4, referees=2),
            {"wake": wake},
        )
        for wake in ("all", "one-by-one", "random", LISTED)
    },
    "referees without candidates": (hg.Referees(n=5, candidates=0), {}),
    "referees that ask nobody": (hg.Referees(n=5, referees=0), {}),
    "walks": (hg.Walks(n=6, mixing_time=7), {"graph": "ring:6"}),
    "walks without candidates": (hg.Walks(n=6, candidates=0, mixing_time=3), {"graph": "ring:6"}),
    "flood-max": (hg.FloodMax(n=6), {"graph": "path:6"}),
    "itai-rodeh": (hg.ItaiRodeh(n=5), {"graph": "oriented-ring:5"}),
    "afek-gafni": (hg.AfekGafni(n=6), {}),
}
FAST = {"referees": "contacts", "walks": "tokens"}
RUNS = [(name, engine) for name in CASES for engine in ("nodes", FAST.get(name.split()[0])) if engine]


def told(run) -> tuple:
    return run.steps, run.reached, run.leaders, run.measures


def faults(name: str, engine: str, seed: int) -> list[str]:
    """What is wrong with the runs that are stopped after 0, 1, 2, … rounds."""
    protocol, options = CASES[name]
    whole = hg.simulate(protocol, engine=engine, seed=seed, **options)
    found, messages = [], 0
    for limit in LIMITS:
        run = hg.simulate(protocol, engine=engine, seed=seed, max_steps=limit, **options)
        if run.steps != min(limit, whole.steps):
            found.append(f"{name}, {engine}: {run.steps} rounds within {limit}, of {whole.steps}")
        if limit >= whole.steps and told(run) != told(whole):
            found.append(f"{name}, {engine}: a limit of {limit} changes a run of {whole.steps} rounds")
        if limit < whole.steps and (run.reached or run.measures.get("cause", "round limit") != "round limit"):
            found.append(f"{name}, {engine}: stopped after {limit} rounds, {run.reached}, {run.measures.get('cause')}")
        if not messages <= run.measures["messages"] <= whole.measures["messages"]:
            found.append(f"{name}, {engine}: {run.measures['messages']} messages within {limit}, {messages} before")
        messages = run.measures["messages"]
    return found


@pytest.mark.parametrize(("name", "engine"), RUNS)
def test_a_stopped_run_is_the_beginning_of_the_whole_one(name, engine):
    assert [fault for seed in range(3) for fault in faults(name, engine, seed)] == []


class Hasty(Nodes):
    """Says of a stopped run when something happened last."""

    def run(self, limit, progress=None, rest=None):
        return self.play(limit)


def test_another_meaning_of_rounds_is_caught(monkeypatch):
    monkeypatch.setitem(parts.BUILT_IN["messages engines"], "nodes", f"{Hasty.__module__}:{Hasty.__name__}")
    assert any("rounds within" in fault for fault in faults("referees wakeup one-by-one", "nodes", 0))
