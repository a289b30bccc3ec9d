"""Random programs over the whole language, and what they do in CPython: values, accesses in order, errors and lines."""

import linecache
import random
import traceback

import numpy as np

FIELDS = ("x", "y", "z")
HEAD = """from math import log, sqrt

import numpy as np

LIMIT, FEW = 7, (1, 2, 5)
SHARE = 0.5
"""


class Program:
    """A module with helpers and a function `interact(a, b, p, coins)`, drawn from one number."""

    def __init__(self, number: int):
        self.rng = random.Random(number)
        self.number, self.lines, self.helpers = number, HEAD.splitlines(), []
        for place in range(self.rng.randrange(3)):
            self._function(f"helper_{place}", ["u", "p", "k=3"] if self.rng.random() < 0.5 else ["u", "v", "p"])
        self._function("interact", ["a", "b", "p", "coins"])
        self.text = "\n".join(self.lines) + "\n"

    # -- statements ----------------------------------------------------------------------------------------

    def _function(self, name, parameters):
        plain = [one.partition("=")[0] for one in parameters]
        self.things = [one for one in plain if one in ("a", "b", "u", "v")]
        self.numbers = [one for one in plain if one == "k"]
        self.coins, self.arrays, self.loops, self.binds = "coins" in plain, [], 0, True
        self.lines += ["", "", f"def {name}({', '.join(parameters)}):"]
        self._block(1, self.rng.randint(2, 5), False)
        if self.rng.random() < 0.6 or name != "interact":
            self.lines.append(f"    return {self.value(2)}")
        if name != "interact":
            self.helpers.append((name, parameters))

    def _block(self, depth, size, inside):
        for _ in range(size):
            self._statement(depth, inside)

    def _statement(self, depth, inside):
        indent, pick = "    " * depth, self.rng.random()
        if pick < 0.28:
            name = self._fresh()
            self.lines.append(f"{indent}{name} = {self.value(3)}")
            self.numbers.append(name)
        elif pick < 0.5:
            self.lines.append(f"{indent}{self._target()} = {self.value(3)}")
        elif pick < 0.56:
            self.lines.append(f"{indent}{self._target()} = {self._target()} = {self.value(2)}")
        elif pick < 0.62:
            self.lines.append(f"{indent}{self._target()}, {self._target()} = {self.value(2)}, {self.value(2)}")
        elif pick < 0.7:
            operation = self.rng.choice(("+", "-", "*", "//", "%", "&", "|", "^", ">>"))
            self.lines.append(f"{indent}{self._target()} {operation}= {self.value(2)}")
        elif pick < 0.76 and depth < 3:
            self._array(indent)
        elif pick < 0.88 and depth < 4:
            self._compound(depth, inside)
        elif pick < 0.93 and inside:
            self.lines += [f"{indent}if {self.test(1)}:", f"{indent}    {self.rng.choice(('break', 'continue'))}"]
        elif pick < 0.96:
            self.lines += [f"{indent}if {self.test(2)}:", f"{indent}    return {self.value(1)}"]
        elif self.helpers:
            self.lines.append(f"{indent}{self._call()}")
        else:
            self.lines.append(f"{indent}pass")

    def _compound(self, depth, inside):
        indent, kind = "    " * depth, self.rng.randrange(3)
        held = list(self.numbers)  # a name of a branch may have no value after it; sometimes it is read nevertheless
        if kind == 0:
            self.lines.append(f"{indent}if {self.test(2)}:")
            self._block(depth + 1, self.rng.randint(1, 2), inside)
            if self.rng.random() < 0.5:
                self.lines.append(f"{indent}elif {self.test(2)}:" if self.rng.random() < 0.4 else f"{indent}else:")
                self._block(depth + 1, 1, inside)
        else:
            self.loops += 1
            name = f"i{self.loops}"
            if kind == 1:
                self.lines.append(f"{indent}for {name} in {self._items()}:")
                self.numbers.append(name)
            else:
                self.lines += [f"{indent}{name} = 0", f"{indent}while {name} < 4 and {self.test(1)}:"]
                self.lines.append(f"{indent}    {name} += 1")
            self._block(depth + 1, self.rng.randint(1, 2), True)
            if self.rng.random() < 0.3:
                self.lines.append(f"{indent}else:")
                self._block(depth + 1, 1, inside)
        if self.rng.random() < 0.8:
            self.numbers = held

    def _array(self, indent):
        name = f"row{len(self.arrays)}"
        made = self.rng.choice(("np.zeros(4, np.int64)", "np.full(5, -1)", "np.ones(LIMIT, np.int64)"))
        self.lines.append(f"{indent}{name} = {made}")
        self.lines.append(f"{indent}{name}[{self.value(1)} % 4] = {self.value(1)} % 100")
        self.arrays.append(name)

    def _items(self):
        binds, self.binds = self.binds, False
        items = self.rng.choice(
            (
                f"range({self.value(1)} % 5)", "range(3, -1, -1)", "FEW", f"({self.value(1)}, {self.value(1)})",
                f"{self.thing()}.row", f"range(1, {self.value(1)} % 6, 2)",
            )
        )  # fmt: skip
        self.binds = binds
        return items

    def _fresh(self):
        return f"t{self.rng.randrange(5)}"

    def _target(self):
        if self.arrays and self.rng.random() < 0.1:
            return f"{self.rng.choice(self.arrays)}[{self.rng.randrange(3)}]"
        if self.rng.random() < 0.15:
            return f"{self.thing()}.row[{self.value(1)} % 4]"
        if self.numbers and self.rng.random() < 0.15:
            return self.rng.choice(self.numbers)
        return f"{self.thing()}.{self.rng.choice(FIELDS)}"

    def thing(self):
        return self.rng.choice(self.things)

    # -- expressions ---------------------------------------------------------------------------------------

    def value(self, depth):
        rng = self.rng
        if depth == 0 or rng.random() < 0.25:
            return self._leaf()
        pick, less = rng.random(), depth - 1
        if pick < 0.4:
            operation = rng.choice(("+", "-", "*", "//", "%", "+", "-", "&", "|", "^", "%"))
            broken = "\n        " if rng.random() < 0.05 else ""
            return f"({self.value(less)} {operation} {broken}{self.value(less)})"
        if pick < 0.45:
            return f"({self.value(less)} {rng.choice(('<<', '>>', '**'))} ({self.value(less)} % 4))"
        if pick < 0.5:
            return f"({rng.choice(('-', '+', '~', 'not '))}{self.value(less)})"
        if pick < 0.58:
            return f"({self.value(less)} if {self.test(less)} else {self.value(less)})"
        if pick < 0.64:
            return f"({self.test(less)})"
        if pick < 0.7:
            return f"({self.value(less)} {rng.choice(('and', 'or'))} {self.value(less)})"
        if pick < 0.78:
            return f"{rng.choice(('min', 'max'))}({self.value(less)}, {self.value(less)}, {self._leaf()})"
        if pick < 0.82:
            return rng.choice((f"abs({self.value(less)})", f"int({self.value(less)} / 4)", f"bool({self.value(less)})",
                               f"int(log(1 + abs({self._leaf()})))", f"sum(FEW, {self._leaf()})",
                               f"sum({self.thing()}.row[{self._leaf()}:3])"))  # fmt: skip
        if pick < 0.87:
            return self._gathered()
        if pick < 0.9:
            return f"({self._fresh_bound()} := {self.value(less)})" if self.binds else self._leaf()
        if pick < 0.95:
            return f"({self.value(less)}, {self.value(less)})[{rng.choice((0, 1, -1, 2))}]"
        return self._call() if self.helpers else self._leaf()

    def _gathered(self):
        """A generator within any, all, sum or max; an assignment in it is outside the language."""
        rng, binds, self.binds = self.rng, self.binds, False
        clause = f"for e in {self._items()}"
        clause += f" if e != {self._leaf()}" if rng.random() < 0.4 else ""
        element = rng.choice((f"e + {self._leaf()}", f"e == {self._leaf()}", f"e % {self._leaf()}"))
        name, self.binds = rng.choice(("any", "all", "sum", "max")), binds
        if name == "max":
            return f"max(({element} {clause}), default={self._leaf()})"
        return f"{name}({element} {clause})"

    def _fresh_bound(self):
        name = self._fresh()
        self.numbers.append(name)
        return name

    def _leaf(self):
        rng, pick = self.rng, self.rng.random()
        if pick < 0.35:
            return f"{self.thing()}.{rng.choice(FIELDS)}"
        if pick < 0.5 and self.numbers:
            return rng.choice(self.numbers)
        if pick < 0.6:
            return rng.choice(("p.n", "p.k", "LIMIT", "len(FEW)", "FEW[1]"))
        if pick < 0.67 and self.coins:
            return rng.choice(("coins.heads", "coins.die"))
        if pick < 0.72:
            return f"{self.thing()}.row[{rng.choice((0, 1, 2, 3, -1, 3, 4))}]"
        if pick < 0.75 and self.arrays:
            return f"{rng.choice(self.arrays)}[{rng.randrange(4)}]"
        return str(rng.choice((0, 1, 2, 3, 5, 10, -1, True, 2**40, 12345, 2**62)))

    def test(self, depth):
        rng = self.rng
        if depth > 0 and rng.random() < 0.3:
            return f"({self.test(depth - 1)} {rng.choice(('and', 'or'))} {self.test(depth - 1)})"
        less = max(depth - 1, 0)
        pick = rng.random()
        if pick < 0.15:
            return f"{self.value(less)} {rng.choice(('in', 'not in'))} ({self.value(less)}, {self.value(less)})"
        if pick < 0.25:
            return f"{self.value(less)} < {self.value(less)} <= {self.value(less)}"
        return f"{self.value(less)} {rng.choice(('==', '!=', '<', '<=', '>', '>='))} {self.value(less)}"

    def _call(self):
        name, parameters = self.rng.choice(self.helpers)
        given = [
            self._argument(one.partition("=")[0]) for one in parameters if "=" not in one or self.rng.random() < 0.6
        ]
        if len(given) == len(parameters) and "=" in parameters[-1] and self.rng.random() < 0.5:
            given[-1] = f"k={given[-1]}"
        return f"{name}({', '.join(given)})"

    def _argument(self, name):
        return self.thing() if name in ("u", "v") else "p" if name == "p" else self.value(1)


