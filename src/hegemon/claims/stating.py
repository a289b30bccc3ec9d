"""Claims of any paper: `claim(…)` states one in a Python file, `claims_in` reads them from it."""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from hegemon import doors, parts
from hegemon.claims.conclusions import LIMIT, examine
from hegemon.claims.registry import Claim
from hegemon.errors import InvalidInput, choose, meant
from hegemon.experiments.fingerprints import module_fingerprint
from hegemon.models.conditions import is_condition
from hegemon.models.protocol import Protocol
from hegemon.protocols.loading import load_file, name_protocol
from hegemon.runs import kinds

TRIALS = 100
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
SCALED = ("exact", "sizes", "trials")  # the keys that `full` may change

_stated: dict[str, list[Claim]] = {}  # while a file is read: its claims, by the module that states them


@kinds.door(
    name=doors.text,
    statement=doors.text,
    protocol=kinds.PROTOCOL_CLASS,
    twin=kinds.PROTOCOL_CLASS | doors.none,
    closed=kinds.TEXT,
    reached=kinds.TEXT,
    mean=kinds.TEXT,
    at_most=kinds.TEXT,
    at_least=kinds.TEXT,
    grows=kinds.TEXT,
    rival=kinds.TEXT,
    probability=kinds.TEXT,
    within=kinds.TEXT,
    test=doors.function(4) | doors.none,
    starts=doors.text | doors.several(doors.text) | doors.none,
    graph=kinds.TEXT,
    parameters=doors.mapping(doors.scalar) | doors.none,
    exact=doors.several(doors.whole(1)),
    sizes=doors.several(doors.whole(1)),
    limit=doors.text,
    full=doors.mapping(doors.anything) | doors.none,
)
def claim(
    name: str,
    statement: str,
    protocol: type[Protocol],
    *,
    twin: type[Protocol] | None = None,
    closed: str | None = None,
    reached: str | None = None,
    mean: str | None = None,
    at_most: str | None = None,
    at_least: str | None = None,
    grows: str | None = None,
    rival: str | None = None,
    probability: str | None = None,
    within: str | None = None,
    test: Callable[..., Any] | None = None,
    of: str | None = None,
    until: str = "safe",
    starts: str | Sequence[str] | None = None,
    graph: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    exact: Sequence[int] = (),
    sizes: Sequence[int] = (),
    trials: int = TRIALS,
    limit: str = LIMIT,
    full: Mapping[str, Any] | None = None,
) -> Claim:
    """State a claim about a protocol, in a file that `hegemon reproduce FILE` measures.

    name, statement   such as "lemma-1", and the sentence of the paper.
    twin              a protocol with a fault that makes the statement false. The claim must call it violated; a claim
                      without a twin, or whose twin is not caught, never holds.

    One conclusion. Numbers are expressions over n and the protocol's parameters, such as "3 * n * log2(n)":
    closed            no step leaves this set.
    reached           this set is reached with probability 1.
    mean, at_most, at_least   the expected time to `until` is this number, or bounded by it.
    grows, rival      the time is O(grows), tested against a faster rival; or Ω(grows), against a slower one.
    probability       `until` is reached (`within` this time) with at least this probability. Message passing: one
                      leader is elected.
    test              your own: test(laboratory, protocol, sizes, trials) returns checks (hegemon.claims.checks).

    Quantifiers:
    until             a set of the protocol or a condition; "broken" is the loss of the leader.
    starts            names of starts; without it, every configuration (exact) and every named start (runs).
    graph             such as "ring:{n}"; parameters: of the protocol, such as {"m": "2 * ceil(log2(n))"}.
    exact             sizes n whose configurations are all followed; sizes: n at which runs are made, `trials` each.
    limit             the time after which a run is stopped; such runs never speak for a bound.
    of                another quantity of runs than their time, such as "messages".
    full              what --full changes: {"sizes": (…), "exact": (…), "trials": 1000}.
    """
    where = f"the claim {name!r}"
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise InvalidInput(f"{where} needs a name of letters, digits, '.', '-' and '_', such as lemma-1")
    for what, kind in (("protocol", protocol), ("twin", twin)):
        if kind is not None and not (isinstance(kind, type) and issubclass(kind, Protocol)):
            raise InvalidInput(
                f"{where}: its {what} must be a protocol's class, not {type(kind).__name__} {kind!r:.40}"
            )
    if twin is protocol:
        raise InvalidInput(f"{where}: its twin is the protocol itself; give one with a fault")
    given = {"closed": closed, "reached": reached, "mean": mean, "at_most": at_most, "at_least": at_least,
             "grows": grows, "probability": probability, "test": test}  # fmt: skip
    chosen = [key for key, value in given.items() if value is not None]
    if len(chosen) != 1:
        found = f"has {', '.join(chosen)}" if chosen else "concludes nothing"
        raise InvalidInput(f"{where} {found}; give exactly one of {', '.join(given)}")
    (conclusion,) = chosen
    if (rival is not None) != (conclusion == "grows"):
        raise InvalidInput(f'{where}: grows and rival go together, as in grows="n * log2(n)", rival="n^2"')
    if within is not None and conclusion != "probability":
        raise InvalidInput(f"{where}: within goes with probability; use at_most for an expected time")
    starts = (starts,) if isinstance(starts, str) else tuple(starts or ())
    _known(where, protocol, starts, closed or reached or until)
    says = {} if conclusion == "test" else {conclusion: given[conclusion]}
    says |= {key: value for key, value in (("rival", rival), ("within", within)) if value is not None}
    if conclusion == "probability":
        says.setdefault("within", None)
    common = {"says": says, "until": reached or until, "starts": list(starts), "graph": graph,
              "parameters": dict(parameters or {}), "limit": limit, "of": of}  # fmt: skip
    quick = {"exact": list(exact), "sizes": list(sizes), "trials": trials}
    larger = {**quick, **_scaled(where, full)}
    for made in (quick, larger):
        _sizes(where, conclusion, made)
    experiment = partial(examine, protocol=protocol, test=test)
    stated = Claim(name, name, statement, statement, experiment, {**common, **quick}, {**common, **larger},
                   twin=twin)  # fmt: skip
    _stated.setdefault(_file_being_read(), []).append(stated)
    return stated


