"""Whether a protocol settles and stays settled, at sizes that cannot be enumerated: by runs from every uniform start,
which find protocols that freeze, and by watching every step after the stop, which finds results that do not last."""

from typing import Any

import numpy as np

from hegemon.claims.checks import always
from hegemon.claims.laboratory import Laboratory
from hegemon.claims.registry import Check
from hegemon.compute.randomness import generator
from hegemon.models.configuration import Configuration
from hegemon.runs.setting import topology_for
from hegemon.runs.simulate import simulate


def uniform(case: Any, most: int | None, rng: np.random.Generator) -> list[int]:
    """States of starts in which all agents are alike: all states, or as many as asked for, chosen at random."""
    codes = np.arange(case.space.size)
    return codes.tolist() if most is None or most >= len(codes) else np.sort(rng.permutation(codes)[:most]).tolist()


def followed(
    lab: Laboratory, case: Any, starts: list[Any], *, limit: int, watch: int, graph: str | None = None,
    lost: str = "broken",
) -> list[dict[str, Any]]:  # fmt: skip
    """A run from each start into the safe set, and `watch` further steps: whether it was reached, and whether it was
    not `lost` from then on (by default, no output changed). A start is a code (all agents alike) or a name."""
    seed = lab.seed_for("settles", case.id, case.n, case.parameters, graph, lost)
    topology = topology_for(case, graph, lab.seed)

    def compute() -> list[dict[str, Any]]:
        rows = []
        for trial, start in enumerate(starts):
            lab.report(f"{case.id} n = {case.n}: start {trial + 1} of {len(starts)}")
            begin = start
            if isinstance(start, int):
                begin = Configuration(case.space, agents=case.space.decode_array(np.full(case.n, start)))
            options: dict[str, Any] = {"graph": topology, "trial": trial}
            run = simulate(case, start=begin, until="safe", max_steps=limit, seed=seed, **options)
            row = {"protocol": case.id, "n": case.n, "start": start, "steps": run.steps, "reached": run.reached}
            if run.reached:
                begin = run.configuration
                later = simulate(case, start=begin, until=lost, max_steps=watch, seed=seed + 1, **options)
                row["kept"] = not later.reached
            rows.append(row)
        return rows

    rows = lab.remember(["settles", case.id, case.n, case.parameters, graph, lost, limit, watch, len(starts)], compute)
    lab.rows += rows
    return rows


def settles(
    lab: Laboratory, case: Any, *, limit: int, watch: int, most: int | None = None, graph: str | None = None,
    random: int = 0, lasting: str = "forever",
) -> list[Check]:  # fmt: skip
    """From uniform starts and `random` random ones into the safe set; no output may change in `watch` further steps."""
    alike = uniform(case, most, generator(lab.seed_for("alike", case.id, case.n)))
    rows = followed(lab, case, [*alike, *["random"] * random], limit=limit, watch=watch, graph=graph)
    reached = [row for row in rows if row["reached"]]
    where = f"n = {case.n}" if graph is None else str(graph)
    return [
        always(f"{where}: safe from {len(alike):,} starts with all agents alike, and {random} random ones",
               len(reached), len(rows), "from every start"),
        always(f"{where}: no output changes in the next {watch:,} {case.time_unit}",
               sum(row["kept"] for row in reached), len(reached), lasting),
    ]  # fmt: skip
