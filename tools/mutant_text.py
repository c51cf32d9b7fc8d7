"""One operator, constant or function of a module exchanged: where that can be done, and the modules that result."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from types import CodeType

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
NAMES = {
    "all": "any", "any": "all", "max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum",
    "argmax": "argmin", "argmin": "argmax", "zeros": "ones", "ones": "zeros",
}  # fmt: skip


def changed(node: ast.AST) -> ast.AST | None:
    """The node with its operator, constant or function exchanged; None if it has none that is known."""
    twin = copy.deepcopy(node)
    match twin:
        case ast.Compare(ops=[op, *_]) if type(op) in COMPARISONS:
            twin.ops[0] = COMPARISONS[type(op)]()
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in OPERATORS:
            twin.op = OPERATORS[type(op)]()
        case ast.BoolOp(op=op):
            twin.op = ast.Or() if isinstance(op, ast.And) else ast.And()
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            return twin.operand
        case ast.Constant(value=bool(value)):
            twin.value = not value
        case ast.Constant(value=int(value) | float(value)):
            twin.value = value + 1
        case ast.Call(func=ast.Attribute(attr=name)) if name in NAMES:
            twin.func.attr = NAMES[name]  # type: ignore[attr-defined]
        case ast.Call(func=ast.Name(id=name)) if name in NAMES:
            twin.func.id = NAMES[name]  # type: ignore[attr-defined]
        case _:
            return None
    return twin


def places(tree: ast.Module) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Where a node can be changed: its parent, the field, the position in a list; not annotations and messages."""
    todo: list[ast.AST] = [tree]
    while todo:
        parent = todo.pop()
        for field, value in ast.iter_fields(parent):
            if field in ("annotation", "returns", "decorator_list") or isinstance(
                parent, ast.Raise | ast.JoinedStr
            ):
                continue
            for i, child in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(child, ast.AST):
                    todo.append(child)
                    if changed(child) is not None:
                        yield parent, field, i if isinstance(value, list) else None


def mutants(text: str, chosen: Sequence[int] | None = None) -> Iterator[tuple[int, str, ast.Module]]:
    """Line, what was changed, and the changed module, one change each: all of them, or those of these numbers."""
    for wanted in range(n_mutants(text)) if chosen is None else chosen:
        tree = ast.parse(text)
        parent, field, i = next(islice(places(tree), wanted, None))
        siblings = getattr(parent, field)
        node = siblings if i is None else siblings[i]
        twin = changed(node)
        assert twin is not None
        change = f"{ast.unparse(node)}  ->  {ast.unparse(twin)}"
        if i is None:
            setattr(parent, field, twin)
        else:
            siblings[i] = twin
        yield node.lineno, change, ast.fix_missing_locations(tree)


def n_mutants(text: str) -> int:
    return sum(1 for _ in places(ast.parse(text)))


def codes(code: CodeType) -> Iterator[CodeType]:
    """The code objects of functions inside a module or class, outermost first; not those inside functions."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if inner.co_flags & 0x0002:  # CO_NEWLOCALS: a function, where a class body has none
                yield inner
            else:
                yield from codes(inner)


def functions(tree: ast.AST) -> Iterator[tuple[int, int, int]]:
    """First line as a code object has it, first and last line, of outermost functions: methods are outermost ones."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            body = node.body[0]
            yield first, min(body.lineno, node.end_lineno or 0), node.end_lineno or node.lineno
        else:
            yield from functions(node)


def around(text: str, line: int) -> int | None:
    """The first line of the function whose body holds a line; None outside functions, as defaults are."""
    return next((first for first, lo, hi in functions(ast.parse(text)) if lo <= line <= hi), None)


def bodies(path: Path, tree: ast.Module) -> dict[int, CodeType]:
    """The compiled functions of a changed module by their first line."""
    return {code.co_firstlineno: code for code in codes(compile(tree, str(path), "exec"))}
