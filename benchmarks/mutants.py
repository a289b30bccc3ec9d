"""Which mutants the claims notice: `python -m benchmarks.mutants` changes every line of the papers' protocols.

One change makes one mutant: a guard or a part of one is dropped, an assignment or a call is dropped, a constant is
changed, a comparison is changed. All claims that take the protocol are then tested on the mutant at the sizes of
`--quick`, the fast ones first, until one is violated. The verdicts are kept in docs/mutants_by_machine.csv, of which
the page docs/mutants_by_machine.md is written. What has a verdict is not judged again: remove its rows for that.
"""

import argparse
import ast
import contextlib
import csv
import importlib.util
import inspect
import io
import multiprocessing
import sys
import tempfile
import time
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hegemon.claims.laboratory import Laboratory
from hegemon.claims.registry import VIOLATED, Claim, all_claims
from hegemon.files import write_text
from hegemon.protocols import CATALOGUE

DOCS = Path(__file__).parent.parent / "docs"
TABLE, PAGE = DOCS / "mutants_by_machine.csv", DOCS / "mutants_by_machine.md"
REASONS = Path(__file__).with_name("mutants.toml")  # why a mutant that no claim notices is harmless
COLUMNS = ("protocol", "line", "changed", "verdict", "claim")
NOTICED, REFUSED, TOO_LONG, UNNOTICED = "violated", "refused", "stopped", "not noticed"
Row = dict[str, str]
SECONDS = 100  # for all claims about one mutant; the published protocols take 70 at most

PROTOCOLS = {  # the functions that are their lines; those of the same file that they call belong to them
    "threshold": ("interact",), "pairwise": ("interact",), "timer": ("interact",), "epidemic": ("interact",),
    "countdown": ("interact",), "quick-elimination": ("interact",), "time-optimal": ("interact",),
    "ring": ("interact",), "trains": ("update",), "referees": ("begin", "round"),
    "walks": ("begin", "round", "forward"),
}  # fmt: skip
SIZES: dict[str, dict[str, Any]] = {  # of the slowest claims, and where engine `nodes` plays
    "survey.timer": {"sizes": (8, 16, 32), "trials": 5, "holding": (4, 8), "holding_trials": 60, "patience": 10**6,
                     "exact_holding": (3, 4), "published": (8, 16), "waited": (9,)},
    "to.thm17.holding": {"sizes": {1: (8, 16)}, "trials": {1: 40}, "tiny": (16,), "exact": (3,), "default": {1: (3,)},
                         "plain": {1: (16,)}},
    "trains.lemma4.6": {"lengths": (), "cases": (("ring:10", 5), ("torus:3x6", 6)), "trials": 4},
    "trains.thm1.2": {"graphs": ("path:4", "star:5"), "trials": 4, "sizes": (8, 16, 32), "growth_trials": 8,
                      "updates": 50, "alike": (("ring:6", 5),)},
    "sub.thm1": {"sizes": (100, 1000), "trials": 40, "success": ((50, 600),)},
    "sub.cor1": {"sizes": (100, 300, 1000), "trials": 40, "success": ((50, 300),)},
    "sub.thm2": {"graphs": ("complete:40", "torus:5x5"), "trials": 10, "growth_trials": 10,
                 "families": {"random 4-regular graphs": ("regular:50,4", "regular:100,4", "regular:200,4")},
                 "success": (("regular:40,4", 200),)},
    "sub.thm2.slack": {"graphs": ("torus:5x5",), "factors": (0.25, 1, 2), "trials": 40},
    "sub.thm3": {"n": 10_000, "exponents": (0.2, 0.4, 0.8), "trials": 400},
    "sub.thm3.rounds": {"n": 1000, "exponents": (0.3,), "trials": 200},
}  # fmt: skip
COMPARED = {
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
}  # fmt: skip
NAMED = {"LIVE": "DUMMY", "DUMMY": "LIVE", "EMPTY": "WAGON", "WAGON": "EMPTY", "ELECTED": "NON_ELECTED",
         "NON_ELECTED": "ELECTED"}  # fmt: skip
