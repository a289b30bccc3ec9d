"""The conclusions that a claim of any paper may have, and how each is tested: exactly at small sizes, by runs at
larger ones. A conclusion is plain data: names of sets, and expressions over n and the parameters."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from hegemon.analysis.scaling import Law
from hegemon.claims import checks
from hegemon.claims.drawing import laws, means, shares
from hegemon.claims.laboratory import Laboratory, Sample, counted
from hegemon.claims.registry import HOLDS, VIOLATED, Check, Outcome, Plot, Series
from hegemon.compute.randomness import generator
from hegemon.errors import InvalidInput
from hegemon.exact.containment import named_set
from hegemon.exact.verification import verify
from hegemon.graphs.topology import Topology
from hegemon.models.expressions import evaluate
from hegemon.models.protocol import Protocol
from hegemon.process.schedulers.uniform import UNIFORM
from hegemon.runs.setting import topology_for

WALK = 2000  # steps of a random walk that searches for a step out of a set
LIMIT = "1000 * n^2"  # steps or rounds after which a run is stopped


@dataclass(frozen=True)
class Setting:
    """What a claim quantifies over, and what each conclusion needs to know."""

    lab: Laboratory
    protocol: type[Protocol]
    until: str
    starts: tuple[str, ...]
    graph: str | None
    parameters: dict[str, Any]
    exact: tuple[int, ...]
    sizes: tuple[int, ...]
    trials: int
    limit: str
    of: str | None
    every_start: bool  # no start is named: exact results are for every configuration

    def case(self, n: int) -> Any:
        return self.protocol(n=n, **self.parameters)

    def topology(self, case: Any) -> Topology | None:
        return None if self.graph is None else topology_for(case, self.graph.format(n=case.n), self.lab.seed)

    def value(self, expression: str, n: int) -> float:
        return float(evaluate(expression, self.case(n).values))

    def asked(self, n: int, question: str | None, **options: Any) -> Any:
        """The exact result at one size."""
        case = self.case(n)
        self.lab.report(f"exact: {case.id}, n = {n}")
        return verify(case, graph=self.topology(case), property=question, **options)

    def options(self, case: Any, start: str) -> dict[str, Any]:
        given: dict[str, Any] = {"start": start, "until": self.until} if self.protocol.model.has_starts else {}
        if self.graph is not None:
            given["graph"] = self.topology(case)
        return given

    def sample(self, n: int, start: str) -> Sample:
        """The times of runs from a start, or another quantity of theirs."""
        case = self.case(n)
        options = self.options(case, start)
        if not self.protocol.model.wakes:
            options["max_steps"] = int(self.value(self.limit, n))
        if self.of is None:
            return self.lab.times(case, self.trials, **options)
        rows = self.lab.trials(case, self.trials, **options)
        if self.of not in rows[0]:
            raise InvalidInput(f"runs of {case.id} have no {self.of!r}; of may be one of {', '.join(rows[0])}")
        return Sample(n, np.array([row[self.of] for row in rows], float))

    def samples(self) -> dict[str, list[Sample]]:
        return {start: [self.sample(n, start) for n in self.sizes] for start in self.starts}

    @property
    def quantity(self) -> str:
        return self.of or f"{self.protocol.time_unit} to {self.until}"

    @property
    def from_where(self) -> str:
        if self.protocol.model.wakes:
            return "every run"
        return "every configuration" if self.every_start else " and ".join(self.starts)

    def curves(self, samples: dict[str, list[Sample]]) -> list[Series]:
        return [means(start, self.sizes, group) for start, group in samples.items()]

    def bound(self, expression: str) -> list[Series]:
        sizes = sorted({*self.exact, *self.sizes})
        return [Series(f"claimed: {expression}", sizes, [self.value(expression, n) for n in sizes], kind="line")]


def closed(this: Setting, name: str) -> Outcome:
    """No step leaves a set."""
    found = [_finding(this, n, f"closed:{name}", f"no step from {name} leaves it") for n in this.exact]
    for n in this.sizes:
        seen, left = _walk(this, n, name)
        this.lab.note(protocol=this.protocol.id, n=n, steps_inside=seen, left=left)
        what = f"n = {n:,}: steps from {name} that stay, on random walks from {', '.join(this.starts)}"
        found.append(checks.always(what, seen - left, seen))
    return Outcome(found, _summary(this, found))


def _walk(this: Setting, n: int, name: str) -> tuple[int, int]:
    """The numbers of steps that began inside the set and of those that left it; plain Python checks every step."""
    case = this.case(n)
    if not case.model.has_interactions:
        raise InvalidInput(f"closed is tested at exact sizes only for {case.id}, which has no interactions; drop sizes")
    chosen, topology = named_set(case, name), topology_for(case, this.graph and this.graph.format(n=n), this.lab.seed)
    seen = left = 0
    for start in this.starts:
        rng = generator(this.lab.seed_for("walk", case.id, n, start, name))
        draw = partial(_whole, rng)
        codes = case.space.encode_array(case.initial(start, rng).agents)
        nodes = [case.space.namespace(code) for code in codes]
        inside = chosen.contains(nodes, case.p, case.values)
        for _ in range(this.trials * WALK):
            first, second = UNIFORM.meet(topology, draw)
            coin = int(rng.integers(case.coins.size)) if case.coin_fields else 0
            pair = case.space.code(nodes[first]), case.space.code(nodes[second])
            nodes[first], nodes[second] = map(case.space.namespace, case.transition_codes(*pair, coin))
            was, inside = inside, chosen.contains(nodes, case.p, case.values)
            seen, left = seen + was, left + (was and not inside)
    return seen, left


def _whole(rng: np.random.Generator, bound: int) -> int:
    return int(rng.integers(bound))


def reached(this: Setting, name: str) -> Outcome:
    """A set is reached with probability 1."""
    claimed = f"{name} is reached with probability 1 from {this.from_where}"
    found = [_finding(this, n, f"reached:{name}", claimed, start=_exact_start(this)) for n in this.exact]
    samples = this.samples()
    for start, group in samples.items():
        for n, sample in zip(this.sizes, group, strict=True):
            what = f"n = {n:,}, {start}: runs that reach {name} within {this.limit} {this.protocol.time_unit}"
            found.append(checks.always(what, *counted([sample])))
    plots = _picture(this, this.curves(samples))
    return Outcome(found, _summary(this, found), plots)


def mean(this: Setting, expression: str) -> Outcome:
    """The expected time is this number."""
    return _expectation(this, expression, checks.number_is, lambda what, sample, at: checks.mean_is(what, sample, at))


def at_most(this: Setting, expression: str) -> Outcome:
    return _expectation(
        this, expression, checks.number_at_most,
        lambda what, sample, at: checks.mean_at_most(what, sample, at, f"at most {checks.brief(at)}"),
    )  # fmt: skip


def at_least(this: Setting, expression: str) -> Outcome:
    return _expectation(
        this, expression, checks.number_at_least,
        lambda what, sample, at: checks.mean_at_least(what, sample, at, f"at least {checks.brief(at)}"),
    )  # fmt: skip


def _expectation(this: Setting, expression: str, exactly: Callable[..., Any], measured: Callable[..., Any]) -> Outcome:
    found, values = [], []
    for n in this.exact:
        values.append(_expected(this, n, least=exactly is checks.number_at_least))
        this.lab.note(protocol=this.protocol.id, n=n, expected=values[-1])
        what = f"n = {n}: expected {this.quantity} from {this.from_where}"
        found.append(exactly(what, values[-1], this.value(expression, n)))
    samples = this.samples()
    for start, group in samples.items():
        for n, sample in zip(this.sizes, group, strict=True):
            found.append(measured(f"n = {n:,}, {start}: mean {this.quantity}", sample, this.value(expression, n)))
    curves = this.curves(samples) if this.sizes else []
    if this.exact:
        curves.append(Series("exact", list(this.exact), values, kind="points"))
    return Outcome(found, _summary(this, found), _picture(this, [*curves, *this.bound(expression)]))


def _expected(this: Setting, n: int, least: bool) -> float:
    """The exact expectation, from the worst start of the claim."""
    if this.protocol.model.wakes:
        answer = this.asked(n, None)
        expected = {"rounds": answer.rounds, "messages": answer.messages}
        if (of := this.of or "rounds") not in expected:
            raise InvalidInput(f"{of} has no exact expectation; drop exact, or choose of: {', '.join(expected)}")
        return float(expected[of])
    if this.until == "broken":
        return float(this.asked(n, "holding", start="all").holding.worst)
    times = this.asked(n, f"time:{this.until}", start=_exact_start(this)).hitting
    if this.every_start and not least:
        return float(times.worst)
    chosen = [times.from_starts[name] for name in this.starts if name in times.from_starts] or [times.mean]
    return float(min(chosen) if least else max(chosen))


def grows(this: Setting, expression: str, rival: str) -> Outcome:
    """The means follow a law rather than its rival: O if the rival grows faster, Ω if it grows slower."""
    samples, ends = this.samples(), (this.sizes[0], this.sizes[-1])

    def law(text: str) -> Law:
        return Law(text, lambda n: np.array([this.value(text, int(k)) for k in np.atleast_1d(n)]))

    claimed, other = law(expression), law(rival)
    faster = this.value(rival, ends[1]) / this.value(rival, ends[0]) > this.value(expression, ends[1]) / this.value(
        expression, ends[0]
    )
    found = [
        checks.follows(f"{start}: {this.quantity}", this.sizes, group, claimed, other, "O" if faster else "Ω")
        for start, group in samples.items()
    ]
    curves = this.curves(samples) + laws(this.sizes, next(iter(samples.values())), claimed, other)
    return Outcome(found, _summary(this, found), _picture(this, curves, logarithmic=True))


def probability(this: Setting, expression: str, within: str | None) -> Outcome:
    """Something happens with at least this probability: the set is reached in time; messages: one leader is elected."""
    wakes = this.protocol.model.wakes
    event = "one leader is elected" if wakes else f"{this.until} is reached" + (f" within {within}" if within else "")
    found, curves = [], []
    for n in this.exact:
        if wakes:
            answer = float(this.asked(n, None).one_leader)
        else:
            steps = int(this.value(within or this.limit, n))
            about = this.asked(n, f"time:{this.until}", start=_exact_start(this), within=steps).within
            answer = about.worst if this.every_start else min(about.from_starts.values(), default=about.worst)
        this.lab.note(protocol=this.protocol.id, n=n, probability=answer)
        found.append(
            checks.number_at_least(f"n = {n}: {event}, from {this.from_where}", answer, this.value(expression, n))
        )
    for start in this.starts:
        row = []
        for n in this.sizes:
            case = this.case(n)
            options = this.options(case, start)
            if not wakes:
                options["max_steps"] = int(this.value(within or this.limit, n))
            rows = this.lab.trials(case, this.trials, **options)
            good = sum(one["leaders"] == 1 if wakes else one["reached"] for one in rows)
            row.append(
                checks.share_at_least(f"n = {n:,}, {start}: {event}", good, len(rows), this.value(expression, n))
            )
        found += row
        curves.append(shares(start, this.sizes, row))
    plots = [Plot(event, "n", "share of runs", [*curves, *this.bound(expression)], logx=True)] if this.sizes else []
    return Outcome(found, _summary(this, found), plots)


def _exact_start(this: Setting) -> str | None:
    """The start of exact results: every configuration, or the named start; several starts use one chain."""
    if this.every_start:
        return None
    return this.starts[0] if len(this.starts) == 1 and this.starts[0] != "random" else "all"


def _finding(this: Setting, n: int, question: str, claimed: str, **options: Any) -> Check:
    (found,) = this.asked(n, question, **options).findings
    this.lab.note(protocol=this.protocol.id, n=n, question=question, holds=found.holds)
    verdict = HOLDS if found.holds else VIOLATED
    return Check(f"n = {n}: {claimed} (exact)", "always", found.sentence, verdict, float(found.holds))


def _summary(this: Setting, found: list[Check]) -> str:
    wrong = [check for check in found if check.verdict == VIOLATED]
    if wrong:
        return f"{wrong[0].what}: {wrong[0].measured}; claimed: {wrong[0].claimed}"
    parts = [f"exact at n = {', '.join(map(str, this.exact))}"] if this.exact else []
    if this.sizes:
        parts.append(f"runs at n = {', '.join(f'{n:,}' for n in this.sizes)}")
    return "; ".join(parts)


def _picture(this: Setting, curves: list[Series], logarithmic: bool = False) -> list[Plot]:
    if not curves or len({x for one in curves for x in one.x}) < 2:
        return []
    title = this.quantity[:1].upper() + this.quantity[1:]
    return [Plot(title, "n", this.quantity, curves, logx=logarithmic, logy=logarithmic)]


FORMS: dict[str, Callable[..., Outcome]] = {
    "closed": closed, "reached": reached, "mean": mean, "at_most": at_most, "at_least": at_least, "grows": grows,
    "probability": probability,
}  # fmt: skip


def examine(
    lab: Laboratory,
    protocol: type[Protocol],
    *,
    says: dict[str, Any],
    test: Callable[..., Any] | None = None,
    **given: Any,
) -> Outcome:
    """The experiment of a stated claim: one conclusion, or the author's own test."""
    if test is not None:
        answer = test(lab, protocol, **{name: given[name] for name in ("sizes", "trials")})
        if isinstance(answer, Outcome):
            return answer
        found = [answer] if isinstance(answer, Check) else list(answer)
        headline = next((f"{c.what}: {c.measured}" for c in found if c.verdict == VIOLATED), f"{len(found)} checks")
        return Outcome(found, headline)
    named = given.pop("starts")
    starts = tuple(named or (_every_start(protocol) if not protocol.model.wakes else ("all awake",)))
    setting = Setting(lab, protocol, starts=starts, every_start=not named and protocol.arbitrary_start, **given)
    (name, value), *more = says.items()
    return FORMS[name](setting, value, **dict(more))


def _every_start(protocol: type[Protocol]) -> tuple[str, ...]:
    """The starts of runs where none is named."""
    return tuple(protocol.starts) if protocol.arbitrary_start else (str(protocol.default_start),)
