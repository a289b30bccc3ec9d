"""`verify`: builds the chain of a protocol once, and evaluates all questions, or one."""

import inspect
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from hegemon import display, doors
from hegemon.errors import InvalidInput, meant
from hegemon.exact import findings as ask
from hegemon.exact.chain import MEMORY, Chain, estimate
from hegemon.exact.containment import members, named_set
from hegemon.exact.findings import Finding
from hegemon.exact.hitting import HittingTimes
from hegemon.exact.holding import HoldingTimes
from hegemon.exact.instance import Instance
from hegemon.exact.recomputed import RecomputedChain
from hegemon.exact.recomputed_answers import RecomputedAnswers
from hegemon.exact.schedules import COINS, ScheduledAnswers, Schedules, parse_daemon
from hegemon.exact.stored_answers import StoredAnswers
from hegemon.exact.within import Within
from hegemon.models.conditions import is_condition
from hegemon.models.population import PopulationProtocol
from hegemon.models.protocol import Protocol
from hegemon.models.rounds import RoundsProtocol
from hegemon.models.unreliable import unreliable
from hegemon.process.schedulers.scheduler import Scheduler
from hegemon.runs import kinds
from hegemon.runs.capabilities import supporting
from hegemon.runs.record import RUN_OPTIONS, is_default, require_meant
from hegemon.runs.setting import Graph, Identifiers, Start, Wake

OF_CHANCE = supporting(
    "verify",
    "graph start property quantiles within scheduler loss one_sided memory symmetry checkpoint",
)
OF_INPUTS = supporting(
    "the question predicate, which is about every input from its own start,",
    "graph property scheduler loss one_sided memory symmetry",
)
OF_SCHEDULES = supporting(
    "verify of all schedules of a daemon",
    "graph start property scheduler coins loss one_sided memory symmetry",
    instead="leave it out, or give a scheduler that draws",
)
OF_MESSAGES = supporting(
    "verify of all runs of a protocol that sends messages",
    "graph property within memory wake identifiers delay order loss duplicate crashes",
)
if TYPE_CHECKING:  # a population does not load what messages need
    from hegemon.exact.messages.answers import MessageVerification
    from hegemon.models.messages import MessageProtocol

QUESTIONS = ("closed", "leader", "reached", "time", "holding", "predicate")


