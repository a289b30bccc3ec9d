"""The definition of a run: one record, the source of options for commands, Python functions, studies and checkpoints.

To add an option, add a field here, and use it where runs are made.
"""

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from hegemon import doors
from hegemon.errors import InvalidInput
from hegemon.runs import kinds
from hegemon.runs.option import (
    MESSAGES,
    MOST_SEED,
    POPULATION,
    RECORDING,
    ROUNDS,
    Option,
    option,
    options_of,
    seed_of,
    several,
    truth,
    whole,
)  # fmt: skip
from hegemon.runs.values import (
    crashes_of,
    delay_text,
    read_faults,
    read_identifiers,
    read_observed,
    read_rates,
    read_share,
    write_faults,
    write_observed,
    write_rates,
)

if TYPE_CHECKING:
    from pathlib import Path

    from hegemon.models.protocol import Protocol
    from hegemon.models.sets import ConfigurationSet
    from hegemon.process.messages.crashes import Crash
    from hegemon.process.schedulers.scheduler import Scheduler
    from hegemon.runs.checkpoint import Checkpoint
    from hegemon.runs.rates import Rate
    from hegemon.runs.run import Fault
    from hegemon.runs.setting import Graph, Identifiers, Start, Wake

MOST_ROWS = 1_000_000  # of a history


