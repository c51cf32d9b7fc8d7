"""The exported SELECT, run in real databases, gives the model's probabilities and its class."""

from __future__ import annotations

import os
import sqlite3
from typing import Any

import numpy as np
import pytest

from bayou import CountForest, NaiveBayes
from bayou.export.scoring import model_scorer
from bayou.export.sql import to_sql
from bayou.export.sql_text import exact_number, quoted
from tests.export.models import KERNELS, MODELS, QUICK, WORDY, Row, expected, model_of, rows_for

LONG = bool(os.environ.get("BAYOU_LONG"))
NAMES = [name for name in (MODELS if LONG else QUICK) if name not in KERNELS]
DOUBLE = {"duckdb": "DOUBLE", "sqlite": "REAL", "postgresql": "double precision"}
TEXT = {"duckdb": "VARCHAR", "sqlite": "TEXT", "postgresql": "text"}
FLAG = {"duckdb": "BOOLEAN", "sqlite": "INTEGER", "postgresql": "boolean"}


class Database:
    """A database in memory that takes rows as they are scored."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        if dialect == "duckdb":
            duckdb = pytest.importorskip(
                "duckdb", reason="NO DUCKDB: the exported SQL is not run in it; pip install duckdb"
            )
            self.connection: Any = duckdb.connect()
            self.connection.execute("SET threads = 1")
        else:
            self.connection = sqlite3.connect(":memory:")

    def fill(self, model: Any, rows: list[Row], wordy: bool) -> None:
        schema = model.schema_
        numeric, nominal = schema.names("numeric"), schema.names("nominal")
        truths = {n for n in nominal if all(isinstance(v, bool) for v in schema.vocabularies[n].values)}
        kinds = [*((n, DOUBLE) for n in numeric), *((n, FLAG if n in truths else TEXT) for n in nominal)]
        columns = ", ".join(["row_id INTEGER", *(f"{quoted(n)} {kind[self.dialect]}" for n, kind in kinds)])
        self.connection.execute(f"CREATE TABLE rows ({columns})")
        cells = [
            [
                i,
                *(
                    (None if n in truths and not isinstance(row.get(n), bool) else row.get(n))
                    for n, _ in kinds
                ),
            ]
            for i, row in enumerate(rows)
        ]
        self._insert("rows", cells)
        if schema.names("text"):
            self.connection.execute(
                "CREATE TABLE words (row_id INTEGER, column_name TEXT, word TEXT, count DOUBLE)"
            )
            name = schema.names("text")[0]
            said = [
                (i, name, w, float(c))
                for i, row in enumerate(rows)
                for w, c in (row if wordy else row.get(name) or {}).items()
            ]
            self._insert("words", said)

    def _insert(self, table: str, cells: list[Any]) -> None:
        if not cells:
            return
        if self.dialect == "duckdb":
            import pyarrow as pa

            given = pa.table({f"c{j}": pa.array([row[j] for row in cells]) for j in range(len(cells[0]))})
            self.connection.register("given", given)
            self.connection.execute(f"INSERT INTO {table} SELECT * FROM given")
            return
        marks = ", ".join("?" * len(cells[0]))
        self.connection.executemany(f"INSERT INTO {table} VALUES ({marks})", cells)

    def run(self, script: str) -> None:
        if self.dialect == "duckdb":
            self.connection.execute(script)
        else:
            self.connection.executescript(script)

    def scored(self, select: str, order: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        cursor = self.connection.execute(f"{select} ORDER BY {order}" if order else select)
        return [column[0] for column in cursor.description], cursor.fetchall()


def scored(dialect: str, model: Any, rows: list[Row], wordy: bool) -> tuple[np.ndarray[Any, Any], list[Any]]:
    database = Database(dialect)
    database.fill(model, rows, wordy)
    files = to_sql(model_scorer(model), dialect, keep=["row_id"])
    for script in list(files.values())[:-1]:
        database.run(script)
    _, found = database.scored(files["model.sql"], "row_id")
    k = len(model.labels())
    return np.array([row[-k - 1 : -1] for row in found], dtype=float), [row[-1] for row in found]


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@pytest.mark.parametrize("name", NAMES)
def test_sql_gives_the_models_probabilities(name: str, dialect: str) -> None:
    model, rows = model_of(name), rows_for(name, 10_000 if LONG else 60)
    found, labels = scored(dialect, model, rows, name in WORDY)
    wanted = expected(model, rows)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)
    sure = np.sort(wanted, axis=1)[:, -1] - np.sort(wanted, axis=1)[:, -2] > 1e-9
    assert [label for label, s in zip(labels, sure, strict=True) if s] == [
        model.labels()[i] for i in wanted[sure].argmax(axis=1)
    ]


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@pytest.mark.parametrize("name", ["bagged trees", "forest"])
def test_one_column_of_the_select_may_be_asked_for(name: str, dialect: str) -> None:
    """Planners that spell out what was computed before would never come to an end."""
    model, rows = model_of(name), rows_for(name, 60)
    database = Database(dialect)
    database.fill(model, rows, False)
    select = to_sql(model_scorer(model), dialect)["model.sql"]
    (found,) = database.connection.execute(f"SELECT avg(p_dry) FROM ({select}) AS scored").fetchone()
    assert found == pytest.approx(expected(model, rows)[:, 0].mean(), abs=1e-12)


def test_sqlite_takes_trees_that_are_deeper_than_its_parser() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3))
    labels = np.where((X[:, 0] > 0) ^ (X[:, 1] + rng.normal(size=1000) > 0), "yes", "no")
    rows = [{f"x{j}": float(x) for j, x in enumerate(row)} for row in X]
    model = CountForest(trees=3, warm_up=1000)
    model.learn_many(rows, labels)
    database = Database("sqlite")
    database.fill(model, rows[:50], False)
    select = to_sql(model_scorer(model), "sqlite")["model.sql"]
    assert "CASE" in select
    (found,) = database.connection.execute(f"SELECT avg(p_yes) FROM ({select}) AS scored").fetchone()
    assert found == pytest.approx(expected(model, rows[:50])[:, 1].mean(), abs=1e-12)


def test_sqlite_reads_numbers_back_as_they_are() -> None:
    rng = np.random.default_rng(0)
    values = [
        *(rng.normal(size=500) * 10.0 ** rng.integers(-30, 30, 500)).tolist(),
        0.0,
        1e15,
        -1e139,
        0.1,
        1 / 3,
    ]
    connection = sqlite3.connect(":memory:")
    for value in values:
        assert connection.execute(f"SELECT {exact_number(value)}").fetchone()[0] == value


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_a_key_comes_along(dialect: str) -> None:
    """Whatever the key is called, even as a column of ours would be."""
    model = NaiveBayes("gaussian").fit([{"x": 1.0}, {"x": 3.0}], ["a", "b"])
    select = model.export("sql", dialect=dialect, keep=["p_a", "bayou_0", "x"])["model.sql"]
    database = Database(dialect)
    database.run("CREATE TABLE rows (x DOUBLE, p_a TEXT, bayou_0 INTEGER)")
    database.run("INSERT INTO rows VALUES (3.0, 'first', 7), (1.0, 'second', 8)")
    names, found = database.scored(str(select), "bayou_0")
    assert [dict(zip(names, row, strict=True))["p_a"] for row in found] == ["first", "second"]
    assert [row[names.index("x")] for row in found] == [3.0, 1.0]
    assert [row[-1] for row in found] == ["b", "a"]
    assert names.count("x") == names.count("bayou_0") == 1
