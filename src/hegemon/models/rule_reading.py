"""Rules in their usual forms, read into a RuleTable: a dictionary, reactions as text, a function of two states.

Rules that are no population protocol are refused with the reason: one agent that changes alone, three that meet, agents
that appear or vanish.
"""

import copy
import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import is_dataclass
from fractions import Fraction
from math import lcm
from typing import Any

from hegemon.errors import InvalidInput, shown
from hegemon.models.authors import authored
from hegemon.models.domains import simplest
from hegemon.models.expressions import fraction_of
from hegemon.models.rule_table import Pair, RuleTable

ORDERS = ("symmetric", "asymmetric")
MOST_STATES = 1000
ARROWS = re.compile(r"<->|<=>|⇌|->|>>|→")
REVERSIBLE = ("<->", "<=>", "⇌")
TERM = re.compile(r"^(?:(\d+)\s*\*?\s*)?([^\s\d+,@*][^\s+,@]*|\d+)$")
Outcomes = dict[tuple[Any, Any], Fraction]
Told = dict[tuple[Any, Any], Outcomes]


def read_rules(given: Any, start: Any, leaders: Any, transition_order: str, parameters: Mapping[str, Any]) -> RuleTable:
    """The table that a dictionary, a text of reactions (or its lines) or a function describes."""
    if parameters and not callable(given):
        raise InvalidInput(f"{min(parameters)} is passed on to a rule that is a function, and these rules are none")
    if isinstance(given, Mapping):
        told = {_pair(pair, "a rule is for"): _outcomes(pair, after) for pair, after in given.items()}
    elif isinstance(given, str) or (isinstance(given, Iterable) and not callable(given)):
        lines = given.splitlines() if isinstance(given, str) else [str(line) for line in given]
        told, transition_order = _reactions(lines), "asymmetric"  # the rules already contain both orders
    elif callable(given):
        told = _followed(given, start, parameters)
    else:
        raise InvalidInput(
            "rules are a dictionary {(a, b): (c, d)}, reactions as text or a function of two states, not "
            f"{given!r:.60}"
        )
    order: dict[Any, None] = {}
    for pair, outcomes in told.items():
        order |= dict.fromkeys(pair) | dict.fromkeys(state for after in outcomes for state in after)
    shares = _shares(start, order)
    order |= dict.fromkeys(shares)
    names = _names(list(order))
    index = {state: k for k, state in enumerate(order)}
    numbered = {
        (index[a], index[b]): tuple((chance, (index[x], index[y])) for (x, y), chance in outcomes.items())
        for (a, b), outcomes in told.items()
    }
    rules = {pair: after for pair, after in numbered.items() if any(result != pair for _, result in after)}
    if transition_order == "symmetric":
        _mirror(rules)
    if not rules:
        raise InvalidInput("no rule changes anything; give one that does, such as ('L', 'L'): ('L', 'F')")
    return RuleTable(
        names, rules, _chosen(leaders, names, index), {index[state]: share for state, share in shares.items()}
    )


def _mirror(rules: dict[Pair, tuple[Any, ...]]) -> None:
    """A pair without a rule takes that of the reversed pair, and so does one whose rule only exchanges the states.

    This is what ppsim does, where only counts matter.
    """
    for (a, b), outcomes in list(rules.items()):
        mirrored = tuple((chance, after[::-1]) for chance, after in outcomes)
        if (b, a) not in rules or (not _counts(outcomes, (a, b)) <= {0} and _counts(rules[b, a], (b, a)) <= {0}):
            rules[b, a] = mirrored


def _counts(outcomes: tuple[Any, ...], pair: Pair) -> set[int]:
    """0 for an outcome after which as many agents are in every state as before, 1 for any other."""
    return {int(sorted(after) != sorted(pair)) for _, after in outcomes}


def _chosen(leaders: Any, names: tuple[str, ...], index: Mapping[Any, int]) -> frozenset[int]:
    """The numbers of the leader states; states called L or leader, if none are given."""
    if leaders is None:
        return frozenset(k for k, name in enumerate(names) if name in ("L", "leader"))
    if callable(leaders):
        with authored("the function `leader`", "it takes a state and returns whether its agents lead"):
            return frozenset(k for state, k in index.items() if leaders(state))
    alone = not isinstance(leaders, list | tuple | set | frozenset) or (
        isinstance(leaders, tuple | frozenset) and leaders in index
    )
    several = [leaders] if alone else leaders
    found = set()
    for leader in several:
        where = index.get(leader, names.index(leader) if leader in names else None)
        if where is None:
            raise InvalidInput(
                f"leader = {shown(leader)} is not a state of these rules; the states are {_listed(names)}"
            )
        found.add(where)
    return frozenset(found)