@dataclass(frozen=True)
class RunRecord:
    """Everything that says what a run is, but for the number of its trial. The same record gives the same numbers."""

    protocol: "Protocol"
    _: KW_ONLY
    graph: "Graph" = option(
        None, "ring:64, grid:8x8, regular:1000,4 … or a file", metavar="GRAPH", repeats=True,
        about='a text such as "ring:64", "grid:8x8" or "regular:1000,4", a file, a `Topology`, or a NetworkX graph; '
        "by default the protocol's own (mostly the complete graph). A random graph depends on `seed` alone",
        takes=kinds.GRAPH,
    )  # fmt: skip
    start: "Start" = option(
        None, "a named start, or a .json or .csv file", metavar="START", panel=POPULATION,
        needs="has_starts", instead="wake",
        about="the name of one of the protocol's starts, a .json or .csv file, a `Configuration`, or a list of states "
        'such as `[{"leader": 1}, …]`',
        takes=kinds.START,
    )  # fmt: skip
    until: "str | ConfigurationSet" = option(
        "safe", "safe, broken, steps:K, a set, all(…), count(…) == K", metavar="STOP", panel=POPULATION, repeats=True,
        needs="has_starts", instead="max_steps",
        about='"safe" or another set of the protocol, "broken" (an agent\'s output changes), "steps:K" (or '
        '"rounds:K"), a text such as "count(leader == 1) == 1", or a set itself. The run ends at the exact first step '
        "inside it",
        takes=kinds.SET,
    )  # fmt: skip
    seed: Any = option(
        0, "the same seed gives the same numbers", metavar="INTEGER", read=whole("seed", high=MOST_SEED), always=True,
        is_axis=False,
        about="the same seed gives the same run, on any machine and with any number of threads. None draws one, which "
        "the result keeps; one is also drawn from a Generator or SeedSequence of NumPy",
        takes=kinds.SEED,
    )  # fmt: skip
    max_steps: int | None = option(
        None, "give up a trial after that many", metavar="INTEGER", read=whole("max-steps"),
        about="the run is given up there, with `reached = False`. Without it, a run whose stop can be proved out of "
        "reach ends too, and `ended` says why",
        takes=kinds.STEPS,
    )  # fmt: skip
    engine: str = option(
        "auto", "auto, or the name of an engine", metavar="NAME",
        about='"auto", or one by name: agents, events, batch, plain; rounds, plain; nodes, compiled, contacts, tokens',
        takes=doors.text,
    )  # fmt: skip
    scheduler: "str | Scheduler | None" = option(
        None, "who acts next: uniform, weighted:…, matching …; for rounds synchronous, central:uniform …",
        metavar="NAME:…", panel=POPULATION, needs="scheduler", repeats=True,
        about='who acts next. For interactions: "uniform" (the default), "weighted:FILE.csv", "weighted:2,1,1", '
        '"weighted:zipf=1", "matching", "permutation", "round-robin", "bounded:K", "edge-markov:P,Q", "moving:WxH", '
        '"recorded:FILE.csv", '
        '"function:NAME", a function of (step, agents), or a `Scheduler`. For rounds: "synchronous" (the default, '
        'unless the protocol says otherwise), "central:uniform", "locally-central:uniform", "distributed:1/3", '
        '"round-robin", "central:most-enabled", "central:delay-leader", or a function of (step, states, enabled)',
        takes=kinds.SCHEDULER,
    )  # fmt: skip
    faults: "Sequence[Fault]" = option(
        (), "corrupt agents; with join=J or leave=J instead they come or go; repeatable",
        metavar="step=K,agents=J,field=value", panel=POPULATION,
        needs="has_configurations", read=read_faults, write=write_faults, written="fault", repeats=True, is_list=True,
        none="none",
        about='each a `Fault(step, agents, values)`, with `kind="join"` or `"leave"` for agents that come or go; '
        "those beyond the limit do not happen. The stop is looked for "
        'after the last one, and `measures["recovery_steps"]` says how long that took',
        takes=kinds.FAULTS,
    )  # fmt: skip
    disturbances: "str | Path | None" = option(
        None, "faults, as watch saves them", metavar="FILE", panel=POPULATION, needs="has_configurations",
        about="a file of further faults, as the page saves them",
        takes=kinds.FILE,
    )  # fmt: skip
    rates: "Sequence[Rate | str]" = option(
        (), "events in every step with probability R: corrupt, join, leave, crash, pause, wake; repeatable",
        metavar="corrupt=R,field=value", panel=POPULATION, needs="has_interactions", read=read_rates, write=write_rates,
        written="rate", repeats=True, is_list=True, none="none",
        about='events that are part of the process, each a text such as "corrupt=1e-4", "corrupt=1e-4,leader=0", '
        '"leave=1e-5", "join=1e-5", "crash=1e-5" or "pause=1e-4,meetings=20": with this probability a step is the '
        "event, which hits one random agent, and no interaction",
        takes=kinds.RATES,
    )  # fmt: skip
    availability: bool = option(
        False, "measure the share of steps with exactly one leader", panel=RECORDING, needs="has_interactions",
        read=truth, is_axis=False,
        about='measure, up to the limit, the share of all steps with exactly one leader and the gaps between them: '
        '`measures["availability"]`, `gaps`, `mean_gap`, `longest_gap`; counted from the first step with one leader',
        takes=kinds.FLAG,
    )  # fmt: skip
    loss: float | str = option(
        0, "of interactions that do not happen, or of messages that are lost, such as 0.1", metavar="SHARE",
        needs="loses", read=read_share("loss"), write=read_share("loss"), none=0.0,
        about='the probability that an interaction or a message is lost, as in a bad network: a decimal, or a text '
        'such as "1/3". Lost interactions count as steps, lost messages as messages',
        takes=kinds.SHARE,
    )  # fmt: skip
    one_sided: float | str = option(
        0, "of interactions not lost: only the responder changes, such as 0.1", metavar="SHARE", panel=POPULATION,
        needs="has_interactions", read=read_share("one-sided"), write=read_share("one-sided"), none=0.0,
        about="the probability that an interaction that is not lost changes the responder alone",
        takes=kinds.SHARE,
    )  # fmt: skip
    fast_forward: bool = option(
        True, "make every single round", panel=ROUNDS, written="no_fast_forward", is_axis=False, needs="has_rounds",
        read=lambda given: not truth(given), write=lambda value: not value,
        about="whether to jump exactly over rounds that repeat",
        takes=kinds.FLAG,
    )  # fmt: skip
    wake: "Wake" = option(
        "all", "all, one-by-one, random or a file", metavar="NAME", panel=MESSAGES, needs="wakes", instead="start",
        about='"all", "one-by-one", "random", a file, or the round in which each node wakes up',
        takes=kinds.NODES,
    )  # fmt: skip
    identifiers: "Identifiers" = option(
        "random", "random, increasing, decreasing, a list such as 3,1,2, or a file", metavar="NAME", panel=MESSAGES,
        needs="wakes", read=read_identifiers, repeats=True,
        about='of nodes that have them: "random", "increasing", "decreasing", a file, or the identifier of each node, '
        "which together are 1..n",
        takes=kinds.NODES,
    )  # fmt: skip
    delay: "str | Callable[..., Any] | None" = option(
        None, "how long messages take: uniform:1..5, exponential:2 or adversary:5 (a greedy rule, not the worst case)",
        metavar="NAME:…", panel=MESSAGES,
        needs="wakes", read=delay_text,
        about='how many rounds a message takes: None (synchronous rounds), "uniform:1..5", "exponential:2" (its mean), '
        '"adversary:5" (one greedy rule: what the node sends that has sent the most takes 5, everything else 1), or a '
        "function of (time, sender, receiver, message). Then every message is an event of its own",
        takes=kinds.DELAY,
    )  # fmt: skip
    order: str = option(
        "fifo", "fifo, or any: messages overtake each other", metavar="NAME", panel=MESSAGES, needs="wakes",
        about='whether messages over the same link keep their order ("fifo") or not ("any")',
        takes=doors.text,
    )  # fmt: skip
    duplicate: float | str = option(
        0, "of messages that arrive twice, such as 0.1", metavar="SHARE", panel=MESSAGES, needs="wakes",
        read=read_share("duplicate"), write=read_share("duplicate"), none=0.0,
        about="the probability that a message that is not lost arrives twice, each time with a delay of its own",
        takes=kinds.SHARE,
    )  # fmt: skip
    crashes: "Sequence[Crash | str]" = option(
        (), "nodes that stop: round=K,nodes=J, round=K,node=V or rate=R; repeatable", metavar="round=K,nodes=J",
        panel=MESSAGES, needs="wakes", read=crashes_of, write=write_rates, written="crash", repeats=True, is_list=True,
        none="none",
        about='nodes that do nothing from a round on, each a text such as "round=5,nodes=2" (random ones), '
        '"round=5,node=0" or "rate=1e-3" (each node, in every round)',
        takes=kinds.CRASHES,
    )  # fmt: skip
    observe: Mapping[str, Any] | bool | Sequence[str] = option(
        False, "what to record, such as leaders", metavar="NAME,…", panel=RECORDING, needs="has_configurations",
        read=read_observed, write=write_observed,
        about="True for the protocol's observables, names of some, or a dictionary of observables, recorded in "
        "`Run.history` at the steps `at`, or `every` K steps, or spread evenly",
        takes=kinds.OBSERVED,
    )  # fmt: skip
    every: int | None = option(
        None, "record every K steps", metavar="INTEGER", panel=RECORDING, needs="has_configurations",
        read=whole("every", low=1), is_axis=False, about="record every K steps",
        takes=doors.whole(1) | doors.none,
    )  # fmt: skip
    at: Sequence[int] | None = option(
        None, "record at these steps, such as 0,100,1e4", metavar="INTEGER,…", panel=RECORDING,
        needs="has_configurations", read=several(whole("at"), "--at"), is_axis=False, about="record at these steps",
        takes=kinds.POINTS,
    )  # fmt: skip

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", seed_of(self.seed))
        if self.rates and any(isinstance(rate, str) for rate in self.rates):
            object.__setattr__(self, "rates", read_rates(self.rates))
        if self.crashes and any(isinstance(crash, str) for crash in self.crashes):
            object.__setattr__(self, "crashes", crashes_of(self.crashes))
        usual = self.protocol.usual_scheduler
        if self.scheduler == usual:  # one run has one record
            object.__setattr__(self, "scheduler", None)
        if self.protocol.model.has_rounds:  # under a daemon a step is no round
            own = (self.scheduler or usual) == self.protocol.model.scheduler
            unit = type(self.protocol).time_unit if own else "steps"
            object.__setattr__(self, "protocol", self.protocol.counted_in(unit))

    @property
    def given(self) -> dict[str, Any]:
        """The options that are not the default."""
        kind: Any = type(self)  # mypy does not accept it as hashable
        names, values_of, defaults = _defaults(kind)
        return {
            name: value
            for name, value, default in zip(names, values_of(self), defaults, strict=True)
            if not is_default(value, default)
        }  # fmt: skip

    @property
    def made_by(self) -> list[str]:
        """The names of the options that are not the default and concern how each trial is made."""
        return [name for name in self.given if name not in COUNTING]

    def require_known(
        self, spelled: Callable[[Option], str] = lambda option: option.name, given: Iterable[str] = ()
    ) -> None:
        """An option that the protocol's model does not know is an error, never ignored; not even a default `given`."""
        require_meant(self.protocol, (*self.given, *given), options_of(type(self)), spelled)

    def process(self) -> Any:
        """The protocol with lost or one-sided interactions and crashed or paused agents, as the options require."""
        if not self.rates and self.loss == 0 == self.one_sided:  # what is no number, None say, is refused below
            return self.protocol
        from hegemon.models.halting import halting
        from hegemon.models.unreliable import unreliable
        from hegemon.runs.rates import marks_of

        return unreliable(halting(self.protocol, marks_of(read_rates(self.rates))), self.loss, self.one_sided)

    def _subject(self) -> dict[str, Any]:
        from hegemon.models.naming import address, chosen_parameters

        protocol = self.protocol
        return {"protocol": address(type(protocol)), "n": protocol.n, "parameters": chosen_parameters(protocol)}

    def written(self) -> dict[str, Any]:
        """The record as JSON: names are those of the command line, and defaults are left out."""
        return self._subject() | self.settings()

    def settings(self) -> dict[str, Any]:
        """The options alone, as JSON."""
        content = {}
        given = self.given
        for name, known in RUN_OPTIONS.items():
            if name in given and (written := known.write(given[name])) is NotImplemented:
                kind = type(given[name]).__name__
                raise InvalidInput(
                    f"{name} is an object of Python ({kind}), which no file keeps; give a text or a file"
                )
            if name in given:
                content[known.written] = written
        return content

    def command(self) -> str:
        """The command that makes this run."""
        subject = self._subject()
        words = ["hegemon", "run", subject["protocol"].removeprefix(f"{os.getcwd()}{os.sep}"), "--n", str(subject["n"])]
        for name, value in subject["parameters"].items():
            words += ["--set", f"{name}={value}"]
        for name, known in RUN_OPTIONS.items():
            if known.always or name in self.given:
                words += known.words(getattr(self, name))
        return shlex.join(words)


