"""A population protocol as a system of rules on counts, the same for every n."""

import ast
import dataclasses
import inspect
import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hegemon.errors import InvalidInput, meant
from hegemon.exact.configurations import transition_tables
from hegemon.exact.containment import named_set, sample_condition
from hegemon.exact.proofs.symbols import Affine, DependsOnSize, Fact, Unknown
from hegemon.models.authors import where
from hegemon.models.expressions import evaluate
from hegemon.models.population import PopulationProtocol
from hegemon.models.protocol import Protocol
from hegemon.models.sets import MOST_ROWS, ConfigurationSet, Count, TooManyRows
from hegemon.models.shared import use_functions
from hegemon.models.written import ReadSets

LARGEST_SYSTEM = 100  # states: the number of questions grows with their square


@dataclass(frozen=True)
class Linear:
    """Configurations with sum of vector[x] * (agents in state x) >= low; n is the sum of all counts."""

    vector: tuple[int, ...]
    low: int

    def opposite(self) -> "Linear":
        return Linear(tuple(-weight for weight in self.vector), 1 - self.low)


Goal = tuple[tuple[Linear, ...], ...]


@dataclass(frozen=True)
class Rule:
    """Initiator in state a and responder in state b become c and d."""

    a: int
    b: int
    c: int
    d: int

    @property
    def pair(self) -> tuple[int, int]:
        return self.a, self.b

    def change(self, vector: Sequence[int]) -> int:
        return vector[self.c] + vector[self.d] - vector[self.a] - vector[self.b]

    @property
    def is_silent(self) -> bool:
        return sorted((self.a, self.b)) == sorted((self.c, self.d))


@dataclass(frozen=True)
class Start:
    """Where runs begin: groups of agents, each somewhere among its states, or any counts within constraints."""

    text: str
    groups: tuple[tuple[tuple[int, ...], Affine], ...] = ()
    constraints: tuple[Linear, ...] = ()

    @property
    def is_everything(self) -> bool:
        return not self.groups and not self.constraints


