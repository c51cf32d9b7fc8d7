"""Columns of sentences in files: read as text where the file has no types of its own, and said in any case."""

from __future__ import annotations

import json
import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayou.errors import TextWarning
from bayou.streams import open_stream

SENTENCES = [
    "win a great prize now by calling",
    "shall we meet for lunch at noon",
    "free entry to win two tickets today",
]
TOWNS = ["New York", "Rio de Janeiro", "Paris"]
ROWS = [{"note": s, "town": t, "label": y} for s, t, y in zip(SENTENCES, TOWNS, "aba", strict=True)]


def write(path):
    if path.suffix == ".csv":
        path.write_text(
            "note,town,label\n" + "".join(f"{r['note']},{r['town']},{r['label']}\n" for r in ROWS)
        )
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    else:
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    return path


def opened(path, **wishes):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with open_stream(path, target="label", **wishes) as stream:
            stream.read(10)
            kinds = {name: column.kind for name, column in stream.columns.items()}
    return kinds, [str(each.message) for each in caught if issubclass(each.category, TextWarning)]


@pytest.mark.parametrize(("name", "kind"), [("a.csv", "text"), ("a.jsonl", "text"), ("a.parquet", "nominal")])
def test_sentences_are_told_and_names_are_not(tmp_path, name, kind):
    kinds, (message,) = opened(write(tmp_path / name))
    assert kinds == {"note": kind, "town": "nominal"}
    assert message.startswith("column 'note' holds sentences")
    assert "text=['note']" in message


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
@pytest.mark.parametrize("kind", ["text", "nominal"])
def test_what_is_declared_is_not_told(tmp_path, name, kind):
    kinds, messages = opened(write(tmp_path / name), **{kind: ["note"]})
    assert kinds["note"] == kind
    assert messages == []