@dataclass(frozen=True, repr=False)
class Verification:
    """The results of all questions about one protocol at one size."""

    case: Instance
    covers: str
    inside: np.ndarray  # the configurations of the set in question
    findings: tuple[Finding, ...]
    hitting: HittingTimes | None
    holding: HoldingTimes | None
    seconds: float
    within: Within | None = None
    schedules: Schedules | None = None  # under a daemon: the best and the worst of them

    @property
    def protocol(self) -> Protocol:
        return self.case.protocol

    @property
    def chain(self) -> Chain | RecomputedChain:
        return self.case.chain

    @property
    def ok(self) -> bool:
        """Whether no claim of the protocol's author is refuted."""
        return not any(finding.refutes for finding in self.findings)

    @property
    def refuted(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.refutes]

    @property
    def headline(self) -> str:
        """One line: how many claims there are and which fail, and the other questions."""
        claimed = [finding for finding in self.findings if finding.claimed]
        others = [finding for finding in self.findings if not finding.claimed]
        failing = [f"{finding.question} {finding.set}" for finding in others if not finding.holds]
        refuted = ", ".join(f"{finding.question} {finding.set}" for finding in self.refuted)
        sentences = []
        if self.refuted:
            verb = "are" if len(self.refuted) > 1 else "is"
            which = "the claim" if len(claimed) == 1 else f"{len(self.refuted)} of {len(claimed)} claims"
            sentences.append(f"{which} {verb} refuted ({refuted})")
        elif claimed:
            sentences.append("1 claim holds" if len(claimed) == 1 else f"{len(claimed)} claims hold")
        good, bad = len(others) - len(failing), len(failing)
        other = "other " if claimed else ""
        if good:
            sentences.append(f"1 {other}property holds" if good == 1 else f"{good} {other}properties hold")
        if bad:
            fail = "property does" if bad == 1 else "properties do"
            sentences.append(f"{bad} {other}{fail} not hold ({', '.join(failing)})")
        return "; ".join(sentences) or "computed"

    def finding(self, question: str, name: str = "safe") -> Finding:
        return next(f for f in self.findings if (f.question, f.set) == (question, name))

    def record(self) -> dict[str, Any]:
        return {
            "protocol": self.protocol.id,
            "n": self.protocol.n,
            "parameters": self.protocol.parameters,
            "graph": self.case.topology.name,
            "states": self.protocol.states,
            "covers": self.covers,
            "symmetry": self.chain.space.symmetry,
            "configurations": self.chain.size,
            "labelled_configurations": self.chain.labelled_size,
            "stored": isinstance(self.chain, Chain),
            "transitions": self.chain.transitions,
            "denominator": self.chain.denominator,
            "estimated_gib": estimate(self.case.space).gib,
            "unit": self.protocol.time_unit,
            "ok": self.ok,
            "headline": self.headline,
            "findings": [finding.record() for finding in self.findings],
            "expected_steps": self.hitting.record() if self.hitting else None,
            "within": self.within.record() if self.within else None,
            "holding": self.holding.record() if self.holding else None,
            "schedules": self.schedules.record() if self.schedules else None,
            "seconds": self.seconds,
        }

    def __str__(self) -> str:
        size = f"{self.chain.size:,} configurations ({self.covers}) on {self.case.topology.name}"
        about: dict[str, object] = {"answer": self.headline, "covers": size}
        about |= {f"{finding.question} {finding.set}": finding.sentence for finding in self.findings}
        if self.hitting is not None:
            unit, times = self.protocol.time_unit, self.hitting
            about[f"expected {unit} to {times.set}"] = f"at most {times.worst:.10g}, mean {times.mean:.10g}"
        if self.holding is not None:
            ends = self.holding.worst < np.inf
            kept = f"at least {self.holding.worst:,.10g} {self.protocol.time_unit}" if ends else "without end"
            about["expected holding"] = kept
        return display.plain(f"{self.protocol.id}, n = {self.protocol.n:,}", about)

    __repr__ = __str__  # not every array

    def _repr_html_(self) -> str:
        from hegemon.exact.showing import as_html

        return as_html(self)