WORDS = {"CH": "EL", "EL": "CH", "A": "B", "B": "A", "RANK": "WINNER", "WINNER": "LEADER", "LEADER": "WINNER",
         "TOKEN": "WIN", "WIN": "TOKEN", "explicit": "implicit"}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """What stands instead of one piece of a source text; `line` and `changed` are the whole line before and after."""

    protocol: str
    start: int
    end: int
    after: str
    number: int = 0  # of the line
    line: str = ""
    changed: str = ""


def source_of(protocol: str) -> str:
    return Path(inspect.getfile(CATALOGUE[protocol])).read_text(encoding="utf-8")


def mutants_of(protocol: str) -> list[Mutant]:
    source = source_of(protocol)
    begins, total = [], 0
    for line in source.splitlines(keepends=True):
        begins.append(total)
        total += len(line)
    found: dict[tuple[int, str], Mutant] = {}

    def place(line: int, column: int) -> int:
        text = source[begins[line - 1] :].split("\n", 1)[0]
        return begins[line - 1] + len(text.encode()[:column].decode())

    def add(node: Any, after: str, start: int | None = None, end: int | None = None) -> None:
        first = place(node.lineno, node.col_offset) if start is None else start
        last = place(node.end_lineno, node.end_col_offset) if end is None else end
        begin, end_of_line = source.rfind("\n", 0, first) + 1, source.index("\n", last)
        whole = source[begin:end_of_line], source[begin:first] + after + source[last:end_of_line]
        before, changed = (" ".join(text.split("  #")[0].split()) for text in whole)
        mutant = Mutant(protocol, first, last, after, source.count("\n", 0, first) + 1, before, changed)
        found.setdefault((mutant.number, changed), mutant)

    for function in algorithm(source, CATALOGUE[protocol].__name__, PROTOCOLS[protocol]):
        for node in ast.walk(ast.Module(body=_without_docstring(function), type_ignores=[])):
            if isinstance(node, ast.If):
                add(node.test, "True")
            if isinstance(node, ast.BoolOp):
                neutral = str(isinstance(node.op, ast.And))
                for part in node.values:
                    add(part, neutral)
            if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr | ast.Delete):
                add(node, "pass")
            if isinstance(node, ast.Compare):
                for operator, left, right in zip(
                    node.ops, [node.left, *node.comparators], node.comparators, strict=False
                ):
                    if type(operator) in COMPARED:
                        old, new = COMPARED[type(operator)]
                        after_left = place(left.end_lineno or 0, left.end_col_offset or 0)
                        start = source.index(old, after_left, place(right.lineno, right.col_offset))
                        add(node, new, start, start + len(old))
            if isinstance(node, ast.Constant):
                if (changed := _changed(node.value)) is not None:
                    add(node, changed)
            if isinstance(node, ast.Name) and node.id in NAMED and isinstance(node.ctx, ast.Load):
                add(node, NAMED[node.id])
    return sorted(found.values(), key=lambda mutant: (mutant.start, mutant.end))


def _changed(value: object) -> str | None:
    if isinstance(value, bool):
        return str(not value)
    if isinstance(value, int):
        return str(value - 1 if value > 0 else 1)
    return f'"{WORDS[value]}"' if isinstance(value, str) and value in WORDS else None


def _without_docstring(function: ast.FunctionDef) -> list[ast.stmt]:
    return function.body[ast.get_docstring(function) is not None :]


def algorithm(source: str, kind: str, names: tuple[str, ...]) -> list[ast.FunctionDef]:
    """These methods of the class, and the functions of the file that they call, theirs included."""
    tree = ast.parse(source)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    (owner,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == kind)
    waiting = [node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name in names]
    found: list[ast.FunctionDef] = []
    while waiting:
        function = waiting.pop(0)
        if function not in found:
            found.append(function)
            called = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
            waiting += [functions[name] for name in functions if name in called]
    return found


