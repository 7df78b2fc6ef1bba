"""Members of integer enumerations in kernels, replaced by their values before numba compiles the kernel.

numba infers the type of every `StateRow.VX`, and of every sum with one, by a search. A kernel of the world has a
thousand of them, and the search takes longer than the rest of the compilation.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable
from enum import IntEnum
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class _EnumInliner(ast.NodeTransformer):
    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name):
            owner = self.names.get(node.value.id)
            if isinstance(owner, type) and issubclass(owner, IntEnum):
                return ast.copy_location(ast.Constant(int(owner[node.attr])), node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        left, right = node.left, node.right
        if isinstance(node.op, ast.Add) and isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
            numbers = (left.value, right.value)
            if all(isinstance(number, int) for number in numbers):
                return ast.copy_location(ast.Constant(sum(numbers)), node)  # type: ignore[arg-type]
        return node


def parse_function(function: Callable[..., Any]) -> ast.Module:
    """Return the syntax tree of `function`, without decorators and annotations, with the line numbers of its file."""
    lines, first = inspect.getsourcelines(function)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.decorator_list = []
    definition.returns = None
    for argument in definition.args.args:
        argument.annotation = None
    ast.increment_lineno(tree, first - 1)
    return tree


def inline_enums(function: Function) -> Function:
    """Return `function` with every IntEnum member that its module names replaced by its value."""
    tree = ast.fix_missing_locations(_EnumInliner(function.__globals__).visit(parse_function(function)))
    scope: dict[str, Any] = {}
    exec(compile(tree, inspect.getsourcefile(function) or "<kernel>", "exec"), function.__globals__, scope)
    folded: Function = scope[function.__name__]
    folded.__module__, folded.__qualname__ = function.__module__, function.__qualname__
    return folded
