"""A table of rules as the text of a Python file that reads like a protocol, and as a class."""

import hashlib
import json
import keyword
import linecache
import re
import sys
import types
from math import prod
from typing import Any

from hegemon import doors
from hegemon.errors import InvalidInput
from hegemon.models.population import PopulationProtocol
from hegemon.models.rule_reading import ORDERS, read_rules
from hegemon.models.rule_table import Counts, RuleTable

MOST_BRANCHES = 60  # rules that are written as branches; beyond, they are a table that is looked up
WIDTH = 100


@doors.door(
    given=doors.text | doors.several(doors.text) | doors.mapping(doors.anything, doors.state) | doors.function(),
    start=doors.none | doors.mapping(doors.number | doors.text, doors.state) | doors.state,
    leader=doors.none
    | doors.several(doors.state)
    | doors.instance("a set", "builtins:set")
    | doors.function()
    | doors.state,
    name=doors.text,
    arbitrary_start=doors.switch,
    transition_order=doors.one_of(*ORDERS),
    parameters=doors.anything,
)
def rules(
    given: Any,
    *,
    start: Any = None,
    leader: Any = None,
    name: str = "Rules",
    arbitrary_start: bool = False,
    transition_order: str = "symmetric",
    **parameters: Any,
) -> type[PopulationProtocol]:
    """A protocol from its rules alone: `hg.rules({("L", "L"): ("L", "F")})(n=100)`.

    given             a dictionary {(a, b): (c, d)} or {(a, b): {(c, d): probability}}; reactions as text, one on a line
                      (`L + L -> L + F`; `a, b -> c, d` is for initiator a alone; `@ 2` is a rate); or a function of two
                      states that returns two. Dictionaries and functions of ppsim are taken as they are.
    start             the state of all agents, or shares of states {"A": 51, "B": 49}; by default the first state.
    leader            the state, states or function of a state whose agents lead; by default states called L or leader.
    arbitrary_start   whether it may start anywhere; then the default start is `random`.
    transition_order  symmetric: a pair without a rule takes that of the reversed pair; or asymmetric.
    parameters        are passed on to a rule that is a function.
    """
    table = read_rules(given, start, leader, transition_order, parameters)
    text = protocol_text(table, name, "A protocol from its rules.", arbitrary_start)
    scope = sys._getframe(2).f_globals.get("__name__", "__main__")
    return protocol_of(text, name, scope)


def protocol_of(text: str, name: str, module: str) -> type[PopulationProtocol]:
    """The class that a written file defines, as if it stood in `module`."""
    file = f"<{name} {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)  # for `inspect` and tracebacks
    scope = vars(types.ModuleType(module))
    exec(compile(text, file, "exec"), scope)
    return scope[name]


def protocol_text(
    table: RuleTable, name: str, heading: str, arbitrary_start: bool = False, graph: str = "complete",
    silent: bool = False,
) -> str:  # fmt: skip
    """The text of a file with the protocol, which can be run, verified and proved."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise InvalidInput(f"{name!r} is no name of a class; take letters, such as Mine")
    safe = _Safe(table, graph, silent)
    branches = len(table.changes()) <= MOST_BRANCHES
    coin = table.denominator > 1
    used = ["Choice", "Group", "PopulationProtocol", *safe.imports, *(["count"] if table.leaders else [])]
    used += [] if not coin else ["Bit"] if table.denominator == 2 else ["Range"]
    begin = ["    arbitrary_start = False", f'    default_start = "{_start_name(table)}"']
    lines = [
        *_docstring(heading, ""),
        "",
        *([] if branches and not safe.by_table else ["import numpy as np", ""]),
        f"from hegemon import {', '.join(sorted(set(used)))}",
        "",
        *_tables(table, branches, safe.by_table),
        "",
        "",
        *(["def is_leader(a, p):", f"    return {_one_of(table)}", "", ""] if table.leaders else []),
        *safe.helpers,
        f"class {name}(PopulationProtocol):",
        *_docstring(_summary(table), "    "),
        "",
        *([] if graph == "complete" else [f'    needs_graph = "{graph}"']),
        *([] if arbitrary_start else begin),
        "",
        "    class State:",
        *_choice(table.states),
        "",
        *_coins(table),
        f"    def interact(a, b, p{', coins' if coin else ''}):",
        *(_branches(table) if branches else _looked_up(coin)),
        "",
        *(["    def output(a, p):", f"        return {_one_of(table)}", ""] if table.leaders else []),
        *_start(table),
        "",
        f"    safe = {safe.expression}.described(",
        f"        {quoted(safe.sentence)},",
        f"        closed={safe.closed},",
        "    )",
        *(["", '    leaders = count(is_leader, "agents that are leaders")'] if table.leaders else []),
    ]
    text = re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)) + "\n"
    return re.sub(r"\n\n\n+(?=    )", "\n\n", text)


def quoted(text: str) -> str:
    """A string of Python in double quotes, whatever it contains."""
    return json.dumps(text, ensure_ascii=False)


def _docstring(text: str, indent: str) -> list[str]:
    first, *rest = text.replace("\\", "/").replace('"""', "'''").split("\n")
    if not rest:
        return [f'{indent}"""{first}"""']
    return [f'{indent}"""{first}', *(f"{indent}{line}" if line else "" for line in rest), f'{indent}"""']


