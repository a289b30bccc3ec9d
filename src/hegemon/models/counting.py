"""Statements about numbers of agents that are no plain bounds: `count(x == 1) > count(x == 0) or all(x == 2)`.

Such a text becomes a predicate on all agents: one loop that counts, and a comparison of the counts. Like every
function from a text, it is compiled from a syntax tree that is built here, node by node. Engines evaluate a predicate
after every step that changes what it reads, which costs a pass over the agents; for bounds, also several joined by `or`
they keep the counts up to date.
"""

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hegemon.errors import InvalidInput
from hegemon.models.functions import Part, Source, SyntaxBuilder, function_from
from hegemon.models.grammar import Call, Comparison, Logic, Name, Tree
from hegemon.models.sets import Alternative, ConfigurationSet

if TYPE_CHECKING:
    from hegemon.models.protocol import Protocol


def counting_predicate(tree: Tree, protocol: "Protocol") -> Callable[..., Any]:
    """The predicate `(agents, p)`, or `(nodes, offsets, targets, p)` where the model reads the graph."""
    builder = _CountBuilder(protocol)
    return builder.predicate(builder.truth(tree))


def predicate_of(chosen: ConfigurationSet, protocol: "Protocol") -> Callable[..., Any]:
    """A set as one such predicate."""
    builder = _CountBuilder(protocol)
    return builder.predicate(builder.membership(chosen))


def counts_agents(tree: Tree) -> bool:
    """Whether a tree counts anything."""
    if isinstance(tree, Call) and tree.function == "count":
        return True
    return any(counts_agents(operand) for operand in getattr(tree, "operands", ()))


class _CountBuilder(SyntaxBuilder):
    """Reads parameters and counts; each condition on one agent is counted under a name of its own.

    A set of the protocol is its counts and its predicates: `called` are the author's functions, by the names they have
    in the syntax.
    """

    def __init__(self, protocol: "Protocol"):
        super().__init__(protocol, guarded=True)
        self.agents, self.fields = SyntaxBuilder(protocol, guarded=True), ()
        self.arguments = ["nodes", "offsets", "targets", "p"] if protocol.reads_graph else ["agents", "p"]
        self.tests: dict[str, ast.expr] = {}
        self.called: dict[str, Callable[..., Any]] = {}

    def predicate(self, answer: ast.expr) -> Callable[..., Any]:
        """The function that counts what the answer mentions, and returns it."""
        agent = ast.Subscript(ast.Name(self.arguments[0], ast.Load()), ast.Name("index", ast.Load()), ast.Load())
        length = ast.Call(ast.Name("len", ast.Load()), [ast.Name(self.arguments[0], ast.Load())], [])
        tests: list[ast.stmt] = [
            ast.If(test, [ast.AugAssign(ast.Name(name, ast.Store()), ast.Add(), ast.Constant(1))], [])
            for name, test in self.tests.items()
        ]
        one_agent: ast.stmt = ast.Assign([ast.Name("a", ast.Store())], agent)
        every = ast.Call(ast.Name("range", ast.Load()), [length], [])
        body: list[ast.stmt] = [
            *(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(0)) for name in self.tests),
            ast.For(ast.Name("index", ast.Store()), every, [one_agent, *tests], []),
            ast.Return(answer),
        ]
        arguments = ast.arguments([], [ast.arg(name) for name in self.arguments], None, [], [], None, [])
        return function_from(Source(ast.FunctionDef("predicate", arguments, body, [])), tuple(self.called.items()))

    def truth(self, tree: Tree) -> ast.expr:
        if isinstance(tree, Logic):
            return super().truth(tree)
        if isinstance(tree, Call) and tree.function in ("all", "none") and len(tree.operands) == 1:
            right = self.name("n").syntax if tree.function == "all" else ast.Constant(0)
            return ast.Compare(self._count(tree.operands[0]).syntax, [ast.Eq()], [right])
        if isinstance(tree, Comparison) and self.reads(tree):
            return self.comparison(tree)
        if isinstance(tree, Name) and tree.name in self.protocol.sets:
            return self.membership(self.protocol.sets[tree.name])
        raise InvalidInput("it has a part that is no statement about numbers of agents")

    def arithmetic(self, tree: Tree) -> Part:
        if isinstance(tree, Call) and tree.function == "count":
            if len(tree.operands) != 1:
                raise InvalidInput("count takes one condition")
            return self._count(tree.operands[0])
        return super().arithmetic(tree)

    def reads(self, tree: Tree) -> bool:
        return counts_agents(tree)

    def membership(self, chosen: ConfigurationSet) -> ast.expr:
        """Whether all agents are in a set."""
        return ast.BoolOp(ast.Or(), [ast.Constant(False), *map(self._row, chosen.rows)])

    def _row(self, row: Alternative) -> ast.expr:
        parts: list[ast.expr] = [ast.Constant(True)]
        for count in row.counts:
            number = self._counted(self._calling(count.condition, ["a", "p"])).syntax
            low, high = (ast.Constant(bound) for bound in count.bounds(self.protocol.values))
            between = ast.Compare(low, [ast.LtE(), ast.LtE()], [number, high])
            parts.append(between if count.within else ast.UnaryOp(ast.Not(), between))
        parts += [self._calling(predicate, self.arguments) for predicate in row.whole]
        parts += [ast.UnaryOp(ast.Not(), self._calling(predicate, self.arguments)) for predicate in row.unless]
        return ast.BoolOp(ast.And(), parts)

    def _calling(self, function: Callable[..., Any], arguments: list[str]) -> ast.expr:
        name = next((name for name, other in self.called.items() if other is function), f"called_{len(self.called)}")
        self.called[name] = function
        return ast.Call(ast.Name(name, ast.Load()), [ast.Name(one, ast.Load()) for one in arguments], [])

    def _count(self, condition: Tree) -> Part:
        return self._counted(self.agents.truth(condition))

    def _counted(self, test: ast.expr) -> Part:
        known = {ast.unparse(other): name for name, other in self.tests.items()}
        name = known.get(ast.unparse(test), f"count_{len(self.tests)}")
        self.tests[name] = test
        return Part(ast.Name(name, ast.Load()), 0, self.protocol.n)