@dataclass(frozen=True, kw_only=True)
class MadeRecord(RunRecord):
    """A run, and how it is made. Nothing that is added here changes its numbers."""

    threads: int | None = option(
        None, "", needs="has_rounds", about="how many threads make a round", takes=kinds.WORKERS
    )
    checkpoint: "Checkpoint | None" = option(
        None,
        "",
        about="a `hegemon.runs.checkpoint.Checkpoint` to keep the run in, and to go on from",
        takes=kinds.CHECKPOINT,
    )


@dataclass(frozen=True, kw_only=True)
class TrialRecord(MadeRecord):
    """One trial of a run."""

    trial: int = option(0, "", about="its number: seed and trial together give the run", takes=kinds.TRIAL)
    keep: bool = option(True, "", about="whether the final configuration is kept in the Run", takes=kinds.FLAG)
    most_rows: int = option(MOST_ROWS, "", about="bounds what `every` may take", takes=doors.whole(1))
    progress: Callable[[int], object] | None = option(
        None,
        "",
        about="`progress(step)` is called several times a second; a true answer interrupts the run",
        takes=doors.function(1) | doors.none,
    )


@dataclass(frozen=True)
class TrialsRecord(MadeRecord):
    """Many trials of a run."""

    trials: int
    _: KW_ONLY
    first: int = option(0, "", about="the number of the first trial", takes=kinds.TRIAL)
    workers: int | None = option(None, "", about="threads; by default one per core", takes=kinds.WORKERS)
    report: Callable[[int, int], object] | None = option(
        None,
        "",
        about="`report(finished, steps)` is called about ten times a second",
        takes=doors.function(2) | doors.none,
    )
    keep_all: bool = option(
        False, "", about="keep the final configurations of all trials, not of the first alone", takes=kinds.FLAG
    )