def _summary(table: RuleTable) -> str:
    count = len(table.changes())
    return f"{'; '.join(table.lines())}." if count <= 12 else f"{count} rules of {len(table.states)} states."


def _choice(states: tuple[str, ...]) -> list[str]:
    line = f"        state: Choice({', '.join(map(quoted, states))})"
    if len(line) <= WIDTH + 20:
        return [line]
    return ["        state: Choice(", *(f"            {quoted(state)}," for state in states), "        )"]


def _coins(table: RuleTable) -> list[str]:
    if table.denominator == 1:
        return []
    coin = "heads: Bit  # a fair coin" if table.denominator == 2 else f"draw: Range(1, {table.denominator})"
    return ["    class Coins:", f"        {coin}", ""]


def _branches(table: RuleTable) -> list[str]:
    lines: list[str] = []
    whole = table.denominator
    for (a, b), outcomes in table.rules.items():
        met = f"a.state == {quoted(table.states[a])} and b.state == {quoted(table.states[b])}"
        before = 0
        for chance, after in outcomes:
            first, before = before, before + int(chance * whole)
            if after == (a, b):
                continue
            lines.append(f"        {'elif' if lines else 'if'} {met}{_drawn(first, before, whole)}:")
            for agent, old, new in (("a", a, after[0]), ("b", b, after[1])):
                if old != new:
                    lines.append(f"            {agent}.state = {quoted(table.states[new])}")
    return lines or ["        pass"]


def _drawn(first: int, last: int, whole: int) -> str:
    """The condition that the coin shows one of first + 1 .. last of `whole`."""
    if last - first == whole:
        return ""
    if whole == 2:
        return f" and coins.heads == {first}"
    least = f" and coins.draw > {first}" if first else ""
    return f"{least} and coins.draw <= {last}" if last < whole else least


def _tables(table: RuleTable, branches: bool, by_table: bool) -> list[str]:
    """The rules as rows, where there are too many for branches."""
    if branches and not by_table:
        return []
    size, whole = len(table.states), table.denominator
    rows = []
    for (a, b), outcomes in table.rules.items():
        last = 0
        for chance, (x, y) in outcomes:
            last += int(chance * whole)
            rows.append(f"    ({a}, {b}, {x}, {y}, {last}),")
        if last < whole:
            rows.append(f"    ({a}, {b}, {a}, {b}, {whole}),")
    return [
        "# initiator, responder, what they become, and the last value of the coin for which they do",
        "RULES = np.array((",
        *rows,
        "))",
        f"FIRST = np.full(({size}, {size}), -1)  # where the rules of a pair begin",
        "for k in range(len(RULES) - 1, -1, -1):",
        "    FIRST[RULES[k, 0], RULES[k, 1]] = k",
        "RULES.setflags(write=False)",
        "FIRST.setflags(write=False)",
    ]


def _looked_up(coin: bool) -> list[str]:
    return [
        "        k = FIRST[a.state, b.state]",
        "        if k >= 0:",
        *(["            while coins.draw > RULES[k, 4]:", "                k += 1"] if coin else []),
        "            a.state = RULES[k, 2]",
        "            b.state = RULES[k, 3]",
    ]


def _start_name(table: RuleTable) -> str:
    return "uniform" if len(table.start) == 1 else "given"


