"""Numbers that were read side by side: the same rows, columns and models as column by column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from bayou import NaiveBayes
from bayou.schema import Declared
from bayou.streams import limits, open_stream
from bayou.streams.columns import Columns, NumberColumns, NumberRows, side_by_side
from bayou.threads import limited
from bayou.training import Learning, Run

ROWS = 700


def table(missing: float) -> pa.Table:
    random = np.random.default_rng(1)
    gaps = [random.random(ROWS) < missing for _ in range(4)]
    return pa.table(
        {
            "whole": pa.array(random.integers(-5, 5000, ROWS), pa.int64(), mask=gaps[0]),
            "small": pa.array(random.integers(0, 100, ROWS), pa.int8(), mask=gaps[1]),
            "day": pa.array(random.choice(["mon", "tue"], ROWS), pa.string(), mask=gaps[2]),
            "broken": pa.array(random.normal(size=ROWS).round(5), pa.float64(), mask=gaps[3]),
            "flag": pa.array(random.integers(0, 2, ROWS)),
            "y": pa.array(random.choice(["a", "b", "c"], ROWS)),
        }
    )


def learned(path: Path, block: int | None = None, **declared: Any) -> NaiveBayes:
    model = NaiveBayes("gaussian", schema=Declared(**declared)) if declared else NaiveBayes("gaussian")
    with open_stream(path, target="y") as source:
        Run(Learning(model), source, None, block=block).to_the_end()
    return model


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("nominal", [False, True])
def test_every_way_of_reading_teaches_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: float, nominal: bool
) -> None:
    monkeypatch.setattr(limits, "BATCH", 64)
    data = table(missing) if nominal else table(missing).drop_columns(["day"])
    pa.parquet.write_table(data, tmp_path / "a.parquet", row_group_size=300)
    pa.csv.write_csv(data, tmp_path / "a.csv", pa.csv.WriteOptions(quoting_style="none"))
    pa.csv.write_csv(data, tmp_path / "quoted.csv")
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file, pa.ipc.new_file(file, data.schema) as writer:
        writer.write_table(data)
    whole = NaiveBayes("gaussian")
    whole.partial_fit(data.drop_columns(["y"]), data.column("y").to_pylist())
    digests = {
        learned(tmp_path / name, block).digest()
        for name in ("a.parquet", "a.csv", "quoted.csv", "a.arrow")
        for block in (None, 1, 33, 5000)
    }
    assert digests == {whole.digest()}


def test_a_number_that_the_model_takes_for_a_name(tmp_path: Path) -> None:
    data = table(0.1)
    pa.parquet.write_table(data, tmp_path / "a.parquet")
    pa.csv.write_csv(data, tmp_path / "a.csv", pa.csv.WriteOptions(quoting_style="none"))
    models = [learned(tmp_path / name, columns={"flag": "nominal"}) for name in ("a.parquet", "a.csv")]
    assert models[0].digest() == models[1].digest()
    assert models[0].predict_one({"flag": 1.0}) == models[1].predict_one({"flag": 1.0})


def test_columns_are_arrows_own(tmp_path: Path) -> None:
    """What is null stays null, and a NaN in a Parquet file a NaN."""
    data = pa.table({"a": [1, None, 3], "b": [0.5, float("nan"), None], "y": ["p", "q", "p"]})
    pa.parquet.write_table(data, tmp_path / "a.parquet")
    with open_stream(tmp_path / "a.parquet", target="y") as source:
        got = source.read(2)
        assert list(got.columns) == ["a", "b"]
        assert got.columns["a"].equals(pa.array([1.0, None]))
        assert repr(got.columns["b"].to_pylist()) == "[0.5, nan]"
        np.testing.assert_array_equal(got.columns.numbers.matrix, [[1.0, 0.5], [np.nan, np.nan]])
        assert not got.columns.numbers.usable


def test_a_numeric_target_is_no_column(tmp_path: Path) -> None:
    path = tmp_path / "a.arff"
    path.write_text(
        "@relation r\n@attribute x numeric\n@attribute y numeric\n@data\n" + "1.5,2\n2.5,3\n" * 20
    )
    with open_stream(path, target="y") as source:
        got = source.read(3)
    assert list(got.columns) == ["x"]
    assert got.labels.to_pylist() == [2.0, 3.0, 2.0]
    model = NaiveBayes("gaussian")
    with open_stream(path, target="y") as source:
        Run(Learning(model), source, None).to_the_end()
    assert model.predict_one({"x": 1.5}) == 2.0


def test_parts_of_several_chunks_follow_one_another() -> None:
    rows = NumberRows(("a", "b"), np.arange(8.0).reshape(4, 2), True)
    columns = NumberColumns(("a", "b"), [pa.array([1, 2, 3]).slice(1), pa.array([0.5, 1.5])])
    got = side_by_side([(rows, 1, 2), (columns, 0, 2)])
    assert got.usable
    assert got.matrix.tolist() == [[2.0, 3.0], [4.0, 5.0], [2.0, 0.5], [3.0, 1.5]]
    assert side_by_side([(rows, 1, 2)]).matrix.base is not None
    with pytest.raises(IndexError):
        columns.fill(np.empty((2, 2)), 1)


def test_a_column_is_made_once() -> None:
    made: list[str] = []

    def make(name: str) -> pa.Array:
        made.append(name)
        return pa.array([1])

    columns = Columns(["a", "b"], make)
    assert columns["a"] is columns["a"]
    assert (list(columns), len(columns), made) == (["a", "b"], 2, ["a"])
    del columns["b"]
    assert columns == {"a": pa.array([1])}


def test_many_numbers_are_learned_where_they_lie(tmp_path: Path) -> None:
    """The bits are those of rows side by side, whatever the blocks, in one thread and in two."""
    rng = np.random.default_rng(5)
    n = 20_000
    data = {f"i{j}": rng.integers(-9, 9, n) for j in range(9)}
    data |= {f"x{j}": rng.normal(3.0, 10.0**j, n) for j in range(8)}
    labels = pa.array(rng.choice(["p", "q", "r"], n), mask=rng.random(n) < 0.1)
    pa.parquet.write_table(pa.table({**data, "y": labels}), tmp_path / "a.parquet")
    known = NaiveBayes("gaussian")
    known.learn_batch({name: column.astype(float) for name, column in data.items()}, labels)
    for block, threads in ((None, 1), (None, 2), (16_384, 2), (11_000, 2), (97, 1)):
        with limited(threads):
            assert learned(tmp_path / "a.parquet", block).digest() == known.digest()


@pytest.mark.parametrize(("first", "n"), [(-1, 2), (0, 4), (3, 1), (1, -1)])
def test_no_rows_lie_beyond_the_end(first, n):
    numbers = NumberColumns(("a", "b"), [pa.array([1, 2, 3]), pa.array([0.5, 1.5, 2.5])])
    with pytest.raises(IndexError, match="beyond the end"):
        numbers.rows(first, n)
    assert numbers.rows(1, 2).matrix.tolist() == [[2.0, 1.5], [3.0, 2.5]]
