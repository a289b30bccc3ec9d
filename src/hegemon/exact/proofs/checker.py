"""Checks a certificate of `hegemon prove`: `python -m hegemon.exact.proofs.checker certificate.json`.

It shares nothing with the prover: it makes every obligation itself, as SMT-LIB text, and asks each installed solver
(z3, cvc5); weights it checks with whole numbers. A solver reads commands, so no text of the file reaches one: what a
question is made of are whole numbers. It prints what it has checked: every field of the file is part of that
statement or of its reasons, and an unknown field is refused. Why that suffices:
  - Every start satisfies the invariants, Inv, and every interaction keeps them: so Inv always holds.
  - closed: in Inv and the set, Goal, which is that one of its rows of constraints holds, no interaction leads out.
  - leader: closed, one leader in Inv and Goal, and no pair that changes an output is present there.
  - reached: in a run that never enters Goal, weights >= 0 that no rule with a living pair raises fall finitely often.
    With probability 1 a pair that can meet again and again does: so those that lower them are dead, they cannot meet
    from some time on; and so is a starved pair, one that cannot meet outside Goal while dead pairs can meet neither
    before nor after. If no configuration outside Goal is left without a dead pair that can meet, there is no such run.
On a complete graph a pair can meet if both states are present. On a connected graph without a dead pair on an edge,
all states present lie in one component of the states that are not dead together.
"""

import hashlib
import itertools
import json
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any


def main(arguments: list[str]) -> int:
    try:
        with open(arguments[0], "rb") as file:
            certificate = opened(file.read())
        report, lines = check(certificate), list(described(certificate))
    except Exception as error:  # a file may hold anything, and a solver may fail on it in any way
        print(f"not a certificate: {type(error).__name__}: {error} (usage: checker certificate.json)", file=sys.stderr)
        return 2
    verdict = f"{report['obligations']} obligations: {'REJECTED' if report['failures'] else 'accepted'}"
    print(*lines, *report["failures"], ", ".join(report["solvers"]), verdict, sep="\n")
    return len(report["failures"]) > 0


# What each field holds: a whole number, a text, a list of one form, a form by its name, or (printed alone) anything.
FORMS: dict[str, dict[str, Any]] = {
    "certificate": {"protocol": str, "parameters": object, "graphs": str, "parts": ["part"]},
    "part": {"smallest_n": int, "inputs": [[int]], "states": [str], "outputs": [int], "rules": [[int]],
             "statements": ["statement"]},
    "statement": {"question": str, "set": str, "rows": [["constraint"]], "start": "start",
                  "invariants": ["constraint"], "stages": ["stage"]},
    "start": {"text": str, "constraints": ["constraint"], "groups": ["group"]},
    "group": {"states": [int], "n": int, "input": int, "constant": int},
    "constraint": {"weights": [int], "at_least": int},
    "stage": {"weights": [int], "pairs": [[int]]},
    "starved stage": {"starved": [[int]]},
}  # fmt: skip
SECONDS = 60  # for one question; a solver that takes longer has proved nothing
MEANING = {
    "closed": "no interaction leads out of the set, on any graph",
    "leader": "in the set the outputs add up to 1, and no interaction changes one or leads out, on any graph",
    "reached": "the set is visited with probability 1, on every {graphs} graph",
}