def _known(where: str, protocol: type[Protocol], starts: tuple[str, ...], name: str) -> None:
    """Refuse names that the protocol does not have, before anything runs."""
    for start in starts:
        if start not in protocol.starts:
            raise InvalidInput(
                f"{where}: {protocol.id} has no start {start!r}; {choose(protocol.starts)}"
                f"{meant(start, protocol.starts)}"
            )
    if protocol.model.has_starts and name != "broken" and name not in protocol.sets and not is_condition(name):
        raise InvalidInput(
            f"{where}: {protocol.id} has no set {name!r}; {choose([*protocol.sets, 'or a condition'])} such as "
            f'"count(leader == 1) == 1"{meant(name, protocol.sets)}'
        )


def _scaled(where: str, full: Mapping[str, Any] | None) -> dict[str, Any]:
    for key in full or {}:
        if key not in SCALED:
            raise InvalidInput(f"{where}: full may change {', '.join(SCALED)}, not {key!r}{meant(key, SCALED)}")
    return {key: value if key == "trials" else list(value) for key, value in (full or {}).items()}


def _sizes(where: str, conclusion: str, made: dict[str, Any]) -> None:
    numbers = [*made["exact"], *made["sizes"], made["trials"]]
    if any(not isinstance(n, int) or isinstance(n, bool) or n < 1 for n in numbers):
        raise InvalidInput(f"{where}: exact, sizes and trials are positive whole numbers, not {numbers}")
    if conclusion == "grows" and (len(made["sizes"]) < 3 or made["exact"]):
        raise InvalidInput(f"{where}: a law is tested by runs at three sizes or more; give sizes=(…) and no exact")
    if not made["exact"] and not made["sizes"]:
        raise InvalidInput(
            f"{where} is tested nowhere; give exact=(2, 3) (all configurations), sizes=(…) (runs) or both"
        )


def _file_being_read() -> str:
    """The module whose code is being executed: functions of other files may state claims for it."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    return str(frame.f_globals.get("__name__"))


def claims_in(file: str | Path) -> dict[str, Claim]:
    """The claims that a Python file, or a module of another package, states, in their order."""
    name = str(file)
    if not name.endswith(".py") and parts.is_known("claims", name):
        name = parts.file("claims", name)
    if not name.endswith(".py"):
        raise InvalidInput(f"{name} is not a Python file; give one that states claims (hegemon new {name}.py --claims)")
    name_protocol(name)
    _stated.clear()  # claims of an earlier reading
    module = load_file(name)
    stated = _stated.get(module.__name__, [])
    for one in stated:
        if [other.id for other in stated].count(one.id) > 1:
            raise InvalidInput(f"{name}: several claims have the name {one.id!r}; give each its own")
    if not stated:
        raise InvalidInput(f"{name} states no claim; write one with `from hegemon import claim` and `claim(…)`")
    reference = (module.__doc__ or "").strip().partition("\n")[0] or name
    code = module_fingerprint(module)
    return {one.id: replace(one, reference=reference, file=name, code=code) for one in stated}