@overload
def verify(
    protocol: "MessageProtocol", *, graph: Graph = ..., property: str | None = ..., within: int | None = ...,
    memory: float = ..., wake: Wake = ..., identifiers: Identifiers = ..., delay: str | None = ...,
    order: str = ..., loss: float | str = ..., duplicate: float | str = ..., crashes: Sequence[str] = ...,
    progress: display.Show | None = ...,
) -> "MessageVerification": ...  # fmt: skip
@overload
def verify(
    protocol: PopulationProtocol | RoundsProtocol, *, graph: Graph = ..., start: Start = ...,
    property: str | None = ..., quantiles: tuple[float, ...] = ..., within: int | None = ...,
    scheduler: "str | Scheduler | None" = ..., coins: str = ..., loss: float | str = ...,
    one_sided: float | str = ..., memory: float = ..., symmetry: bool = ...,
    checkpoint: str | Path | None = ..., progress: display.Show | None = ...,
) -> Verification: ...  # fmt: skip
@overload
def verify(
    protocol: Protocol, *, graph: Graph = ..., start: Start = ...,
    property: str | None = ..., quantiles: tuple[float, ...] = ..., within: int | None = ...,
    scheduler: "str | Scheduler | None" = ..., coins: str = ..., loss: float | str = ...,
    one_sided: float | str = ..., memory: float = ..., symmetry: bool = ...,
    checkpoint: str | Path | None = ..., wake: Wake = ..., identifiers: Identifiers = ...,
    delay: str | None = ..., order: str = ..., duplicate: float | str = ..., crashes: Sequence[str] = ...,
    progress: display.Show | None = ...,
) -> "Verification | MessageVerification": ...  # fmt: skip
@kinds.door(quantiles=doors.several(doors.number), coins=doors.one_of(*COINS), symmetry=kinds.FLAG, delay=kinds.TEXT)
@display.with_progress
def verify(
    protocol: Protocol, *, graph: Graph = None, start: Start = None, property: str | None = None,
    quantiles: tuple[float, ...] = (), within: int | None = None, scheduler: "str | Scheduler | None" = None,
    coins: str = "fair", loss: float | str = 0, one_sided: float | str = 0, memory: float = MEMORY,
    symmetry: bool = True, checkpoint: str | Path | None = None, wake: Wake = "all",
    identifiers: Identifiers = "random", delay: str | None = None, order: str = "fifo",
    duplicate: float | str = 0, crashes: Sequence[str] = (), progress: display.Show | None = None,
) -> "Verification | MessageVerification":  # fmt: skip
    """Exact results about a protocol at one size: certain properties and expectations.

    protocol    an instance, such as hegemon.Timer(n=4, s=8).
    graph       a topology or its name ("path:4"); without it, the protocol's own.
    start       "all" (every configuration), a named start, a file, a configuration or a list of states. Without it:
                all, for a protocol that starts anywhere, and the default start otherwise.
    property    a question (closed, leader, reached, time, holding, predicate), a set (its name, or conditions such as
                "count(leader == 1) == 1"), or QUESTION:SET. Without it, all that applies to `safe`, and closed for
                every set that is claimed to be.
    quantiles   of the number of steps, such as (0.5, 0.9).
    within      also the probability of having reached the set after K steps.
    scheduler   who acts next, as in a run: "uniform" pairs, "synchronous" rounds …; by default the protocol's own
                daemon, or its model's law. A daemon means all its schedules: in a population "adversary" (chooses the
                pair), "fair" (the same, but each pair meets again and again) or "central" (chooses the initiator, whose
                partner is drawn); for rounds "central" (one node acts), "locally-central" (no two neighbours at once)
                or "distributed" (any nodes); also "central:weakly-fair" and "central:strongly-fair".
    coins       under a daemon: "fair", or "adversary" if they fall as the daemon likes.
    loss, one_sided  the probability that an interaction is lost, and that one that is not changes the responder alone:
                decimals, or strings such as "1/3".
    memory      GiB. All configurations that do not fit are not stored but recomputed in every pass; quantiles, finite
                holding times and exports are then refused.
    symmetry    whether configurations that differ by a symmetry of the graph count as one.
    checkpoint  with recomputed chains: a file from which an interrupted run goes on.
    wake        message passing: all, one-by-one, random, a file, or one round per node.
    identifiers message passing: random (the mean over all arrangements), increasing, decreasing, a file, or a list.
    delay, order, duplicate, crashes  message passing: as in a run, where there are finitely many outcomes: a delay
                uniform:LOW..HIGH, and crashes at given rounds. `loss` is then the probability that a message is lost.
    progress    called with a stage, how much of it is done, and how much there is.

    The result is a Verification, with `findings` (each with a sentence and, where something fails, a shortest
    counterexample), `hitting` (expected steps with a proved bound on the error), `holding`, `within`, and `record()`,
    all of it as plain data. For a message-passing protocol it is a MessageVerification: all runs over all outcomes of
    all coins, with `one_leader`, `leaders`, `messages`, `rounds` and `within(k)` as fractions.
    """
    begin, options = time.perf_counter(), dict(locals())
    given = [name for name, usual in _usual_options().items() if not is_default(options[name], usual)]
    require_meant(protocol, given, RUN_OPTIONS)
    if protocol.model.wakes:
        OF_MESSAGES.require(given)
        from hegemon.exact.messages.answers import verify_messages

        return verify_messages(
            cast("MessageProtocol", protocol),
            graph=graph,
            wake=wake,
            identifiers=identifiers,
            delay=delay,
            order=order,
            loss=loss,
            duplicate=duplicate,
            crashes=crashes,
            property=property,
            within=within,
            memory=memory,
            progress=progress,
        )
    if protocol.model.has_objects:
        raise InvalidInput(
            f"verify needs finitely many states that can be counted, and those of {protocol.id} are Python objects; "
            "use run, which simulates it exactly"
        )
    protocol = unreliable(protocol, loss, one_sided)
    questions, name = parse_property(property, protocol)
    daemon = parse_daemon(scheduler, protocol)
    if coins != "fair" and daemon is None:  # said here, with what it needs
        raise InvalidInput(f"coins = {coins!r} needs a daemon that chooses them; give a scheduler such as central")
    if questions == ("predicate",):
        OF_INPUTS.require(given)
        if daemon is not None:
            raise InvalidInput(
                f"predicate needs chance alone, and the daemon {daemon[0]} decides; give a law of chance"
            )
        return _verify_predicate(protocol, name, graph, memory, symmetry, progress, begin, scheduler)
    if quantiles and "time" not in questions:
        raise InvalidInput(f"quantiles are of the question time, not of {questions[0]}; leave them out")
    if daemon is not None:
        OF_SCHEDULES.require(given)
        asked = questions, name, property is None
        return _verify_daemon(protocol, daemon, coins, asked, graph, start, memory, progress, begin)
    OF_CHANCE.require(given)
    case = Instance(protocol, graph, start, symmetry, memory, progress, scheduler)
    answers: StoredAnswers | RecomputedAnswers
    if isinstance(case.chain, RecomputedChain):
        answers = RecomputedAnswers(case, name, questions, property is None, checkpoint)
    else:
        answers = StoredAnswers(case, name, questions, everything=property is None, progress=progress)
    hitting = answers.hitting(quantiles)
    if property is None and start is None and protocol.input_parameter:  # a given start has inputs of its own
        more = _verify_predicate(protocol, name, graph, memory, symmetry, progress, begin, scheduler).findings
    else:
        more = ()
    return Verification(
        case=case,
        covers=case.covers,
        inside=answers.inside(name),
        findings=answers.findings() + more,
        hitting=hitting,
        holding=answers.holding(),
        within=answers.within(within),
        seconds=time.perf_counter() - begin,
    )