class System:
    """The rules of a protocol class with some parameters fixed; `inputs` are facts about its input, if it has one."""

    def __init__(self, protocol_class: type[Protocol], parameters: dict[str, Any], inputs: tuple[Fact, ...] = ()):
        if not protocol_class.model.has_interactions:
            raise InvalidInput(
                f"{protocol_class.id} has the model {protocol_class.model}; proofs for every n exist for population "
                "protocols"
            )
        if protocol_class.__init__ is not PopulationProtocol.__init__:
            own = where(inspect.unwrap(protocol_class.__init__))
            raise InvalidInput(
                f"{protocol_class.id} has an __init__ of its own ({own}), which may make another protocol for every n; "
                "write what it does as formulas of Parameter, or verify one n at a time"
            )
        self.protocol = self._without_size(protocol_class, parameters, inputs)
        if protocol_class.inputs:
            raise InvalidInput(
                f"{protocol_class.id} tells some of its agents an input ({', '.join(protocol_class.inputs)}), which "
                "proofs for every n do not treat; hegemon verify takes it at one size"
            )
        assert isinstance(self.protocol, PopulationProtocol)
        self.protocol.refuse_coins("it cannot be proved for every n; hegemon verify takes it at one size")
        self.inputs = inputs if protocol_class.input_parameter not in {"", *parameters} else None
        self.smallest = max(2, protocol_class.smallest_n)  # a single agent meets no other
        for field in protocol_class.fields:
            for bound in (field.domain.low, field.domain.high):
                self._require_fixed(str(bound), f"the field {field.name} of {protocol_class.id}")
        self.size = self.protocol.space.size
        if self.size > LARGEST_SYSTEM:
            raise InvalidInput(
                f"{protocol_class.id} has {self.size} states with these parameters; proofs are looked for up to "
                f"{LARGEST_SYSTEM}: fix smaller parameters"
            )
        first, second = transition_tables(self.protocol)
        self._require_sound(protocol_class, parameters, first, second)
        codes = range(self.size)
        self.rules = tuple(Rule(a, b, int(first[a, b]), int(second[a, b])) for a in codes for b in codes)
        self._sets = ReadSets(self.protocol, self.protocol.sets)
        self.states = tuple(self._label(code) for code in codes)

    @staticmethod
    def _without_size(protocol_class: type[Protocol], parameters: dict[str, Any], inputs: Any) -> Protocol:
        """An instance whose n, and all that depends on it, is a symbol."""
        protocol_class.require_declared(parameters)
        protocol: Any = object.__new__(protocol_class)
        protocol.n = Affine("n", size=1, facts=inputs)
        protocol.values = {"n": protocol.n}
        fixed: dict[str, Any] = {}
        for name, declaration in protocol_class.parameter_declarations.items():
            value: Any
            if name == protocol_class.input_parameter and name not in parameters:
                value = Affine(name, share=1, facts=inputs)
            else:
                value = parameters.get(name, declaration.default)
                try:
                    value = _without_bounds_of_size(declaration, fixed).resolve(name, value, fixed, protocol_class.id)
                    fixed[name] = value
                except DependsOnSize:
                    value = Unknown(name)
                except InvalidInput:
                    if name in parameters or not _mentions_size(value, fixed):
                        raise
                    value = Unknown(name)
            protocol.values[name] = value
            setattr(protocol, name, value)
        use_functions(protocol)  # names of a Choice's values in the author's functions, as in every instance
        try:
            protocol.validate()
        except DependsOnSize:
            pass  # a condition between parameters and n: proofs then cover every n, also those that it excludes
        return protocol

    def _require_sound(
        self, protocol_class: type[Protocol], parameters: dict[str, Any], first: Any, second: Any
    ) -> None:
        """Try the author's functions at the smallest size that the parameters allow; refuse the protocol if its rules
        there are not those found without n."""
        for n in range(self.smallest, LARGEST_SYSTEM):
            try:
                protocol: Any = protocol_class(n, **parameters)
            except InvalidInput:
                continue
            protocol.require_sound()
            tables = transition_tables(protocol)
            if not all(map(np.array_equal, tables, (first, second))):
                raise DependsOnSize(f"the rules of {protocol_class.id} at n = {n} are not those without n; use verify")
            return
        raise InvalidInput(
            f"{protocol_class.id} with these parameters exists for no n below {LARGEST_SYSTEM}, so there is nothing to "
            "compare its rules with; give other parameters"
        )

    def _require_fixed(self, text: str, what: str) -> None:
        """Refuse a text that contains the name of a symbol."""
        for word in re.findall(r"\w+", text):
            if isinstance(self.protocol.values.get(word), Unknown):
                way = "verify one n at a time" if word == "n" else f"fix it (--set {word}=VALUE)"
                raise DependsOnSize(f"{what} grows with n, through {word}; {way}")

    def _label(self, code: int) -> str:
        space = self.protocol.space
        return " ".join(f"{name}={value}" for name, value in space.mapping_of(code).items())

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters with fixed values."""
        named = self.protocol.values.items()
        return {name: value for name, value in named if name != "n" and not isinstance(value, Unknown)}

    @cached_property
    def outputs(self) -> tuple[int, ...]:
        output = getattr(self.protocol, "output", None)
        return self.values_of(output) if output and self.protocol.outputs else (0,) * self.size

    def values_of(self, function: Callable[..., Any]) -> tuple[int, ...]:
        """For every state, 1 if the condition holds, else 0."""
        namespace = self.protocol.space.namespace
        return tuple(int(self.protocol.holds(function, namespace(code))) for code in range(self.size))

    def changes_output(self, rule: Rule) -> bool:
        return (self.outputs[rule.a], self.outputs[rule.b]) != (self.outputs[rule.c], self.outputs[rule.d])

    def set_named(self, name: str) -> Goal:
        """A set as rows of constraints on counts: a configuration is inside if it satisfies one row."""
        chosen = named_set(self._sets.reader, name)
        try:
            return self._rows(chosen, name)
        except DependsOnSize as error:
            raise DependsOnSize(f"the set {name}: {error}") from None

    def _rows(self, chosen: ConfigurationSet, name: str) -> Goal:
        if chosen.whole:
            raise InvalidInput(
                f"the set {name!r} of {self.protocol.id} is a predicate on the whole array of agents, not on counts; "
                "proofs for every n need conditions such as count(…) == 1"
            )
        rows: dict[tuple[Linear, ...], None] = {}
        for row in chosen.rows:
            for parts in itertools.product(*map(self._alternatives, row.counts)):
                rows[tuple(dict.fromkeys(constraint for part in parts for constraint in part))] = None
                if len(rows) > MOST_ROWS:
                    raise TooManyRows
        return tuple(rows)

    def _alternatives(self, count: Count) -> list[tuple[Linear, ...]]:
        """The constraints of a count, one group of which must hold; a bound with n is moved into the vector."""
        marked, constraints = self.values_of(count.condition), []
        for bound, sign in ((count.low, 1), (count.high, -1)):
            limit = self._affine(bound)
            vector = tuple(sign * (value - limit.size) for value in marked)
            if any(value < 0 for value in vector) or sign * limit.constant > 0:  # otherwise it always holds
                constraints.append(Linear(vector, sign * limit.constant))
        if count.within:
            return [tuple(constraints)]
        return [(constraint.opposite(),) for constraint in constraints] or [(Linear((0,) * self.size, 1),)]

    def _affine(self, bound: Any) -> Affine:
        """A bound of a count, which may be a text such as "n - 1"."""
        if isinstance(bound, str):
            bound = _affine_value(ast.parse(bound.replace("^", "**"), mode="eval").body, self.protocol.values, bound)
        if isinstance(bound, int):
            bound = Affine("", constant=bound)
        if isinstance(bound, Unknown) and not isinstance(bound, Affine):
            float(bound)  # refused, with the parameter's name
        if not isinstance(bound, Affine) or bound.share:
            raise DependsOnSize(f"the bound {bound!s} of a count is not of the form a*n + b; state it that way")
        return bound

    def start(self, name: str) -> Start:
        """A named start whose groups are linear in n, `all`, or a text of conditions."""
        protocol = self.protocol
        uniform = protocol.starts.get("random") is Protocol.start_random
        if name == "all" or name == "random" and uniform:
            return Start("every configuration")
        if "(" in name:
            rows = self.set_named(name)
            if len(rows) > 1:
                raise InvalidInput(
                    f"the start {name!r} has {len(rows)} alternatives, and a proof begins in one; prove each of them"
                )
            return Start(name, constraints=rows[0])
        if name not in protocol.starts:
            known = ", ".join(["all", *protocol.starts])
            raise InvalidInput(
                f"{protocol.id} has no start {name!r}; choose {known}, or write a condition"
                f"{meant(name, protocol.starts)}"
            )
        try:
            groups = protocol.starts[name](protocol, Unknown("the drawn start"))
            parts = tuple((self._support(group), self._affine_count(group.count)) for group in groups)
        except (DependsOnSize, AttributeError, TypeError):
            raise InvalidInput(
                f"the start {name!r} of {protocol.id} is not a list of groups whose numbers are linear in n; give "
                f'--start all, or a condition such as "{sample_condition(protocol)}"'
            ) from None
        return Start(name, groups=parts)

    def _affine_count(self, count: Any) -> Affine:
        return count if isinstance(count, Affine) else self._affine(count)

    def _support(self, group: Any) -> tuple[int, ...]:
        """The states that the agents of a group may be in."""
        space = self.protocol.space
        if not group.random:
            return (space.code(space.parse(group.values)),)
        wanted = {name: space.domains[name].index(value) for name, value in group.values.items()}
        named = ((code, vars(space.namespace(code))) for code in range(self.size))
        return tuple(code for code, state in named if all(state[name] == value for name, value in wanted.items()))


def _without_bounds_of_size(declaration: Any, fixed: dict[str, Any]) -> Any:
    """The declaration of a parameter without those of its bounds that mention n."""
    kept = {side: getattr(declaration, side) for side in ("low", "high")}
    kept = {side: None if _mentions_size(bound, fixed) else bound for side, bound in kept.items()}
    return dataclasses.replace(declaration, **kept)


def _mentions_size(text: Any, fixed: dict[str, Any]) -> bool:
    """Whether an expression mentions more than the fixed parameters."""
    if not isinstance(text, str):
        return False
    try:
        evaluate(text, fixed)
    except InvalidInput:
        return True
    return False


def _affine_value(node: Any, values: dict[str, Any], text: str) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name) and node.id in values:
        return values[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_affine_value(node.operand, values, text)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        left, right = _affine_value(node.left, values, text), _affine_value(node.right, values, text)
        if isinstance(node.op, ast.Mult):
            return left * right
        return left + right if isinstance(node.op, ast.Add) else left - right
    raise DependsOnSize(f"the bound {text!r} of a count is not of the form a*n + b; state it that way")