def described(certificate: dict[str, Any]) -> Iterator[str]:
    """What is checked, line by line. Names are quoted from the file: what they stand for is what is checked."""
    protocol, parameters = json.dumps(certificate["protocol"]), json.dumps(certificate["parameters"])
    yield f"protocol {protocol}, parameters {parameters}: a name for the states and rules below"
    for part in certificate["parts"]:
        facts = ["0 <= input <= n", *(f"{a}*n + {b}*input + {c} >= 0" for a, b, c in part["inputs"] or ())]
        bounds = "" if part["inputs"] is None else f", {', '.join(facts)}"
        yield f"for every n >= {part['smallest_n']}{bounds}, c0, c1, … being the numbers of agents in each state:"
        for state, (name, output) in enumerate(zip(part["states"], part["outputs"], strict=True)):
            yield f"  state {state}: {json.dumps(name)}, output {json.dumps(output)}"
        rules = ", ".join(f"{a} {b} → {c} {d}" for a, b, c, d in part["rules"])
        yield f"  rules: {rules or 'none'}; any other meeting changes nothing"
        for statement in part["statements"]:
            start, name = statement["start"], json.dumps(statement["set"])
            meaning = MEANING[statement["question"]].format(graphs=certificate["graphs"])
            yield f"  {statement['question']} {name}: {meaning}, after any of the starts"
            rows = [conjunction(row) or "every configuration" for row in statement["rows"]]
            yield f"    set {name}: {'; or '.join(rows) or 'no configuration'}"
            groups = [
                f"{group['n']}*n + {group['input']}*input + {group['constant']} agents in states {group['states']}"
                for group in start["groups"]
            ]
            begins = "; ".join(filter(None, [conjunction(start["constraints"]), *groups])) or "every configuration"
            yield f"    starts {json.dumps(start['text'])}: {begins}"
            yield f"    invariants: {conjunction(statement['invariants']) or 'none'}"
            yield from (f"    stage {k}: {json.dumps(stage)}" for k, stage in enumerate(statement["stages"], start=1))


def conjunction(constraints: Any) -> str:
    inequalities = []
    for constraint in constraints:
        terms = [f"{weight}*c{state}" for state, weight in enumerate(constraint["weights"]) if weight]
        inequalities.append(f"{' + '.join(terms) or '0'} >= {constraint['at_least']}")
    return " and ".join(inequalities)


def check(certificate: dict[str, Any]) -> dict[str, Any]:
    """What is proved, the number of obligations, the solvers used, and every failure."""
    require_form("certificate", certificate)
    connected = {"complete": False, "connected": True}[certificate["graphs"]]
    solvers = {name: ask for name, ask in (("z3", ask_z3), ("cvc5", ask_cvc5)) if find_spec(name)}
    report: dict[str, Any] = {"statements": [], "obligations": 0, "solvers": list(solvers), "failures": []}
    for part in certificate["parts"]:
        size = len(part["states"])
        require(len(part["outputs"]) == size and part["smallest_n"] >= 2, "not one output per state, or n < 2")
        require(all(0 <= x < size for rule in part["rules"] for x in rule), "a rule names a state not there")
        require(len({tuple(rule[:2]) for rule in part["rules"]}) == len(part["rules"]), "a pair has two rules")
        for statement in part["statements"]:
            goal, start = json.dumps(statement["set"]), json.dumps(statement["start"]["text"])
            name = f"{statement['question']} {goal} from {start} for every n >= {part['smallest_n']}"
            formulas, flaws = Statement(part, statement, connected).obligations()
            for number, formula in enumerate(formulas):
                text = script(size, part["smallest_n"], formula)
                answers = {solver: ask(text) for solver, ask in solvers.items()}
                if set(answers.values()) != {"unsat"}:
                    flaws.append(f"obligation {number}: {answers or 'there is no solver to ask'}")
            report["statements"].append(f"{name}: {len(formulas)} obligations")
            report["obligations"] += len(formulas)
            report["failures"] += [f"{name}: {flaw}" for flaw in flaws]
    return report


def require(condition: bool, flaw: str) -> None:
    if not condition:
        raise ValueError(flaw)


def require_form(form: Any, content: Any) -> None:
    """Every field that should be there and no other, each of its form: `True` and `1.0` are no whole numbers."""
    if form == "stage" and isinstance(content, dict) and "starved" in content:
        form = "starved stage"
    if isinstance(form, list):
        require_form(list, content)
        for item in content:
            require_form(form[0], item)
    elif isinstance(form, str):
        require_form(dict, content)
        require(sorted(content) == sorted(FORMS[form]), f"a {form} has the fields {sorted(content)}")
        for name, inner in FORMS[form].items():
            if not (name == "inputs" and content[name] is None):  # a part without inputs
                require_form(inner, content[name])
    else:
        require(form is object or type(content) is form, f"{content!r:.80} is not of type {form.__name__}")


def opened(text: bytes) -> Any:
    """The certificate in a file, which begins with its digest."""
    parts = re.fullmatch(rb'\{"digest":"([0-9a-f]{32})","proof":(.*)\}\n?', text, re.DOTALL)
    if parts is None or hashlib.sha256(parts[2]).hexdigest()[:32].encode() != parts[1]:
        raise ValueError("the file is damaged, or of another kind")
    return json.loads(parts[2], object_pairs_hook=without_repetition)