def made(mutant: Mutant, folder: Path) -> type:
    """The class of a mutant, from a file of its own."""
    source = source_of(mutant.protocol)
    name = f"mutant_{mutant.protocol.replace('-', '_')}_{mutant.start}_{abs(hash(mutant.after)) % 10**6}"
    file = folder / f"{name}.py"
    file.write_text(source[: mutant.start] + mutant.after + source[mutant.end :], encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return played_by_nodes(getattr(module, CATALOGUE[mutant.protocol].__name__))


def played_by_nodes(kind: Any) -> Any:
    """Without the pattern by which a compiled engine plays a protocol of messages: its own lines are to run."""
    if hasattr(kind, "pattern"):
        kind.pattern = None
    return kind


def claims_about(protocol: str) -> list[tuple[Claim, str]]:
    """The claims of the five papers that take this protocol, and the name of the parameter."""
    return [
        (claim, parameter.name)
        for claim in all_claims().values()
        for parameter in inspect.signature(claim.experiment).parameters.values()
        if parameter.default is CATALOGUE[protocol] and not claim.id.endswith("table1")
    ]


def verdict_of(kind: type, claim: Claim, parameter: str) -> str:
    sizes = SIZES.get(claim.id, claim.quick)
    return str(claim.experiment(Laboratory(workers=1), **{parameter: kind}, **sizes).verdict)


def ordered_claims(protocol: str, folder: Path) -> list[tuple[Claim, str]]:
    """Those that the published protocol passes, the fastest first."""
    timed = []
    kind = made(Mutant(protocol, 0, 0, ""), folder)
    for claim, parameter in claims_about(protocol):
        begin = time.monotonic()
        verdict = verdict_of(kind, claim, parameter)
        taken = time.monotonic() - begin
        print(f"{protocol}: {claim.id} {verdict}, {taken:.1f} s", flush=True)
        if verdict != VIOLATED:
            timed.append((taken, claim.id, claim, parameter))
    return [(claim, parameter) for _, _, claim, parameter in sorted(timed, key=lambda entry: entry[:2])]


def judged(mutant: Mutant, claims: list[tuple[Claim, str]], folder: Path, tell: Any) -> None:
    """Send the verdict and the claim that gave it; before each claim its name, in case that it does not end."""
    sys.stderr = io.StringIO()
    try:
        kind = made(mutant, folder)
        for claim, parameter in claims:
            tell.send((TOO_LONG, claim.id))
            if verdict_of(kind, claim, parameter) == VIOLATED:
                tell.send((NOTICED, claim.id))
                return
        tell.send((UNNOTICED, ""))
    except Exception as error:  # whatever ends a claim has noticed the mutant
        tell.send((REFUSED, f"{type(error).__name__}: {str(error).partition(';')[0][:100]}".replace("\n", " ")))


def judge(mutant: Mutant, claims: list[tuple[Claim, str]], folder: Path) -> tuple[str, str]:
    """In a process of its own, which is ended after a while."""
    here, there = multiprocessing.get_context("fork").Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=judged, args=(mutant, claims, folder, there))
    process.start()
    there.close()
    process.join(SECONDS)
    if process.is_alive():
        process.kill()
        process.join()
    last = (REFUSED, "the process ended")
    with contextlib.suppress(EOFError):
        while here.poll():
            last = here.recv()
    return last


