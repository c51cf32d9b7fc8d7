"""The check of private names finds every way of reaching for another package's underscore names."""

from __future__ import annotations

import pytest
from tools.private_names import findings


@pytest.mark.parametrize(
    "line",
    [
        "model._engine",
        "getattr(model, '_engine', None)",
        "hasattr(model, '_engine')",
        "from bayou.other import _engine",
    ],
)
def test_reaching_for_another_package_is_found(tmp_path, line):
    for package, text in {
        "one": f"def f(model):\n    {line}\n",
        "other": "class A:\n    _engine = 1\n",
    }.items():
        (tmp_path / package).mkdir()
        (tmp_path / package / "module.py").write_text(text)
    (found,) = findings(tmp_path)
    assert "module.py:2: _engine" in found


def test_a_package_may_read_its_own_names_and_dunders(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "a.py").write_text("class A:\n    def __init__(self):\n        self._engine = 1\n")
    (tmp_path / "one" / "b.py").write_text("def f(a):\n    return a._engine, a.__dict__, a.schema_\n")
    assert findings(tmp_path) == []
