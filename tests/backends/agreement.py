"""What it means that two models learned the same rows, by their law; and real rows to learn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from tests.data import DATA

from bayou.laws import MergeLaw
from bayou.streams import open_stream


def alike(a: Any, b: Any, rows: Any) -> None:
    """The same bits, or the same probabilities up to rounding, as the law says."""
    assert a.labels() == b.labels()
    if a.law is MergeLaw.EXACT:
        assert a.digest() == b.digest()
    else:
        assert a.law is MergeLaw.ROUNDING
        np.testing.assert_allclose(a.proba(a.encode(rows)), b.proba(b.encode(rows)), rtol=1e-8, atol=1e-12)


def quantiles_within_bound(a: Any, b: Any) -> None:
    """Ranks of any value, in every column, differ by no more than the two summaries own up to."""
    one, two = a.engine.views["numeric"].summary, b.engine.views["numeric"].summary
    assert one.law is MergeLaw.BOUNDED
    bound = one.error() + two.error()
    assert 0 < bound < 0.2
    for name in a.schema_.names("numeric"):
        mine, theirs = (_ranks(m, s, name) for m, s in ((a, one), (b, two)))
        points = np.union1d(mine[0], theirs[0])
        gap = np.abs(_at(mine, points) - _at(theirs, points))
        assert gap.max(initial=0.0) <= bound, name


def _ranks(model: Any, summary: Any, name: str) -> tuple[Any, Any]:
    """Values and the share of the weight at or below each."""
    values, counts = summary.cells(model.schema_.place[name][1])
    total = counts.sum()
    return values, np.cumsum(counts.sum(axis=1)) / total


def _at(ranks: tuple[Any, Any], points: Any) -> Any:
    return np.concatenate(([0.0], ranks[1]))[np.searchsorted(ranks[0], points, side="right")]


def covertype(path: Path, rows: int | None) -> Path:
    """The first rows of Covertype as a Parquet file of several row groups."""
    source = DATA / "streams" / "covtype.csv.gz"
    if not source.exists():
        pytest.skip("Covertype is not beside the checkout")
    if rows is None:
        found = pa.csv.read_csv(source)
    else:
        with open_stream(source, target="Cover_Type") as stream:
            part = stream.read(rows)
        assert part is not None
        found = pa.table({**part.columns, "Cover_Type": part.labels})
    pa.parquet.write_table(found, path, row_group_size=max(1, len(found) // 6))
    return path


def texts(path: Path) -> Path:
    """Short messages and whether they are spam, as a Parquet file of several row groups."""
    source = DATA / "text" / "SMSSpamCollection.tsv.gz"
    if not source.exists():
        pytest.skip("the messages are not beside the checkout")
    with open_stream(source, format="text") as stream:
        part = stream.read(100_000)
    assert part is not None
    found = pa.table({"text": part.columns["text"], "label": part.labels})
    pa.parquet.write_table(found, path, row_group_size=1_000)
    return path