def kept_rows() -> list[Row]:
    if not TABLE.exists():
        return []
    with open(TABLE, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def measure(names: list[str], every: int) -> None:
    """Judge those mutants of these protocols that have no verdict; of each protocol one of so many."""
    rows = kept_rows()
    with tempfile.TemporaryDirectory() as folder:
        for protocol in names:
            known = Counter((row["line"], row["changed"]) for row in rows if row["protocol"] == protocol)
            claims: list[tuple[Claim, str]] = []
            for mutant in mutants_of(protocol)[::every]:
                known.subtract({(mutant.line, mutant.changed): 1})
                if known[mutant.line, mutant.changed] >= 0:
                    continue
                claims = claims or ordered_claims(protocol, Path(folder))
                verdict, claim = judge(mutant, claims, Path(folder))
                row = dict(zip(COLUMNS, (protocol, mutant.line, mutant.changed, verdict, claim), strict=True))
                print(*row.values(), sep=" | ", flush=True)
                keep(rows := [*rows, row])


def keep(rows: list[Row]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(TABLE, text.getvalue())


# -- the page --------------------------------------------------------------------------------------------------------

OPENING = """# Mutants by machine: what the claims notice

Every line of the protocols of the five papers is changed by machine: a guard or a part of a guard is dropped, an
assignment or a call is dropped, a constant is changed, a comparison is changed (`==` and `!=`, `<` and `<=`). Each
change makes one mutant. All claims that take the protocol are tested on the mutant at the sizes of `hegemon
reproduce --quick`, the fast ones first, until one is violated. The claims that are violated for the published
protocol as well ([errata](errata.md)) are left out, and so are the tables that compare protocols.

`python -m benchmarks.mutants` measures what has no verdict yet, and writes this page from
[mutants_by_machine.csv](mutants_by_machine.csv), which has every mutant with its verdict. The {number} verdicts
took about {minutes} minutes on a busy machine with two cores. Where fewer mutants were judged than made, it is an
even sample (`--every K`); `python -m benchmarks.mutants time-optimal` judges the others.

*Violated*: a claim is violated. *Refused*: the mutant does not run, or leaves the ranges of its fields, and is
refused with a sentence. *Stopped*: a claim did not end within {seconds} seconds; the published protocols take 70 at
most. Protocols of messages are played by engine `nodes`, so that their own lines run. They and the four slowest
claims have smaller sizes than those of `--quick`.

What the mutants have taught: these passed at first, and the claims were extended until they notice them. Trains
whose Err-Overflow^L has no guard (`trains.lemma4.3.repaired`), whose trains overflow at half of their values
(`trains.lemma4.2` on the longest path that N allows), or whose New-Leader does not draw (`trains.marks.repaired`
begins with New-Leader); a ring whose line 15 does not reset the signal (`ring.lemma7` follows whole executions); a
lottery that loses its last leader (`to.lemma5` asks for a leader in every execution).
"""


@dataclass(frozen=True)
class Reason:
    """Why changes of these lines are harmless."""

    protocol: str
    lines: list[str]
    changed: list[str]
    why: str

    def covers(self, row: Row) -> bool:
        return row["protocol"] == self.protocol and row["line"] in self.lines and row["changed"] in self.changed


UNEXPLAINED = "not explained yet: add a reason to benchmarks/mutants.toml"


def reasons() -> list[Reason]:
    entries = tomllib.loads(REASONS.read_text(encoding="utf-8"))["harmless"]
    return [Reason(**entry | {"why": " ".join(entry["why"].split())}) for entry in entries]


def page(rows: list[Row]) -> str:
    known, minutes = reasons(), tomllib.loads(REASONS.read_text(encoding="utf-8"))["minutes"]
    lines = [OPENING.format(number=len(rows), minutes=minutes, seconds=SECONDS)]
    lines += ["| protocol | mutants | judged | violated | refused | stopped | not noticed |", "| --- |" + " --- |" * 6]
    for protocol in PROTOCOLS:
        verdicts = [row["verdict"] for row in rows if row["protocol"] == protocol]
        counts = [verdicts.count(verdict) for verdict in (NOTICED, REFUSED, TOO_LONG, UNNOTICED)]
        counts = [len(mutants_of(protocol)), len(verdicts), *counts]
        lines.append(f"| {protocol} | " + " | ".join(map(str, counts)) + " |")
    lines += ["", "## Which mutants no claim notices, and why", ""]
    for protocol in PROTOCOLS:
        unnoticed = [row for row in rows if row["protocol"] == protocol and row["verdict"] == UNNOTICED]
        if unnoticed:
            lines += [f"### {protocol}", "", "| line | changed to | why that is no error of a claim |"]
            lines.append("| --- | --- | --- |")
            for row in unnoticed:
                why = next((reason.why for reason in known if reason.covers(row)), UNEXPLAINED)
                lines.append(f"| {_code(row['line'])} | {_code(row['changed'])} | {why} |")
            lines.append("")
    return "\n".join(lines)


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("protocols", nargs="*", metavar="PROTOCOL", help="all of the five papers, if none is given")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="judge one of K mutants")
    parser.add_argument("--page", action="store_true", help="write the page alone")
    options = parser.parse_args()
    if not options.page:
        measure(options.protocols or list(PROTOCOLS), options.every)
    write_text(PAGE, page(kept_rows()))
