"""What every protocol has, whatever its model: a name, a reference, parameters, states, starts, sets."""

import copy
import inspect
import re
from collections import namedtuple
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Self

import numpy as np

from hegemon.errors import InvalidInput, choose, meant, shown
from hegemon.graphs.topology import Topology
from hegemon.models.assumptions import Assumption
from hegemon.models.authors import authored, declared, kind, require_changeable, unchanging, whole
from hegemon.models.configuration import Configuration
from hegemon.models.declarations import base_of, check_declaration
from hegemon.models.expressions import evaluate
from hegemon.models.fields import Field, declared_fields
from hegemon.models.functions import condition, number
from hegemon.models.inputs import check_inputs, input_groups, require_given, require_inputs
from hegemon.models.labels import with_integers
from hegemon.models.model import ComputationModel
from hegemon.models.observables import Observable, count
from hegemon.models.observables import mean as mean_of
from hegemon.models.parameters import LARGEST, Chosen, Parameter
from hegemon.models.readings import version
from hegemon.models.sets import ConfigurationSet
from hegemon.models.shared import Shared, known_of, shared_property, use_functions
from hegemon.models.soundness import require_sound
from hegemon.models.start_files import StartFile, opened
from hegemon.models.state import StateSpace
from hegemon.models.variants import WrongField
from hegemon.models.words import Word, checked
from hegemon.models.written import sets_among


def output_leader(a: Any, p: Any) -> Any:
    return a.leader


class _Signature:
    """What editors and `help` show of a class: n, and its parameters with their defaults."""

    def __get__(self, instance: Any, owner: "type[Protocol]") -> inspect.Signature:
        if not owner.__init__.__module__.startswith("hegemon.models."):  # an author's own
            first, *others = inspect.signature(owner.__init__).parameters.values()
            return inspect.Signature(others)
        named = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=declaration.default)
            for name, declaration in owner.parameter_declarations.items()
        ]
        return inspect.Signature([inspect.Parameter("n", inspect.Parameter.POSITIONAL_OR_KEYWORD), *named])