def without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of the file: of a field that stands in it twice, people and programs may read different values."""
    content = dict(pairs)
    require(len(content) == len(pairs), f"a field stands twice among {[name for name, _ in pairs]}")
    return content


class Statement:
    """The obligations of one statement, as SMT-LIB terms over c0, c1, … (the numbers of agents in each state)."""

    def __init__(self, part: dict[str, Any], statement: dict[str, Any], connected: bool):
        self.part, self.statement, self.connected, self.size = part, statement, connected, len(part["states"])
        self.rules = [tuple(rule) for rule in part["rules"]]
        self.goal, self.invariants = list(map(self.read, statement["rows"])), self.read(statement["invariants"])

    def read(self, constraints: Any) -> list[tuple[Any, ...]]:
        require(all(len(constraint["weights"]) == self.size for constraint in constraints), "not one weight per state")
        return [(constraint["weights"], constraint["at_least"]) for constraint in constraints]

    def obligations(self) -> tuple[list[str], list[str]]:
        kind = {question: question for question in ("closed", "leader", "reached")}[self.statement["question"]]
        invariant, inside = self.all_of(self.invariants), self.one_of(self.goal)
        formulas = [f"(and {self.start()} (not {holds(constraint)}))" for constraint in self.invariants]
        breaks = itertools.chain.from_iterable(map(self.breaks, self.invariants))
        formulas += [f"(and {invariant} {broken})" for broken in breaks]
        if kind != "reached":
            formulas += [f"(and {invariant} {inside} {left})" for left in self.leaves()]
        if kind == "leader":
            out = self.part["outputs"]
            changing = [(a, b) for a, b, c, d in self.rules if (out[a], out[b]) != (out[c], out[d])]
            formulas.append(f"(and {invariant} {inside} (not (= {linear(out)} 1)))")
            formulas += [f"(and {invariant} {inside} {present(pair)})" for pair in changing]
        of_stages = self.stages(f"{invariant} (not {inside})") if kind == "reached" else ([], [])
        return formulas + of_stages[0], of_stages[1]

    def stages(self, context: str) -> tuple[list[str], list[str]]:
        formulas, flaws, dead = [], [], set[tuple[Any, ...]]()
        for number, stage in enumerate(self.statement["stages"]):
            living = [rule for rule in self.rules if rule[:2] not in dead]
            pairs = {tuple(pair) for pair in stage.get("starved", stage.get("pairs"))}
            require(all(0 <= x < self.size for pair in pairs for x in pair), "a pair names a state not there")
            if "starved" in stage:
                for rule in (rule for rule in living if rule[:2] in pairs):
                    after = f"{self.all_of(self.invariants, rule)} (not {self.one_of(self.goal, rule)})"
                    dies = f"{self.dead(dead)} {self.dead(dead, rule)}"
                    formulas.append(f"(and {context} {present(rule[:2])} {after} {dies})")
            else:
                w = stage["weights"]
                require(len(w) == self.size and all(type(x) is int and x >= 0 for x in w), "weights: whole and >= 0")
                flaws += [f"stage {number}: {rule} raises the weights" for rule in living if change(w, rule) > 0]
                living = [rule for rule in living if change(w, rule) < 0]
            flaws += [f"stage {number}: {p} is dead without a reason" for p in pairs - {rule[:2] for rule in living}]
            dead |= pairs
        return [*formulas, f"(and {context} {self.dead(dead)})"], flaws

    def all_of(self, constraints: Any, rule: Any = None) -> str:
        return "(and true true " + " ".join(holds(constraint, rule) for constraint in constraints) + ")"

    def one_of(self, rows: Any, rule: Any = None) -> str:
        return "(or false false " + " ".join(self.all_of(row, rule) for row in rows) + ")"

    def leaves(self) -> list[str]:
        if len(self.goal) == 1:
            return [broken for constraint in self.goal[0] for broken in self.breaks(constraint)]
        return [f"{present(rule[:2])} (not {self.one_of(self.goal, rule)})" for rule in self.rules]

    def breaks(self, constraint: Any) -> Iterator[str]:
        for rule in self.rules:
            if change(constraint[0], rule) < 0:
                yield f"{present(rule[:2])} (not {holds(constraint, rule)})"

    def dead(self, pairs: Any, rule: Any = None) -> str:
        if not self.connected:
            return "(and true true " + " ".join(f"(not {present(pair, rule)})" for pair in sorted(pairs)) + ")"
        label = list(range(self.size))
        for a, b in itertools.product(label, repeat=2):
            if (a, b) not in pairs and (b, a) not in pairs:
                label = [label[a] if x == label[b] else x for x in label]
        possible = (part for part in set(label) if label.count(part) > 1 or (label.index(part),) * 2 not in pairs)
        absent = ([int(x != part) for x in label] for part in possible)
        return "(or false false " + " ".join(f"(= {linear(w, change(w, rule))} 0)" for w in absent) + ")"

    def start(self) -> str:
        start, inputs, total = self.statement["start"], self.part["inputs"], linear([1] * self.size)
        terms = [self.all_of(self.read(start["constraints"]))]
        if inputs is not None:
            terms.append(f"(<= 0 input {total})")
            terms += [f"(>= (+ (* {a} {total}) (* {b} input) {c}) 0)" for a, b, c in (map(text_of, f) for f in inputs)]
        if start["groups"]:
            parts = [["0", "0"] for _ in range(self.size)]
            for number, group in enumerate(start["groups"]):
                names = [f"g{number}_{state}" for state in group["states"]]
                require(all(0 <= x < self.size for x in group["states"]), "a group names a state that is not there")
                for state, name in zip(group["states"], names, strict=True):
                    parts[state].append(name)
                    terms.append(f"(>= {name} 0)")
                n, share, constant = (text_of(group[key]) for key in ("n", "input", "constant"))
                terms.append(f"(= (+ 0 0 {' '.join(names)}) (+ (* {n} {total}) (* {share} input) {constant}))")
            terms += [f"(= c{state} (+ {' '.join(names)}))" for state, names in enumerate(parts)]
        return f"(and {' '.join(terms)} true)"


def change(weights: Any, rule: Any) -> int:
    return weights[rule[2]] + weights[rule[3]] - weights[rule[0]] - weights[rule[1]] if rule else 0


def text_of(number: int) -> str:
    require(type(number) is int, f"{number!r} is not a whole number")
    return str(number) if number >= 0 else f"(- {-number})"


def linear(weights: Any, shift: int = 0) -> str:
    return f"(+ {text_of(shift)} 0 {' '.join(f'(* {text_of(w)} c{state})' for state, w in enumerate(weights) if w)})"


def holds(constraint: Any, rule: Any = None) -> str:  # before, or after, an interaction
    return f"(>= {linear(constraint[0], change(constraint[0], rule))} {text_of(constraint[1])})"


def present(pair: Any, rule: Any = None) -> str:  # two agents in these states are present, before or after
    changes = [rule[2:].count(state) - rule[:2].count(state) if rule else 0 for state in pair]
    terms = [f"(>= (+ c{x} {text_of(plus)}) {pair.count(x)})" for x, plus in zip(pair, changes, strict=True)]
    return f"(and {' '.join(terms)})"


def script(size: int, smallest: int, formula: str) -> str:  # a whole file for a solver
    names = [*(f"c{state}" for state in range(size)), *sorted(set(re.findall(r"input|g\d+_\d+", formula)))]
    lines = [f"(declare-const {x} Int)" for x in names] + [f"(assert (>= {x} 0))" for x in names[:size]]
    lines += [f"(assert (>= {linear([1] * size)} {text_of(smallest)}))", f"(assert {formula})", "(check-sat)"]
    return "\n".join(["(set-logic QF_LIA)", *lines])


def ask_z3(text: str) -> str:
    import z3

    solver = z3.Solver()
    solver.set("timeout", 1000 * SECONDS)
    solver.from_string(text)
    return str(solver.check())


def ask_cvc5(text: str) -> str:
    import cvc5

    solver, answer = cvc5.Solver(), ""
    solver.setOption("tlimit-per", str(1000 * SECONDS))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "obligation")
    while not (command := parser.nextCommand()).isNull():
        answer += command.invoke(solver, parser.getSymbolManager())
    return answer.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
