"""The rules kernels live by, checked on their source."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

import bayou
from bayou.kernels.jit import InnerDispatcher
from bayou.kernels.warming import all_kernels, signature_of

ROOT = Path(bayou.__file__).parent
KERNELS = sorted((ROOT / "kernels").glob("*.py"))


def is_kernel(node):
    return isinstance(node, ast.FunctionDef) and any("kernel" in ast.unparse(d) for d in node.decorator_list)


FUNCTIONS = [
    pytest.param(node, id=f"{path.stem}.{node.name}")
    for path in KERNELS
    for node in ast.parse(path.read_text()).body
    if is_kernel(node)
]


def arrays_of(node):
    return {
        a.arg for a in node.args.args if a.annotation is not None and "NDArray" in ast.unparse(a.annotation)
    }


@pytest.mark.parametrize("node", FUNCTIONS)
def test_docstring_gives_every_array_its_type_shape_and_direction(node):
    text = ast.get_docstring(node) or ""
    for name in arrays_of(node):
        form = rf"\b{name}\b[\w, ]* : [^;\n]*\w+\[[^;\n]*\b(in/out|in|out|scratch)\b"
        assert re.search(form, text), f"{node.name}: {name} lacks its dtype, shape and direction"


@pytest.mark.parametrize("node", FUNCTIONS)
def test_kernels_do_not_raise_or_draw(node):
    assert not [n for n in ast.walk(node) if isinstance(n, ast.Raise | ast.Try)]
    assert "random" not in ast.unparse(node)


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
