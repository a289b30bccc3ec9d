"""The operations of compiled nodes as calls of `compute.arithmetic`, each with its place in the author's file."""

import ast
import os
from typing import Any

from hegemon.compute import arithmetic
from hegemon.compute.translation import COMPARED, NUMBERED, OWN
from hegemon.errors import InvalidInput
from hegemon.language.known import OPERATIONS

CALLED = {"abs": "absolute", "int": "truncated"}
SCOPE: dict[str, Any] = {f"{OWN}{name}": function for name, function in arithmetic.FUNCTIONS.items()}


def guarded(file: str, tree: ast.stmt) -> ast.stmt:
    """A function of this file, whose operations are those of SCOPE."""
    return ast.fix_missing_locations(_Guards(file).visit(tree))


class _Guards(ast.NodeTransformer):
    def __init__(self, file: str):
        self._file, self._held = os.path.basename(file), 0

    def _call(self, name: str, node: Any, *arguments: ast.expr) -> ast.expr:
        place = ast.Constant(f"{self._file}, line {node.lineno}")
        return ast.copy_location(ast.Call(ast.Name(f"{OWN}{name}", ast.Load()), [*arguments, place], []), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        operation = NUMBERED.get(OPERATIONS.get(type(node.op), ""))
        return self._call(operation.__name__, node, node.left, node.right) if operation else node

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.AST]:
        """`x += y`, whose index is calculated once."""
        target, first = node.target, []
        if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Name | ast.Constant):
            self._held += 1
            name = f"{OWN}held_{self._held}"
            first = [ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], target.slice), node)]
            target.slice = ast.copy_location(ast.Name(name, ast.Load()), node)
        of = target if isinstance(target, ast.Name) else target.value
        if not isinstance(of, ast.Name | ast.Attribute):
            raise InvalidInput(f"what an operation changes is calculated ({self._file}, line {node.lineno})")
        before = ast.parse(ast.unparse(target), mode="eval").body
        for part in ast.walk(before):
            ast.copy_location(part, node)
        value = ast.copy_location(ast.BinOp(before, node.op, node.value), node)
        return [self.visit(one) for one in (*first, ast.copy_location(ast.Assign([target], value), node))]

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Attribute):
            node.value = self._call("stored", node, node.value)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        minus = isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant)
        return self._call("negative", node, node.operand) if minus else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        plain = isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords
        if plain and isinstance(node.func, ast.Name) and node.func.id in CALLED:
            return self._call(CALLED[node.func.id], node, *node.args)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if not all(OPERATIONS.get(type(one)) in COMPARED for one in node.ops):
            return node
        tests: list[ast.expr] = []
        left = node.left
        for place, (operation, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
            held = right
            if place + 1 < len(node.ops):
                self._held += 1
                name = f"{OWN}held_{self._held}"
                held = ast.copy_location(ast.Name(name, ast.Load()), node)
                right = ast.copy_location(ast.NamedExpr(ast.Name(name, ast.Store()), right), node)
            tests.append(self._call(COMPARED[OPERATIONS[type(operation)]].__name__, node, left, right))
            left = held
        return tests[0] if len(tests) == 1 else ast.copy_location(ast.BoolOp(ast.And(), tests), node)