def _shares(start: Any, known: Mapping[Any, None]) -> dict[Any, int]:
    """The share of agents that start in each state, as whole numbers: by default all in the first one."""
    if start is None:
        return {next(iter(known)): 1} if known else {}
    if not isinstance(start, Mapping):
        start = {start: 1}
    exact = {state: probability(share, f"the start of {shown(state)}", most=None) for state, share in start.items()}
    if not exact or sum(exact.values()) <= 0:
        raise InvalidInput("the start has no agents; give a state, or shares such as {'A': 51, 'B': 49}")
    strange = [state for state in exact if known and state not in known]
    if strange:
        raise InvalidInput(
            f"the start names {shown(strange[0])}, which is not a state of these rules; the states are "
            f"{_listed(list(map(str, known)))}"
        )
    scale = lcm(*(share.denominator for share in exact.values()))
    return {state: int(share * scale) for state, share in exact.items() if share}


def _names(states: list[Any]) -> tuple[str, ...]:
    names = tuple(state if isinstance(state, str) else str(state) for state in states)
    if len(set(names)) < len(names) or not all(names):
        twice = next(name for name in names if not name or names.count(name) > 1)
        raise InvalidInput(f"two states are both written {twice!r}; give every state a name of its own")
    if len(names) < 2:
        raise InvalidInput(f"these rules have one state, {names[0]!r}; a protocol needs two" if names else "no rules")
    if len(names) > MOST_STATES:
        raise InvalidInput(
            f"these rules have {len(names):,} states; at most {MOST_STATES:,} fit a table: write a class"
        )
    return names


def _listed(names: Iterable[str]) -> str:
    shown = list(names)
    return ", ".join(shown[:12]) + (f" and {len(shown) - 12} more" if len(shown) > 12 else "")


# -- dictionaries ---------------------------------------------------------------------------------------------------


def _pair(given: Any, what: str) -> tuple[Any, Any]:
    if not isinstance(given, tuple | list) or len(given) != 2 or not all(isinstance(one, Hashable) for one in given):
        count = f", not {len(given)} of them" if isinstance(given, tuple | list) else f", not {given!r:.60}"
        raise InvalidInput(f"{what} two agents that meet, such as ('L', 'F'){count}")
    return given[0], given[1]


def _outcomes(pair: Any, after: Any) -> Outcomes:
    """One pair of states, or several with their probabilities."""
    if not isinstance(after, Mapping):
        return {_pair(after, f"the rule of {pair!r:.60} must give"): Fraction(1)}
    found: Outcomes = {}
    for one, chance in after.items():
        key = _pair(one, f"the rule of {pair!r:.60} must give")
        found[key] = found.get(key, Fraction(0)) + probability(
            chance, f"the probability of {pair!r:.60} -> {one!r:.60}"
        )
    if (total := sum(found.values())) > 1:
        raise InvalidInput(f"the probabilities of {pair!r:.60} add up to {total}; they must be at most 1")
    return found


def probability(given: Any, what: str, most: int | None = 1) -> Fraction:
    """A probability or a rate as a fraction: 1/3 for "1/3", and for a float the simplest fraction that it is."""
    try:
        if isinstance(given, float):
            value = simplest(given)
        else:
            value = fraction_of(str(given).replace(" ", ""))
    except (ValueError, ZeroDivisionError, OverflowError):
        value = Fraction(-1)
    if value < 0 or (most is not None and value > most):
        allowed = "a number such as 2 or 1/3" if most is None else "a number in 0..1, such as 0.25 or 1/3"
        raise InvalidInput(f"{what} is {given!r:.40}; give {allowed}")
    return value


# -- reactions ------------------------------------------------------------------------------------------------------