def unmeant(name: str, protocol: "Protocol", instead: str | None = None) -> InvalidInput:
    """The sentence that refuses an option which a model does not know."""
    then = f"use {instead}" if instead else "leave it out"
    return InvalidInput(f"{name} means nothing to {protocol.id}, a protocol {protocol.model.kind}; {then}")


@cache
def _defaults(record: type) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]], tuple[Any, ...]]:
    """The names of a record's options, what reads all their values at once, and their defaults."""
    options = options_of(record)
    return tuple(options), attrgetter(*options), tuple(option.default for option in options.values())


def require_meant(
    protocol: "Protocol", names: Iterable[str], known: Mapping[str, Option],
    spelled: Callable[[Option], str] = lambda option: option.name,
) -> None:  # fmt: skip
    """Refuse an option that the protocol's model does not know, with the one that it knows instead, if any."""
    model = protocol.model
    for name in names:
        if name in known and not model.knows(known[name].needs):
            instead = known.get(known[name].instead)
            use = spelled(instead) if instead and model.knows(instead.needs) else None
            raise unmeant(spelled(known[name]), protocol, use)


def is_default(value: Any, default: Any) -> bool:
    """Whether an option has its default value; an empty list is none, and 0 is a number."""
    if value is default:
        return True
    if isinstance(value, int | float):
        return bool(value == default)  # 0 is a limit, and None is none
    if isinstance(value, str | tuple | list):
        return value == default or not (value or default)
    return False


RUN_OPTIONS = options_of(RunRecord)
COUNTING = (options_of(TrialRecord).keys() | options_of(TrialsRecord).keys()) - options_of(MadeRecord).keys()
WRITTEN = {known.written: known for known in RUN_OPTIONS.values()}  # by the names of the command line and of files
