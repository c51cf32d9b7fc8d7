"""The rules kernels live by, checked on their source."""

from __future__ import annotations

import ast
import importlib
import re
from functools import cache
from pathlib import Path

import pytest

import bayou
from bayou.kernels.jit import InnerDispatcher
from bayou.kernels.warming import all_kernels, signature_of

ROOT = Path(bayou.__file__).parent
KERNELS = sorted((ROOT / "kernels").glob("*.py"))


def is_kernel(node):
    return isinstance(node, ast.FunctionDef) and any("kernel" in ast.unparse(d) for d in node.decorator_list)


MODULES = [path.stem for path in KERNELS]


@cache
def kernels_of(module):
    """The kernels of a module as they stand in its source; read by the worker that checks them."""
    path = ROOT / "kernels" / f"{module}.py"
    return [node for node in ast.parse(path.read_text()).body if is_kernel(node)]


# What Numba writes itself, as loops. Others call NumPy's own functions in C, whose addresses no wheel can carry.
OF_NUMPY = set(
    "arange argmax argmin argsort ceil empty empty_like float64 floor full int32 int64 isnan ones rint searchsorted "
    "sign uint32 uint64 uint8 zeros".split()
)
MADE = {"arange", "argsort", "empty", "empty_like", "full", "ones", "zeros"}  # of these, arrays


def arrays_of(node):
    return {
        a.arg for a in node.args.args if a.annotation is not None and "NDArray" in ast.unparse(a.annotation)
    }


def of_numpy(node):
    """The function of NumPy that is called, or None."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        home = node.func.value
        return node.func.attr if isinstance(home, ast.Name) and home.id == "np" else None
    return None


def array_expressions(node):
    """Operators between whole arrays or slices of them, which Numba compiles under a name with an address in it."""
    arrays = arrays_of(node)
    for part in ast.walk(node):
        if isinstance(part, ast.Assign) and of_numpy(part.value) in MADE:
            arrays |= {target.id for target in part.targets if isinstance(target, ast.Name)}

    def is_array(part):
        if isinstance(part, ast.Subscript):
            at = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
            return any(isinstance(place, ast.Slice) for place in at)
        return isinstance(part, ast.Name) and part.id in arrays

    return [
        ast.unparse(part)
        for part in ast.walk(node)
        if isinstance(part, ast.BinOp | ast.UnaryOp | ast.Compare | ast.AugAssign)
        and any(map(is_array, ast.iter_child_nodes(part)))
    ]


@pytest.mark.parametrize("module", MODULES)
def test_docstring_gives_every_array_its_type_shape_and_direction(module):
    for node in kernels_of(module):
        text = ast.get_docstring(node) or ""
        for name in arrays_of(node):
            form = rf"\b{name}\b[\w, ]* : [^;\n]*\w+\[[^;\n]*\b(in/out|in|out|scratch)\b"
            assert re.search(form, text), f"{node.name}: {name} lacks its dtype, shape and direction"
        counted = re.search(r"\w\[[^]]*\([^)\]]*,", text)
        assert counted is None, f"{node.name}: a comma would count as one dimension more, {counted}"


@pytest.mark.parametrize("module", MODULES)
def test_kernels_do_not_raise_or_draw(module):
    for node in kernels_of(module):
        assert not [n for n in ast.walk(node) if isinstance(n, ast.Raise | ast.Try)], node.name
        assert "random" not in ast.unparse(node), node.name


@pytest.mark.parametrize("module", MODULES)
def test_kernels_compile_to_what_a_wheel_can_carry(module):
    for node in kernels_of(module):
        assert array_expressions(node) == [], f"{node.name}: write a loop"
        called = {of_numpy(part) for part in ast.walk(node)} - {None}
        assert called <= OF_NUMPY, f"{node.name}: see whether `make wheel` takes {called - OF_NUMPY}"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("a[0] + a[1]", []),
        ("a + 1.0", ["a + 1.0"]),
        ("a[0, :] * 2.0", ["a[0, :] * 2.0"]),
        ("-a", ["-a"]),
        ("a[i] > a[j]", []),
        ("b[0] - 1.0", []),
        ("1.0 - b", ["1.0 - b"]),
    ],
)
def test_array_expressions_are_found(line, found):
    source = f"def f(a: NDArray[np.float64], i: int, j: int):\n    b = np.empty(3)\n    return {line}"
    assert array_expressions(ast.parse(source).body[0]) == found


def test_every_kernel_that_python_calls_tells_its_types():
    """A wheel carries it compiled for these; one that does not tell would be compiled by every user."""
    called = [(name, kernel) for name, kernel in all_kernels() if not isinstance(kernel, InnerDispatcher)]
    assert [name for name, kernel in called if signature_of(kernel) is None] == []


def test_numba_is_imported_by_kernels_alone():
    for path in ROOT.rglob("*.py"):
        if "kernels" not in path.parts:
            assert not re.search(r"^\s*(import|from) numba", path.read_text(), re.M), path


def test_no_fastmath():
    for path in KERNELS:
        assert "fastmath=" not in path.read_text()


@pytest.mark.parametrize("path", KERNELS, ids=lambda p: p.stem)
def test_every_kernel_is_compiled_through_the_one_decorator(path):
    module = importlib.import_module(f"bayou.kernels.{path.stem}")
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef) and any("kernel" in ast.unparse(d) for d in node.decorator_list):
            options = getattr(module, node.name).targetoptions
            assert options["nogil"]
            assert options["error_model"] == "numpy"