def _reactions(lines: Iterable[str]) -> Told:
    """`A + B -> C + D` for both orders, `A, B -> C, D` for initiator A alone; a rate follows after @."""
    rated: list[tuple[tuple[Any, ...], tuple[Any, ...], Fraction, bool, str]] = []
    with_rates = False
    for number, line in enumerate(lines, 1):
        said = line.partition("#")[0].strip().rstrip(";")
        if said:
            rows, given = _reaction(said, f"line {number}, `{said[:60]}`")
            rated += rows
            with_rates = with_rates or given
    rates: dict[tuple[Any, ...], dict[tuple[Any, ...], Fraction]] = {}
    for before, after, rate, ordered, where in rated:
        ways = [(before, after)]
        if not ordered and before[0] != before[1]:
            ways.append((before[::-1], after[::-1]))
        for pair, result in ways:
            outcomes = rates.setdefault(pair, {})
            if outcomes and not with_rates:
                raise InvalidInput(
                    f"{where}: {' and '.join(pair)} have an outcome already; give all reactions rates, such as @ 1/2, "
                    "if both are meant"
                )
            outcomes[result] = outcomes.get(result, Fraction(0)) + rate
    if not rates:
        raise InvalidInput("there is no reaction; write one on each line, such as L + L -> L + F")
    fastest = max(sum(outcomes.values()) for outcomes in rates.values())
    if fastest <= 0:
        raise InvalidInput("all rates are 0; give at least one that is not")
    return {
        pair: {after: rate / fastest for after, rate in outcomes.items() if rate} for pair, outcomes in rates.items()
    }


def _reaction(said: str, where: str) -> tuple[list[Any], bool]:
    body, _, rates = said.partition("@")
    arrow = ARROWS.search(body)
    if arrow is None or ARROWS.search(body, arrow.end()):
        raise InvalidInput(f"{where}: write one reaction on a line, such as L + L -> L + F")
    left, right = body[: arrow.start()], body[arrow.end() :]
    ordered = "," in left
    before, after = (_agents(side, where) for side in (left, right))
    if len(before) != 2:
        who = "one agent changes alone" if len(before) == 1 else f"{len(before)} agents meet"
        raise InvalidInput(f"{where}: {who}, and in a population protocol two agents meet and both may change")
    if len(after) != 2:
        raise InvalidInput(
            f"{where}: two agents become {len(after)}, and in a population protocol agents neither appear nor vanish"
        )
    backwards = arrow.group() in REVERSIBLE
    given = [probability(rate, f"{where}: the rate", most=None) for rate in rates.split(",")] if rates else []
    if len(given) > 1 + backwards or (backwards and len(given) == 1):
        wanted = "two rates, such as @ 2, 1" if backwards else "one rate, such as @ 2"
        raise InvalidInput(f"{where}: give {wanted}")
    forth, back = (*given, Fraction(1), Fraction(1))[:2]
    rows = [(before, after, forth, ordered, where)]
    if backwards:
        rows.append((after, before, back, ordered, where))
    return rows, bool(given)


def _agents(side: str, where: str) -> tuple[str, ...]:
    found: list[str] = []
    for part in re.split(r"[+,]", side.strip().removeprefix("(").removesuffix(")")):
        match = TERM.match(part.strip())
        if match is None:
            raise InvalidInput(f"{where}: {part.strip()!r} is no state; write names such as L or F, or 2 U for two")
        found += [match.group(2)] * min(int(match.group(1) or 1), 9) if match.group(2) != "∅" else []
    return tuple(found)


# -- functions ------------------------------------------------------------------------------------------------------


def _followed(rule: Callable[..., Any], start: Any, parameters: Mapping[str, Any]) -> Told:
    """The outcomes of every pair of states that can be reached from those of the start."""
    if start is None:
        raise InvalidInput(
            "rules that are a function need the states of the start, from which all others are found: "
            "start={'A': 51, 'B': 49}"
        )
    waiting = list(start) if isinstance(start, Mapping) else [start]
    reached: dict[Any, None] = {}
    told: Told = {}
    instead = "a rule takes two states and returns two, or a dictionary of them"
    while waiting:
        state = waiting.pop(0)
        if state in reached:
            continue
        reached[state] = None
        if len(reached) > MOST_STATES:
            raise InvalidInput(
                f"the rule reaches more than {MOST_STATES:,} states, too many for a table; write a class"
            )
        with authored(f"the rule of {state!r:.60}", instead):
            for pair in [pair for other in reached for pair in ((state, other), (other, state))]:
                told[pair] = _called(rule, pair, parameters)
                waiting += [after for result in told[pair] for after in result if after not in reached]
    return told


def _called(rule: Callable[..., Any], pair: tuple[Any, Any], parameters: Mapping[str, Any]) -> Outcomes:
    """The outcomes that the function returns for two states; dataclasses are copied, so that it may change them."""
    a, b = copy.deepcopy(pair) if is_dataclass(pair[0]) else pair
    after = rule(a, b, **parameters)
    return _outcomes(pair, (a, b) if after is None else after)
