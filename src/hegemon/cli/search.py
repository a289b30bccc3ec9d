"""`hegemon search-worst`: starts with large expected time, beyond what can be enumerated."""

from typing import Annotated, Any

from hegemon.cli import failures, options
from hegemon.cli.common import build, console, deliver, facts, figure, instance, outputs, print_json
from hegemon.cli.options import MOST_TRIALS, integer, option, path
from hegemon.cli.progress import Progress
from hegemon.cli.verify import exact
from hegemon.display import states
from hegemon.runs.option import MOST_SEED


def search_worst_start(
    protocol: options.Protocol,
    n: options.N = None,
    set_: options.Set = None,
    graph: options.Graph = None,
    scheduler: options.Scheduler = None,
    until: Annotated[str, option("--until", help="the set to be reached", metavar="SET")] = "safe",
    evaluations: Annotated[int, integer("--evaluations", "starts that are tried", low=1, high=MOST_TRIALS)] = 1000,
    trials: Annotated[int, integer("--trials", "runs from each, at most about", low=1, high=MOST_TRIALS)] = 256,
    final: Annotated[int, integer("--final", "fresh runs from the best", low=1, high=MOST_TRIALS)] = 2000,
    seed: Annotated[int, integer("--seed", "the same seed finds the same start", high=MOST_SEED)] = 0,
    max_steps: Annotated[int, integer("--max-steps", "stop a run after that many steps", low=1)] = 10**7,
    budget: Annotated[int, integer("--budget", "steps of the whole search, about; then it ends", low=1)] = 2 * 10**9,
    compare: Annotated[bool, option("--exact", help="also compute the exact worst start")] = False,
    out: Annotated[str | None, path("--out", "write the start found (.json)")] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:  # fmt: skip
    """Search for a start from which a protocol is slow."""
    outputs(out=(out, (".json",)))
    with Progress(quiet=quiet) as shown:
        from hegemon.experiments.worst_starts import search_worst

        chosen, topology = build(protocol, n, graph, set_, seed)
        found = search_worst(
            chosen, graph=topology, scheduler=scheduler, until=until, evaluations=evaluations, trials=trials,
            final=final, seed=seed,
            max_steps=max_steps, budget=budget, exact=compare, progress=shown.show,
        )  # fmt: skip
    content = found.record()
    deliver(lambda: print_json(content) if json else print_report(content), {out: found.start.save})
    if found.interrupted:
        kept = f"kept in {out}" if out else "printed; --out FILE keeps it"
        raise failures.Interrupted(
            f"interrupted after {found.evaluations:,} of {evaluations:,} starts; the worst of them is {kept}"
        )


def print_report(content: dict[str, Any]) -> None:
    least = "at least " if content["unfinished"] else ""
    interval = "–" if content["ci95"] is None else " … ".join(f"{end:,.6g}" for end in content["ci95"])
    rows = {
        "protocol": instance(content),
        "graph": content["graph"],
        "scheduler": content["scheduler"],
        "searched": f"{figure(content['evaluations'])} starts, {figure(content['runs'])} runs",
        "worst start found": states(content["start"]),
        f"mean steps to {content['until']}": f"{least}{content['mean']:,.6g} (95 % interval {interval}, "
        f"{figure(content['trials'])} {'runs of the search' if content['interrupted'] else 'fresh runs'})",
    }
    if content["mean_from_random_starts"] is not None:
        rows["from random starts"] = f"{content['mean_from_random_starts']:,.6g}"
    if content["unfinished"]:
        rows["censored"] = f"{figure(content['unfinished'])} runs were stopped at the limit: the mean is a lower bound"
    if content["ended_early"]:
        longer = "" if content["interrupted"] else "; raise --budget to search longer"
        rows["ended early"] = f"{content['ended_early']}{longer}"
    if "exact" in content:
        rows["exact, start found"] = exact(content["exact"]["found"])
        rows["exact, worst of all"] = exact(content["exact"]["worst"])
        rows["worst start of all"] = states(content["exact"]["worst_start"])
    console().print(facts(rows))