class Protocol:
    """A protocol together with its parameters and the number of nodes: `Pairwise(n=200)`.

    A subclass declares a `class State:` of annotated fields; Parameters, sets and observables as attributes;
    and each start NAME as a method `start_NAME(self, rng)` (with a third argument, the topology, where the
    model reads the graph) that returns a list of Groups or an array of records. This class collects them, under
    the names below, and refuses what cannot work.

    The parameters of an instance are the same numbers in four forms: `values`, a dictionary with `n` first, which
    expressions such as Range(0, "2*m") are evaluated in; `parameters`, the same without `n`, for people; `p`, a named
    tuple, which the author's functions read in plain Python (`p.m`); and `compiled_p`, a record of the numbers
    among them, which the same functions read the same way in machine code. Each is an attribute too: `self.m`.
    """

    # what a class is: collected from its body
    id: ClassVar[str]  # the name of the class in small letters: TimeOptimal is time-optimal
    fields: ClassVar[tuple[Field, ...]] = ()
    parameter_declarations: ClassVar[dict[str, Parameter]] = {}
    starts: ClassVar[dict[str, Callable[..., Any]]] = {}
    sets: dict[str, ConfigurationSet] = {}
    observables: dict[str, Observable] = {}

    # what an author may declare about it
    reference: str = ""
    shelf = ""  # where `hegemon list` shows a protocol of the catalogue
    grade = ""  # how sure the definition is: exact, reconstructed, faithful or stand-in (protocols/cited.py explains)
    smallest_n = 2
    topology = "complete"
    default_start: str | None = "random"
    needs_graph = ""  # complete, directed-ring or oriented-ring: the only graphs on which it makes sense
    needs_exact_n = False  # whether n is the very number of agents, and not an upper bound that they know
    needs_oracle = False  # whether an oracle gives the agents information that they cannot observe
    arbitrary_start = True  # a stabilizing protocol starts anywhere, so it has the start `random`
    reaches = "safe"  # the set that its author claims to be reached with probability 1
    daemon = ""  # the daemon that its author's claims are about: one of its model's; "" is chance, or all nodes at once
    assumes: tuple[Assumption, ...] = ()
    input_parameter = ""  # for a predicate: the parameter that says how many agents start with input 1
    inputs: dict[str, int | str] = {}  # fields that never change: how many agents have 1
    outputs: tuple[str, ...] = ("follower", "leader")
    _halts: ClassVar[Any] = None  # the class whose agents crash and pause here: see models/halting.py
    _living: ClassVar[Any] = None  # makes a condition one on agents that have not crashed

    # set by its model
    model: ClassVar[ComputationModel]
    time_unit = "steps"
    functions: dict[str, str] = {}  # members that are plain functions of states, not methods, and their arguments
    reads_graph = False  # whether starts and whole predicates are given the graph besides the agents

    __signature__ = _Signature()
    n: int
    values: dict[str, Any]
    output: Callable[..., Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "id" not in vars(cls):
            cls.id = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()
        members = {name: value for base in reversed(cls.__mro__) for name, value in vars(base).items()}
        cls.parameter_declarations = {k: v for k, v in members.items() if isinstance(v, Parameter)}
        cls.sets = sets_among(members, base_of(cls))
        cls.observables = {k: v for k, v in members.items() if isinstance(v, Observable)}
        cls.starts = {k[6:].replace("_", "-"): v for k, v in members.items() if k.startswith("start_")}
        if not cls.arbitrary_start and cls.starts["random"] is Protocol.start_random:
            del cls.starts["random"]
        if "State" in vars(cls):
            cls.fields = declared_fields(vars(cls)["State"], cls.__name__)
        if not cls.fields or any(field.default is None for field in cls.fields):
            del cls.starts["initial"]
        elif "default_start" not in members or members["default_start"] is Protocol.default_start:
            cls.default_start = "initial"
        for name in cls.functions:
            function = vars(cls).get(name)
            if callable(function) and not isinstance(function, staticmethod):
                setattr(cls, name, staticmethod(function))
        if cls.needs_graph and cls.topology == Protocol.topology:
            cls.topology = cls.needs_graph
        if "__init__" in vars(cls) and not cls.__module__.startswith("hegemon."):
            setattr(cls, "__init__", whole(cls.__init__))  # noqa: B010 - a type checker refuses the assignment
        check_declaration(cls)
        check_inputs(cls)
        if cls.fields and not hasattr(cls, "output"):
            if any(field.name == "leader" for field in cls.fields):
                cls.output = staticmethod(output_leader)
            else:
                cls.outputs = ()

    def __new__(cls, *_: Any, **__: Any) -> Self:
        if hasattr(cls, "__dataclass_fields__") or cls.__eq__ is not object.__eq__:
            raise InvalidInput(
                f"{cls.__name__}{declared(cls)}: a protocol is no dataclass and has no __eq__; drop the decorator, and "
                "declare its values as Parameter(…)"
            )
        return super().__new__(cls)

    def __init__(self, n: int | float, **given: Any):
        if isinstance(n, float) and n.is_integer():
            n = int(n)  # 1e3, as on the command line
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or not self.smallest_n <= n < LARGEST:
            raise InvalidInput(
                f"{self.id}: n = {shown(n)} is out of range; it must be a whole number >= {self.smallest_n}"
            )
        self.n = int(n)
        self.require_declared(given)
        self.values = {"n": self.n}
        for name, declaration in self.parameter_declarations.items():
            try:
                value = declaration.resolve(name, given.get(name), self.values, self.id)
            except InvalidInput as error:
                if given.get(name) is not None:
                    raise
                place = declared(type(self), name)
                raise InvalidInput(f"{error}; that is its default{place}" if place else str(error)) from None
            self.values[name] = value
            setattr(self, name, value)
        for assumption in self.assumes:
            assumption.require(self.id, self.values)
        use_functions(self)
        with authored(f"{self.id}: validate", "raise InvalidInput with a sentence for values that do not fit"):
            check: Callable[[], Any] = self.validate
            answer = check()
        if answer is not None:
            raise InvalidInput(f"{self.id}: validate returns {kind(answer)}; it must raise InvalidInput instead")

    def __setattr__(self, name: str, value: Any) -> None:
        require_changeable(self, name)
        super().__setattr__(name, value)

    @classmethod
    def require_declared(cls, given: Iterable[str]) -> None:
        """Raise InvalidInput if one of these names is not a parameter."""
        known = cls.parameter_declarations
        if unknown := set(given) - set(known):
            word, names = min(unknown), ", ".join(known) or "none"
            raise InvalidInput(f"{cls.id} has no parameter {word!r}; its parameters are: {names}{meant(word, known)}")

    @property
    def shared(self) -> Shared:
        """The data shared with all equal protocols, as it was found last for this one."""
        return known_of(self)

    def validate(self) -> None:
        """Further conditions between parameters; raise InvalidInput."""

    @property
    def parameters(self) -> dict[str, Any]:
        return {name: self.values[name] for name in self.parameter_declarations}

    @property
    def range_values(self) -> dict[str, Any]:
        """The names that the ranges of fields may mention, with their values."""
        return self.values

    @shared_property
    def space(self) -> StateSpace:
        try:
            return StateSpace(self.fields, self.range_values, self.id, tuple(self.inputs), self._halts is not None)
        except WrongField as error:
            raise InvalidInput(f"{error}{declared(type(self), 'State', error.field)}") from None

    @property
    def states(self) -> int:
        """The exact number of states of one agent."""
        return self.space.size

    @shared_property
    def p(self) -> Any:
        """The parameters as plain-Python code sees them: `p.n`, `p.N`, `p.tau`."""
        return namedtuple("Parameters", self.values)(**self._readable(self.values))

    @property
    def _words(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The parameters that are words, and their choices; where states are fields, functions read them as numbers."""
        declared = self.parameter_declarations.items() if self.fields else ()
        return tuple((name, one.choices) for name, one in declared if one.choices)

    def in_numbers(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of a user's own, as those of the class are used: names of a Choice's values are integers."""
        return with_integers(function, self.fields, self.id, self._words, version(function))

    def _readable(self, values: dict[str, Any]) -> dict[str, Any]:
        return values | {name: Chosen(values[name], choices) for name, choices in self._words}

    @shared_property
    def checked_p(self) -> Any:
        """The same, with whole numbers that are refused where machine code would refuse them."""
        return self.p._replace(**{k: Word(v) for k, v in self.values.items() if type(v) is int})

    def holds(self, condition: Callable[..., Any], state: Any) -> bool:
        """Whether a condition of one agent, such as `output`, holds in a state: any number but 0 counts.

        The arithmetic is that of machine code: both return the same, or both refuse.
        """
        return bool(condition(checked(state), self.checked_p))

    @property
    def compiled_values(self) -> dict[str, Any]:
        """The values passed to compiled code: the parameters, and others that its model needs."""
        return self.values

    @shared_property
    def compiled_p(self) -> np.ndarray:
        """The numbers among the parameters as one record, which compiled code reads the same way."""
        values = self._readable(self.compiled_values)
        numbers = {name: value for name, value in values.items() if isinstance(value, int | float)}
        kinds = [(name, np.float64 if isinstance(value, float) else np.int64) for name, value in numbers.items()]
        record = np.zeros(1, dtype=kinds)
        for name, value in numbers.items():
            record[name] = value
        return record

    @shared_property
    def record_types(self) -> str:
        """The types of the records of states and parameters in compiled code, as text."""
        return f"{self.space.dtype} {self.compiled_p.dtype}"

    def check_topology(self, topology: Topology) -> None:
        """Refuse a topology on which the protocol makes no sense."""
        if topology.n != self.n:
            raise InvalidInput(f"the graph {topology.name} has {topology.n} nodes but n = {self.n}; make them equal")
        topology.require_connected()
        if self.needs_graph:
            topology.require(self.needs_graph, self.id)

    # -- starts -----------------------------------------------------------------------------------------

    def start_initial(self, rng: np.random.Generator, topology: Topology | None = None) -> Any:
        """Every agent in the state that the fields declare, as in `leader: Bit = 1`."""
        state = {}
        for field in self.fields:
            value = field.domain.index(field.default)
            state[field.name] = evaluate(value, self.values)
        return input_groups(self, state, random=False)

    def start_random(self, rng: np.random.Generator, topology: Topology | None = None) -> Any:
        """Every agent uniform over all states (that have its inputs)."""
        return input_groups(self, {}, random=True)

    def initial(
        self, name: Any, rng: np.random.Generator, as_multiset: bool = False, topology: Topology | None = None
    ) -> Configuration:
        """The configuration of a named start, or of a JSON or CSV file."""
        start = opened(name, self.starts)
        name = str(name)
        if isinstance(start, StartFile):
            return require_given(self, Configuration.load(self.space, start, self.n, as_multiset), name)
        if name not in self.starts:
            place = declared(type(self), "default_start") if name == self.default_start else ""
            raise InvalidInput(
                f"{self.id} has no start {name!r}; {choose(self.starts, 'give a .json or .csv file')}"
                f"{meant(name, self.starts)}{place}"
            )
        what = f"{self.id}: the start {name}"
        with unchanging(self), authored(what, "a start returns a list of Groups or an array of records"):
            made = self.starts[name](self, rng, topology) if self.reads_graph else self.starts[name](self, rng)
        try:
            return require_inputs(self, Configuration.answered(made, self.space, self.n, rng, as_multiset, what), what)
        except InvalidInput as error:
            raise InvalidInput(f"{error}{declared(type(self), f'start_{name}'.replace('-', '_'))}") from None

    def set_named(self, name: str) -> ConfigurationSet:
        if name not in self.sets:
            known = ", ".join(self.sets) or "none"
            raise InvalidInput(f"{self.id} has no set {name!r}; its sets are: {known}{meant(name, self.sets)}")
        return self.sets[name]

    def listed(self, name: str, topology: Topology) -> np.ndarray:
        """Every configuration of a named set on a graph, as rows of codes, where the protocol can list them."""
        raise InvalidInput(f"{self.id} cannot list the configurations of {name!r}; verify it on one graph instead")

    # -- description ------------------------------------------------------------------------------------

    @classmethod
    def summary(cls) -> str:
        return (inspect.getdoc(cls) or "").split("\n")[0]

    def __repr__(self) -> str:
        given = "".join(f", {name}={value!r}" for name, value in self.parameters.items())
        return f"{type(self).__name__}(n={self.n}{given})"

    def _repr_html_(self) -> str:
        from hegemon.models.description import as_html

        return as_html(self)

    @property
    def usual_scheduler(self) -> str:
        """The scheduler of a run that names none: the model's own law, or one that its daemon allows."""
        return self.model.laws.get(self.daemon, self.model.scheduler)

    def counted_in(self, unit: str) -> "Protocol":
        """The same protocol with time counted in this unit."""
        if unit == self.time_unit:
            return self
        other = copy.copy(self)
        other.time_unit = unit
        return other

    @property
    def elects_leader(self) -> bool:
        return self.outputs == ("follower", "leader")

    def require_sound(self) -> None:
        """Refuse a protocol whose functions cannot be trusted; checked once for all that are equal."""
        require_sound(self)

    def check_sound(self) -> None:
        """The checks of `require_sound` for this model; raises InvalidInput."""

    def watched(self) -> dict[str, Observable]:
        """The declared observables, or sensible ones: how many agents have each value of each small field."""
        if self.observables:
            return self.observables
        chosen = {}
        for field in self.fields:
            if field.domain.condition or field.name in self.space.arrays:
                continue
            low, high = self.space.bounds[field.name]
            if high - low <= 7:
                for value in range(low, high + 1):
                    label = f"{field.name}={field.domain.label(value)}"
                    chosen[label] = count(condition(f"{field.name} == {value}", self), f"agents with {label}")
            else:
                chosen[f"mean {field.name}"] = mean_of(number(field.name, self))
        return chosen
