"""Claims, the outcomes of their experiments, and the list of all claims."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hegemon.errors import InvalidInput, meant
from hegemon.errors import choose as offer

HOLDS, VIOLATED, UNDECIDED = "holds", "violated", "not decided by this data"

PAPERS = {
    "survey": "Y. Sudo, Leader Election in Population Protocol Model (survey, in Japanese)",
    "time-optimal": "Sudo, Eguchi, Izumi, Masuzawa, Time-Optimal Loosely-Stabilizing Leader Election "
    "in Population Protocols, DISC 2021",
    "ring": "Yokota, Sudo, Masuzawa, Time-Optimal Self-Stabilizing Leader Election on Rings "
    "in Population Protocols, IEICE Transactions 2021",
    "trains": "Blin, Gay, Ziccardi, Informative Trains: A Memory-Efficient Journey to a Self-Stabilizing "
    "Leader Election Algorithm in Anonymous Graphs",
    "sublinear": "Kutten, Pandurangan, Peleg, Robinson, Trehan, Sublinear Bounds for Randomized Leader Election",
}
IDS = {"survey": "survey", "to": "time-optimal", "trains": "trains", "ring": "ring", "sub": "sublinear"}  # of claims
ORDER = tuple(IDS.values())  # of claims; within a paper that of their files


@dataclass(frozen=True)
class Check:
    """One figure against one statement. `interval` is at the confidence of `checks.CONFIDENCE`, for reading.

    If the figure depends on chance, two p-values decide, together with those of all other checks (`family`):
    `against` is the probability of data at least this much against the statement if it is true, `support` that
    of data at least this much in its favour if it is false. Without chance both are None and the verdict
    needs no correction. `corrected` is the p-value that decided, after the correction.
    """

    what: str
    claimed: str
    measured: str
    verdict: str
    figure: float | None = None
    interval: tuple[float, float] | None = None
    against: float | None = None
    support: float | None = None
    corrected: float | None = None


@dataclass(frozen=True)
class Series:
    """Points, a line, or both, with optional bars from `low` to `high`."""

    label: str
    x: Sequence[float]
    y: Sequence[Any]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    kind: str = "points"  # points, line, both


@dataclass(frozen=True)
class Plot:
    title: str
    xlabel: str
    ylabel: str
    series: list[Series]
    logx: bool = False
    logy: bool = False


@dataclass(frozen=True)
class Table:
    title: str
    columns: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Outcome:
    """The outcome of an experiment: its checks, then further material for readers."""

    checks: list[Check]
    headline: str = ""
    plots: list[Plot] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    notes: str = ""

    @property
    def verdict(self) -> str:
        """One violated part violates the claim; it holds only if every part does."""
        return weakest([check.verdict for check in self.checks])

    def content(self) -> dict[str, Any]:
        """The outcome as JSON."""
        return {"verdict": self.verdict, **asdict(self)}


def weakest(verdicts: list[str]) -> str:
    if VIOLATED in verdicts:
        return VIOLATED
    return UNDECIDED if UNDECIDED in verdicts or not verdicts else HOLDS


def tally(verdicts: list[str]) -> str:
    """In words: "25 claims hold, 1 is violated, 2 are not decided by this data"."""
    forms = {HOLDS: ("holds", "hold"), VIOLATED: ("is violated", "are violated")}
    forms[UNDECIDED] = (f"is {UNDECIDED}", f"are {UNDECIDED}")
    found = [(verdicts.count(verdict), *words) for verdict, words in forms.items() if verdict in verdicts]
    if not found:
        return "no claim was finished"
    parts = [f"{count} {one if count == 1 else several}" for count, one, several in found]
    parts[0] = parts[0].replace(" ", " claim " if found[0][0] == 1 else " claims ", 1)
    return ", ".join(parts)


def outcome_of(content: dict[str, Any]) -> Outcome:
    """The inverse of `Outcome.content`; also accepts a record of the store."""
    plots = [Plot(**{**plot, "series": [Series(**one) for one in plot["series"]]}) for plot in content["plots"]]
    return Outcome(
        checks=[Check(**check) for check in content["checks"]],
        headline=content["headline"],
        plots=plots,
        tables=[Table(**table) for table in content["tables"]],
        notes=content["notes"],
    )


@dataclass(frozen=True)
class Claim:
    """`experiment(laboratory, **sizes)` returns an Outcome; its protocol classes are parameters with defaults,
    so that a broken protocol can be put in their place: by a test, or, for a claim of a user's file, the `twin`."""

    id: str
    place: str
    title: str
    statement: str
    experiment: Callable[..., Any]
    quick: dict[str, Any]
    full: dict[str, Any]
    twin: type | None = None
    reference: str = ""
    file: str = ""  # a user's own, with the digest of its code
    code: str = ""

    @property
    def paper(self) -> str:
        """One of the five, by the beginning of the id; or the name of a user's file."""
        return Path(self.file).name if self.file else IDS[self.id.partition(".")[0]]

    @property
    def published(self) -> str:
        """The reference of the paper."""
        return self.reference or PAPERS[self.paper]

    def sizes(self, scale: str) -> dict[str, Any]:
        return self.quick if scale == "quick" else self.full


def all_claims() -> dict[str, Claim]:
    """Every claim, paper by paper."""
    from hegemon.claims.papers import ring, slack, sublinear, survey, time_optimal, trains

    modules = (survey, time_optimal, trains, ring, sublinear, slack)
    claims = sorted((claim for module in modules for claim in module.CLAIMS), key=lambda one: ORDER.index(one.paper))
    return {claim.id: claim for claim in claims}


def claims_of(file: str | None) -> dict[str, Claim]:
    """The claims of a user's file or of another package, or those of the five papers."""
    if not file:
        return all_claims()
    from hegemon.claims.stating import claims_in

    return claims_in(file)


def choose(only: str | None = None, paper: str | None = None, file: str | None = None) -> list[Claim]:
    """The claims that a command asks for: by ids, by paper, or all of them; of the five papers, or of a user's file."""
    claims = claims_of(file)
    if paper is not None and file:
        raise InvalidInput(f"--paper {paper} chooses one of the five papers, and {file} is your own; drop one of them")
    if paper is not None and paper not in PAPERS:
        raise InvalidInput(f"there is no paper {paper!r}; {offer(PAPERS)}{meant(paper, PAPERS)}")
    chosen = list(claims)
    if only is not None:
        chosen = [name.strip() for name in only.split(",") if name.strip()]
        for name in chosen:
            if name not in claims:
                raise InvalidInput(f"there is no claim {name!r}; {offer(claims)}{meant(name, claims)}")
    found = [claims[name] for name in dict.fromkeys(chosen) if paper in (None, claims[name].paper)]
    if not found:
        raise InvalidInput(f"no claim of the paper {paper} is among {only}; leave one of the two out")
    return found
