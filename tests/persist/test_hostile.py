"""Files made to hurt do not: a typed error or a working model, nothing executed, memory bounded."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.persist.models import trained

import bayou.persist
from bayou import files
from bayou.engines import views_of
from bayou.summaries.array_summary import State

LONG = bool(os.environ.get("BAYOU_LONG"))
ROOT = Path(__file__).parents[2]


def test_hostile_files_under_an_audit_hook_and_a_memory_limit() -> None:
    count = 20_000 if LONG else 700
    done = subprocess.run(
        [sys.executable, "-m", "tests.persist.hostile", str(count), "1"],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    print(found)
    assert found["events"] == []
    assert found["handmade"] >= 40
    assert found["handmade accepted"] == []
    assert found["mutated"] == count
    assert 0 < found["accepted"] < count / 2, "mutations that change nothing of importance are rare but exist"
    assert found["rss"] <= 2 * found["largest"] + 64
    assert found["slowest"] < 5.0


@pytest.mark.parametrize("kind", sorted(files.kinds().models))
def test_every_array_of_a_model_is_declared_with_an_invariant(kind: str) -> None:
    """Where this fails, derive the summary from `ArraySummary` and declare its arrays."""
    for prefix, view in views_of(trained(kind, 30).engine):
        for state in view.states():
            assert isinstance(state, State), prefix


def test_no_pickle_eval_or_import_by_name_on_the_loading_path() -> None:
    forbidden = {"pickle", "marshal", "shelve", "importlib", "dill", "joblib", "subprocess", "ctypes"}
    calls = {"eval", "exec", "compile", "__import__", "getattr_static"}
    paths = sorted(Path(bayou.persist.__path__[0]).glob("*.py"))
    assert len(paths) > 8
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                assert not forbidden & {alias.name.partition(".")[0] for alias in node.names}, path
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").partition(".")[0] not in forbidden, path
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in calls, path
            if isinstance(node, ast.keyword):
                assert node.arg != "allow_pickle", path