def _start(table: RuleTable) -> list[str]:
    total, shares = sum(table.start.values()), list(table.start.items())
    if len(shares) == 1:
        (state, _), *_ = shares
        return [
            "    def start_uniform(self, rng):",
            *_docstring(f"Every agent is {table.states[state]}.", "        "),
            f'        return [Group(self.n, {{"state": {quoted(table.states[state])}}})]',
        ]
    said = ", ".join(f"{share:,} {table.states[state]}" for state, share in shares[:8])
    lines, before = [], 0
    for state, share in shares:
        until = f"self.n * {before + share} // {total}" if before + share < total else "self.n"
        since = f" - self.n * {before} // {total}" if before else ""
        lines.append(f'            Group({until}{since}, {{"state": {quoted(table.states[state])}}}),')
        before += share
    return [
        "    def start_given(self, rng):",
        *_docstring(f"Of {total:,} agents: {said}{' …' if len(shares) > 8 else ''}.", "        "),
        "        return [",
        *lines,
        "        ]",
    ]


def _one_of(table: RuleTable) -> str:
    names = [quoted(table.states[k]) for k in sorted(table.leaders)]
    return f"a.state == {names[0]}" if len(names) == 1 else f"a.state in ({', '.join(names)})"


class _Safe:
    """The description of the settled configurations in the file, and the functions that it needs."""

    def __init__(self, table: RuleTable, graph: str, silent: bool):
        self.imports: list[str] = []
        self.helpers: list[str] = []
        self.by_table, self.closed = False, True
        leading = ["exactly(1, is_leader)"] if table.leaders else []
        self.imports += ["exactly"] if leading else []
        small = prod((len(table.states), len(table.changes()))) <= 2000
        least = table.unsettled(silent or not leading) if graph == "complete" and small else None
        if least is None and leading:
            self.expression, self.sentence, self.closed = leading[0], "exactly one leader, who may still lose it", False
            return
        kept = "no output ever changes" if leading and not silent else "no state ever changes"
        self.sentence = f"one leader, and {kept}" if leading else kept
        parts = [*leading, *(self._without(table, least) if least is not None else self._silent(table))]
        both = " & ".join(parts)
        self.expression = f"({both})" if len(parts) > 1 else both

    def _without(self, table: RuleTable, least: list[Counts]) -> list[str]:
        """Conditions that the agents cover none of the least counts from which something changes."""
        limits: dict[int, int] = {}
        rest, parts = [], []
        for counts in least:
            if table.leaders and sum(counts[k] for k in table.leaders) > 1:
                continue  # impossible with one leader
            single = [k for k, count in enumerate(counts) if count]
            if len(single) > 1 and len(table.leaders) == 1:  # the one leader is always present
                single = [k for k in single if k not in table.leaders]
            if len(single) == 1:
                k = single[0]
                limits[k] = min(limits.get(k, counts[k] - 1), counts[k] - 1)
            else:
                rest.append(counts)
        for k, most in sorted(limits.items()):
            condition = f"lambda a, p: a.state == {quoted(table.states[k])}"
            parts.append(f"nowhere({condition})" if most == 0 else f"at_most({most}, {condition})")
            self.imports.append("nowhere" if most == 0 else "at_most")
        if rest:
            parts.append("whole(nothing_is_left_to_do)")
            self.imports.append("whole")
            self.helpers = _counting(rest, table.states)
        return parts

    def _silent(self, table: RuleTable) -> list[str]:
        """The same for tables with very many rules, by counting every state."""
        self.by_table = True
        self.imports.append("whole")
        self.helpers = [
            "def nothing_is_left_to_do(agents, p):",
            f"    counts = np.zeros({len(table.states)}, np.int64)",
            "    for a in agents:",
            "        counts[a.state] += 1",
            "    for k in range(len(RULES)):",
            "        a, b = RULES[k, 0], RULES[k, 1]",
            "        changes = a != RULES[k, 2] or b != RULES[k, 3]",
            "        if changes and counts[a] > 0 and counts[b] > (1 if a == b else 0):",
            "            return False",
            "    return True",
            "",
            "",
        ]
        return ["whole(nothing_is_left_to_do)"]


def _counting(rest: list[Counts], names: tuple[str, ...]) -> list[str]:
    """A predicate on all agents: they cover none of these counts."""
    used = sorted({k for counts in rest for k, count in enumerate(counts) if count})
    lines = ["def nothing_is_left_to_do(agents, p):"]
    lines += [f"    count_{k} = 0  # of {quoted(names[k])}" for k in used]
    lines += ["    for a in agents:"]
    for k in used:
        lines += [f"        if a.state == {quoted(names[k])}:", f"            count_{k} += 1"]
    for counts in rest:
        there = " and ".join(f"count_{k} >= {count}" for k, count in enumerate(counts) if count)
        lines += [f"    if {there}:", "        return False"]
    return [*lines, "    return True", "", ""]