class Logged:
    """A state that notes every access, in order."""

    def __init__(self, log, name, **values):
        vars(self).update(_log=log, _name=name, _values=values)

    def __getattr__(self, name):
        self._log.append((self._name, name))
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        self._log.append((self._name, name, "=", repr(value)))
        self._values[name] = value


def arguments(number):
    """Two states, parameters and coins, and the log of what is done to the states."""
    rng, log = random.Random(number), []

    def state(name):
        values = {field: rng.choice((0, 1, 2, 3, 9, -4, 2**63 - 1)) for field in FIELDS}
        return Logged(log, name, row=[rng.randrange(9) for _ in range(4)], **values)

    return log, (state("a"), state("b"), Numbers(n=rng.randint(1, 9), k=rng.choice((0, 1, 5))),
                 Numbers(heads=rng.randrange(2), die=rng.randrange(6)))  # fmt: skip


class Numbers:
    def __init__(self, **values):
        vars(self).update(values)


def defined(program):
    """The functions of a program, as an import defines them."""
    name = f"<program {program.number}>"
    linecache.cache[name] = (len(program.text), None, program.text.splitlines(True), name)
    scope = {"__name__": "programs"}
    exec(compile(program.text, name, "exec", dont_inherit=True), scope)
    return scope, name


def forget(name):
    linecache.cache.pop(name, None)


def observed(call, number):
    """The result of a call, or its error with the line; and all that it did to the states."""
    log, given = arguments(number)
    with np.errstate(all="ignore"):
        try:
            outcome = ("value", repr(call(*given)))
        except RecursionError:
            raise
        except Exception as error:
            outcome = failure_of(error)
    return outcome, log, [repr(one._values) for one in given[:2]]


def failure_of(error):
    inner = getattr(error, "error", None)  # of the reference interpreter
    if inner is not None:
        kind, said, line = type(inner).__name__, str(inner), error.line
    else:
        frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename.startswith("<program")]
        kind, said, line = type(error).__name__, str(error), frames[-1].lineno
    # CPython 3.11 reads some names together with the step before, and reports the line of that step
    return "error", kind, said, None if kind == "UnboundLocalError" else line
