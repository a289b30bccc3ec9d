"""An author's function read into the form: what the language does not have is refused with its line."""

import ast
import builtins
import types
from collections.abc import Callable
from typing import Any, NoReturn, cast

from hegemon.language import form
from hegemon.language.known import DTYPES, FUNCTIONS, GATHERED, INSTEAD, NUMBERS, OPERATIONS
from hegemon.language.source import Outside, SourceText, place, source_of


def read(function: Callable[..., Any]) -> form.Function:
    """The form of a function and, within it, of all helpers; raises Outside."""
    return _Reader((), {}).function(function)


class _Reader:
    """Reads one function. `callers` are those that are being read, from the outermost on, and `helpers` those that
    were read."""

    def __init__(self, callers: tuple[types.CodeType, ...], helpers: dict[Any, form.Function]):
        self._callers, self._helpers = callers, helpers

    def function(self, function: Any) -> form.Function:
        function = getattr(function, "py_func", function)  # compiled by its author
        if not isinstance(function, types.FunctionType):
            raise Outside(f"{function!r} is not a plain function; define it with def")
        self._function, self._code = function, function.__code__
        if self._code in self._callers:
            raise Outside(f"{self._code.co_name} calls itself ({place(self._code)}); write a loop")
        source: SourceText = source_of(function)
        self._words = source.words
        self._free = dict(zip(self._code.co_freevars, function.__closure__ or (), strict=True))
        self._own: list[set[str]] = []  # the names of generators around an expression, innermost last
        arguments = source.tree.args
        if arguments.vararg or arguments.kwarg:
            self._refuse(source.tree, "*arguments are outside the language; write every argument")
        names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        defaults = dict(
            zip(
                reversed([*arguments.posonlyargs, *arguments.args]), reversed(function.__defaults__ or ()), strict=False
            )
        )
        values = {one.arg: value for one, value in defaults.items()} | (function.__kwdefaults__ or {})
        for name, value in values.items():
            self._require_constant(source.tree, name, value)
        self._locals = frozenset((*self._code.co_varnames, *self._code.co_cellvars))  # generators read the latter
        if self._code.co_flags & (0x20 | 0x80 | 0x100 | 0x200):  # generators and coroutines
            self._refuse(source.tree, "yield and async are outside the language")
        if isinstance(source.tree, ast.Lambda):
            body: form.Body = (form.Return(source.tree.body.lineno, self.expression(source.tree.body)),)
        else:
            body = self.body(source.tree.body)
        return form.Function(
            self._code.co_name, self._code.co_filename, self._code.co_firstlineno, tuple(names), values, body,
            self._locals, function,
        )  # fmt: skip

    def _refuse(self, node: Any, sentence: str) -> NoReturn:
        raise Outside(f"{sentence} ({place(self._code, getattr(node, 'lineno', None))})")

    def _unknown(self, node: ast.AST) -> NoReturn:
        kind = type(node).__name__
        self._refuse(node, INSTEAD.get(kind, f"{kind} is outside the language"))

    # -- statements ----------------------------------------------------------------------------------------

    def body(self, nodes: list[ast.stmt]) -> form.Body:
        return tuple(self.statement(node) for node in nodes if not self._is_text(node))

    def _is_text(self, node: ast.stmt) -> bool:
        """A docstring, or another constant that stands alone."""
        return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)

    def statement(self, node: ast.stmt) -> form.Statement:
        line = node.lineno
        match node:
            case ast.Assign():
                return form.Assign(line, tuple(map(self.target, node.targets)), self.expression(node.value))
            case ast.AnnAssign(value=ast.expr() as annotated, target=ast.Name()):
                return form.Assign(line, (self.target(node.target),), self.expression(annotated))
            case ast.AugAssign(op=ast.MatMult()):
                self._unknown(node.op)
            case ast.AugAssign():
                target: Any = self.target(node.target)
                return form.Change(line, target, OPERATIONS[type(node.op)], self.expression(node.value))
            case ast.Expr():
                return form.Evaluate(line, self.expression(node.value))
            case ast.If():
                return form.If(line, self.expression(node.test), self.body(node.body), self.body(node.orelse))
            case ast.While():
                return form.While(line, self.expression(node.test), self.body(node.body), self.body(node.orelse))
            case ast.For():
                over = self.expression(node.iter)
                return form.For(line, self.target(node.target), over, self.body(node.body), self.body(node.orelse))
            case ast.Return():
                nothing = node.value is None or _is_none(node.value)
                return form.Return(line, None if nothing else self.expression(cast(ast.expr, node.value)))
            case ast.Break():
                return form.Break(line)
            case ast.Continue():
                return form.Continue(line)
            case ast.Pass():
                return form.Pass(line)
        self._unknown(node)

    def target(self, node: ast.expr) -> form.Target:
        match node:
            case ast.Name():
                if node.id not in self._locals and not any(node.id in names for names in self._own):
                    self._refuse(node, f"{node.id} belongs to a function around this one; use a name of its own")
                return form.Local(node.lineno, node.id)
            case ast.Attribute():
                return form.Field(self._line(node), self.expression(node.value), node.attr)
            case ast.Subscript():
                return form.Item(node.lineno, self.expression(node.value), self.index(node.slice))
            case ast.Tuple() | ast.List():
                return form.Tuple(node.lineno, tuple(map(self.target, node.elts)))
        self._unknown(node)

    def _line(self, node: ast.Attribute) -> int:
        """CPython reports the line of the attribute's name."""
        return node.end_lineno or node.lineno

    # -- expressions ---------------------------------------------------------------------------------------

    def expression(self, node: ast.expr) -> Any:
        line = node.lineno
        match node:
            case ast.Constant():
                return self.constant(node, node.value)
            case ast.Name():
                return self.name(node)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Subscript():
                return form.Item(line, self.expression(node.value), self.index(node.slice))
            case ast.UnaryOp():
                return form.Unary(line, OPERATIONS[type(node.op)], self.expression(node.operand))
            case ast.BinOp() if type(node.op) in OPERATIONS:
                left = self.expression(node.left)
                return form.Binary(line, OPERATIONS[type(node.op)], left, self.expression(node.right))
            case ast.Compare():
                return self.comparison(node)
            case ast.BoolOp():
                return form.Logic(line, OPERATIONS[type(node.op)], tuple(map(self.expression, node.values)))
            case ast.IfExp():
                return form.Either(line, *map(self.expression, (node.test, node.body, node.orelse)))
            case ast.NamedExpr() if not self._own:
                return form.Bind(line, node.target.id, self.expression(node.value))
            case ast.Tuple():
                return self.parts(node, tuple)
            case ast.Call():
                return self.call(node)
        self._unknown(node)

    def constant(self, node: ast.Constant, value: Any) -> form.Constant:
        if isinstance(value, str) and value in self._words:
            return form.Constant(node.lineno, self._words[value], value)
        if isinstance(value, str):
            self._refuse(node, f"{value!r} is a text, and no name of a Choice; states are numbers")
        if type(value) not in NUMBERS:
            self._refuse(node, f"{value!r} is outside the language; use whole numbers, True and False")
        return form.Constant(node.lineno, value)

    def parts(self, node: Any, kind: Any) -> form.Tuple:
        """A tuple, whose words the compiler may have kept together as one constant."""
        written = [getattr(one, "value", None) for one in node.elts]
        numbers = self._words.get(tuple(written)) if all(isinstance(one, ast.Constant) for one in node.elts) else None
        if numbers is None:
            return form.Tuple(node.lineno, tuple(map(self.expression, node.elts)))
        pairs = zip(node.elts, numbers, written, strict=True)
        return form.Tuple(
            node.lineno,
            tuple(
                form.Constant(one.lineno, value, word if isinstance(word, str) else "") for one, value, word in pairs
            ),
        )

    def comparison(self, node: ast.Compare) -> form.Compare:
        operations, rest = [], []
        for operation, operand in zip(node.ops, node.comparators, strict=True):
            if type(operation) not in OPERATIONS:
                self._refuse(node, "is compares objects, which is outside the language; write ==")
            is_set = isinstance(operation, ast.In | ast.NotIn) and isinstance(operand, ast.Set | ast.List)
            operations.append(OPERATIONS[type(operation)])
            rest.append(self.parts(operand, tuple) if is_set else self.expression(operand))
        return form.Compare(node.lineno, self.expression(node.left), tuple(operations), tuple(rest))

    def index(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Slice):
            edges = (None if edge is None else self.expression(edge) for edge in (node.lower, node.upper, node.step))
            return form.Slice(node.lineno, *edges)
        return self.expression(node)

    def attribute(self, node: ast.Attribute) -> Any:
        of = self._value(node.value)
        if isinstance(of, types.ModuleType | type):
            if not hasattr(of, node.attr):
                self._refuse(node, f"{of.__name__} has no {node.attr}")
            return self._known(node, ast.unparse(node), getattr(of, node.attr))
        return form.Field(self._line(node), self.expression(node.value), node.attr)

    # -- names ---------------------------------------------------------------------------------------------

    def name(self, node: ast.Name) -> Any:
        if self._is_local(node.id):
            return form.Local(node.lineno, node.id)
        return self._known(node, node.id, self._value(node))

    def _is_local(self, name: str) -> bool:
        return any(name in names for names in self._own) or name in self._locals

    def _value(self, node: ast.expr) -> Any:
        """What a name outside the function, or an attribute of such, means; None for all else."""
        if isinstance(node, ast.Attribute):
            of = self._value(node.value)
            return getattr(of, node.attr, None) if isinstance(of, types.ModuleType | type) else None
        if not isinstance(node, ast.Name) or self._is_local(node.id):
            return None
        if node.id in self._free:
            try:
                return self._free[node.id].cell_contents
            except ValueError:
                self._refuse(node, f"{node.id} has no value yet")
        scope = self._function.__globals__
        if node.id not in scope and not hasattr(builtins, node.id):
            self._refuse(node, f"{node.id} is not defined")
        return scope.get(node.id, getattr(builtins, node.id, None))

    def _known(self, node: ast.expr, name: str, value: Any) -> form.Known:
        self._require_constant(node, name, value)
        return form.Known(node.lineno, name, value)

    def _require_constant(self, node: Any, name: str, value: Any) -> None:
        if isinstance(value, tuple):
            for item in value:
                self._require_constant(node, name, item)
        elif type(value) not in NUMBERS and not (isinstance(value, type) and value in DTYPES):
            if isinstance(value, int) and isinstance(value, bool | int) and type(value).__module__ != "numpy":
                return  # a whole number with a name, such as a member of an IntEnum
            kind = type(value).__name__
            self._refuse(
                node, f"{name} is {_article(kind)} {kind}, which is outside the language; use numbers and tuples"
            )

    # -- calls ---------------------------------------------------------------------------------------------

    def call(self, node: ast.Call) -> Any:
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                self._unknown(argument)
        if any(keyword.arg is None for keyword in node.keywords):
            self._refuse(node, "** is outside the language; write every argument")
        function = self._value(node.func)
        if function is None:
            self._refuse(node, f"{ast.unparse(node.func)} is called, and is no helper; call functions by their names")
        function = getattr(function, "py_func", function)
        if isinstance(function, types.FunctionType) and not _is_of_a_library(function):
            return self._helper(node, function)
        try:
            name = FUNCTIONS.get(function)
        except TypeError:
            name = None
        if name is None:
            self._refuse(
                node, f"{ast.unparse(node.func)} is outside the language; it has {', '.join(FUNCTIONS.values())}"
            )
        named = tuple((str(keyword.arg), keyword.value) for keyword in node.keywords)
        if len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp) and name in GATHERED:
            return self._gather(node, name, function, node.args[0], named)
        arguments = tuple(map(self.expression, node.args))
        return form.Builtin(
            node.lineno, name, function, arguments, tuple((key, self.expression(value)) for key, value in named)
        )

    def _helper(self, node: ast.Call, function: types.FunctionType) -> form.Call:
        helper = self._helpers.get(function)
        if helper is None:
            helper = _Reader((*self._callers, self._code), self._helpers).function(function)
            self._helpers[function] = helper
        code = function.__code__
        positional = helper.parameters[: code.co_argcount]
        names = [*positional[: len(node.args)], *(str(keyword.arg) for keyword in node.keywords)]
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        missing = set(helper.parameters) - set(names) - helper.defaults.keys()
        by_name = {str(keyword.arg) for keyword in node.keywords}
        if len(node.args) > len(positional) or len(set(names)) < len(names) or missing:
            self._refuse(node, f"{helper.name} takes {', '.join(helper.parameters) or 'nothing'}; pass exactly these")
        if by_name - set(helper.parameters) or by_name & set(positional[: code.co_posonlyargcount]):
            self._refuse(node, f"{helper.name} takes {', '.join(helper.parameters) or 'nothing'}; pass exactly these")
        arguments = zip(names, map(self.expression, values), strict=True)
        return form.Call(node.lineno, helper, tuple(arguments))

    def _gather(self, node: ast.Call, name: str, function: Any, made: ast.GeneratorExp, named: Any) -> form.Gather:
        """The clauses see each other's names from left to right; the first `over` is evaluated outside."""
        names: set[str] = set()
        clauses = []
        for number, clause in enumerate(made.generators):
            if clause.is_async:
                self._refuse(node, "async is outside the language")
            over = self.expression(clause.iter) if number == 0 else None
            if number == 0:
                self._own.append(names)
            else:
                over = self.expression(clause.iter)
            names |= {one.id for one in ast.walk(clause.target) if isinstance(one, ast.Name)}
            target = self.target(clause.target)
            clauses.append(form.Clause(node.lineno, target, over, tuple(map(self.expression, clause.ifs))))  # type: ignore[arg-type]
        element = self.expression(made.elt)
        self._own.pop()
        outer = tuple((key, self.expression(value)) for key, value in named)
        return form.Gather(node.lineno, name, function, element, tuple(clauses), outer)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _article(kind: str) -> str:
    return "an" if kind[:1] in "aeiou" else "a"


def _is_of_a_library(function: types.FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] in ("numpy", "scipy", "numba", "math")
