"""Names that would end a string, a comment or a script come through everywhere, and inject nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayou import NaiveBayes
from bayou.errors import UnsupportedError
from bayou.export.js import to_page
from bayou.export.json import to_json
from bayou.export.scoring import model_scorer
from bayou.export.sql import to_sql
from tests.conftest import PATIENCE
from tests.export.models import Row, expected
from tests.export.test_c import scored as scored_in_c
from tests.export.test_js import scored as scored_in_node
from tests.export.test_onnx import scored as scored_by_onnx
from tests.export.test_sql import scored as scored_in_sql

NAMES = [
    "select", 'a"b', "it's", "back\\slash", "new\nline", "*/ int main; /*", "</script><script>alert(1)</script>", "😀",
    "x; DROP TABLE rows; --", "${alert(1)}", "__proto__", "constructor", "int", "??/", "%s", " ", "\u2028",
    "<!--", "tab\t",
    "'); DELETE FROM rows; --", "`", "row", "label", "p_dry", "bayou_0", "ünï cödé", "\x7f\x01",
]  # fmt: skip


def rows_of(n: int, seed: int) -> tuple[list[Row], list[str]]:
    """Two columns by hostile names for each kind, whose values and classes are hostile names, too."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(len(NAMES), size=n)
    rows = []
    for y in labels:
        row: Row = {name: NAMES[int(rng.choice([y, rng.integers(len(NAMES))]))] for name in NAMES[::3]}
        row.update({name: float(rng.normal(y % 5)) for name in NAMES[1::3]})
        rows.append({name: value for name, value in row.items() if rng.random() > 0.2})
    return rows, [NAMES[y] for y in labels]


@pytest.fixture(scope="module")
def hostile() -> tuple[Any, list[Row], Any]:
    model = NaiveBayes()
    model.learn_many(*rows_of(200, 1))
    rows, _ = rows_of(30, 2)
    return model, rows, expected(model, rows)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_sql(hostile: Any, dialect: str) -> None:
    model, rows, wanted = hostile
    found, _ = scored_in_sql(dialect, model, rows, False)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


def test_c(hostile: Any, tmp_path: Path) -> None:
    model, rows, wanted = hostile
    found = scored_in_c(tmp_path, model, rows, False)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


def test_javascript(hostile: Any, tmp_path: Path) -> None:
    model, rows, wanted = hostile
    found = scored_in_node(tmp_path, {"m": (model_scorer(model), rows)})["m"]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


def test_onnx(hostile: Any) -> None:
    model, rows, wanted = hostile
    found, _ = scored_by_onnx(model, rows, False)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)


def test_page(hostile: Any, browser: Any, tmp_path: Path) -> None:
    model, _, _ = hostile
    path = tmp_path / "model.html"
    path.write_text(to_page(model_scorer(model)), encoding="utf-8")
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    trouble: list[str] = []
    page.on("dialog", lambda dialog: trouble.append(dialog.message))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.goto(path.as_uri())
    assert page.locator("#proba tbody tr").count() == len(NAMES)
    assert page.locator("form label").count() == len(model.schema_.place)
    names = page.evaluate("[...document.querySelectorAll('#row span')].map((s) => s.textContent)")
    assert set(names) == set(model.schema_.place)
    page.locator("select").first.select_option(index=3)
    assert trouble == []
    page.close()


def test_names_that_differ_by_capitals_alone(tmp_path: Path) -> None:
    """C tells them apart, also in macros beside its own; SQL refuses where it would take one for the other."""
    model, names = NaiveBayes(), ["a", "A", "classes", "Classes", "h"]
    learned: list[Row] = [{name: f"v{(i * j) % 3}" for j, name in enumerate(names)} for i in range(30)]
    model.learn_many(learned, ["x", "y", "y"] * 10)
    found = scored_in_c(tmp_path, model, learned, False)
    np.testing.assert_allclose(found, expected(model, learned), rtol=0, atol=1e-12)
    for dialect in ("duckdb", "sqlite"):
        with pytest.raises(UnsupportedError, match="capitals"):
            to_sql(model_scorer(model), dialect)
    assert to_sql(model_scorer(model), "postgresql")


def test_nul_is_refused_where_it_cannot_be_told(tmp_path: Path) -> None:
    model = NaiveBayes()
    model.learn_many([{"a\0b": "x\0"}, {"a\0b": "y"}] * 3, ["no\0", "yes"] * 3)
    rows: list[Row] = [{"a\0b": "x\0"}, {"a\0b": "x"}, {}]
    for dialect in ("duckdb", "sqlite", "postgresql"):
        with pytest.raises(UnsupportedError, match="NUL"):
            to_sql(model_scorer(model), dialect)
    np.testing.assert_allclose(
        scored_in_c(tmp_path, model, rows, False), expected(model, rows), rtol=0, atol=1e-12
    )
    found = scored_in_node(tmp_path, {"m": (model_scorer(model), rows)})["m"]
    np.testing.assert_allclose(found, expected(model, rows), rtol=0, atol=1e-12)
    assert "\0" not in to_json(model_scorer(model))