@cache
def _usual_options() -> dict[str, Any]:
    """The options of `verify` with their defaults."""
    parameters = inspect.signature(inspect.unwrap(verify)).parameters.values()
    return {
        parameter.name: parameter.default for parameter in parameters if parameter.name not in ("protocol", "progress")
    }


def parse_property(text: str | None, protocol: Protocol) -> tuple[tuple[str, ...], str]:
    """The questions and the set that a text means."""
    if text is None:
        return QUESTIONS, "safe"
    question, colon, name = text.partition(":")
    if question not in QUESTIONS:
        if text not in protocol.sets and not is_condition(text):
            raise InvalidInput(
                f"the property {text!r} is not known; give a question ({', '.join(QUESTIONS)}), a set "
                f"({', '.join(protocol.sets)}) or QUESTION:SET{meant(question, (*QUESTIONS, *protocol.sets))}"
            )
        named_set(protocol, text)
        return QUESTIONS[:-1], text
    if question == "predicate" and not protocol.input_parameter:
        raise InvalidInput(f"{protocol.id} computes no predicate of its inputs; ask closed, reached or time")
    if question in ("leader", "holding") and not protocol.elects_leader:
        raise InvalidInput(f"{protocol.id} elects no leader, so {question!r} cannot be asked; ask closed or reached")
    named_set(protocol, name if colon else "safe")
    return (question,), name if colon else "safe"


def _verify_predicate(
    protocol: Protocol, name: str, graph: Any, memory: float, symmetry: bool, progress: display.Show | None,
    begin: Any, scheduler: "str | Scheduler | None",
) -> Verification:  # fmt: skip
    """The right output from every input: one chain per value of the input parameter."""
    findings = []
    for value in range(protocol.n + 1):
        variant = type(protocol)(protocol.n, **{**protocol.parameters, protocol.input_parameter: value})
        case = Instance(variant, graph, None, symmetry, memory, progress, scheduler)
        inside = members(case.chain, named_set(variant, name))
        findings.append(ask.is_computed(case.chain, inside, f"{protocol.input_parameter} = {value}", name))
    return Verification(case, "every input", inside, tuple(findings), None, None, time.perf_counter() - begin)


def _verify_daemon(
    protocol: Protocol, daemon: Any, coins: str, asked: Any, graph: Any, start: Any, memory: float,
    progress: display.Show | None, begin: Any,
) -> Verification:  # fmt: skip
    """All schedules of a daemon. Agents have names, because a schedule names them."""
    (who, fairness), (questions, name, everything) = daemon, asked
    if "holding" in questions and len(questions) == 1:
        raise InvalidInput(f"holding needs chance alone, and the daemon {who} decides; ask closed, leader or reached")
    case = Instance(protocol, graph, start, False, memory, progress, daemon=who)
    answers = ScheduledAnswers(case, name, questions, everything, fairness, coins, progress)
    return Verification(
        case=case,
        covers=case.covers,
        inside=answers.inside(name),
        findings=answers.findings(),
        hitting=None,
        holding=None,
        seconds=time.perf_counter() - begin,
        schedules=answers.schedules(name),
    )
