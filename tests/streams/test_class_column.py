"""The class column may stand anywhere: every classifier predicts the same bits."""

from __future__ import annotations

import pytest

import bayou.classifiers as classifiers
from bayou import open_stream

CELLS = {
    "n": [f"{i * 37 % 101 / 7}" for i in range(60)],
    "c": ["abc"[i * 5 % 3] for i in range(60)],
    "m": [f"{i % 13}" for i in range(60)],
    "y": ["pq"[i * i % 7 < 3] for i in range(60)],
}


@pytest.mark.parametrize("name", classifiers.__all__)
def test_class_column_anywhere(tmp_path, name):
    columns, found = [c for c in CELLS if c != "y"], []
    for place in range(4):
        order = [*columns[:place], "y", *columns[place:]]
        path = tmp_path / f"{place}.csv"
        rows = zip(*(CELLS[c] for c in order), strict=True)
        path.write_text("\n".join(",".join(cells) for cells in (order, *rows)) + "\n")
        model = getattr(classifiers, name)()
        if model.numbers_are_words:
            options = {"target": "y", "ignore": ["c"]}
        else:
            options = {"target": "y"}
        with open_stream(path, **options) as source:
            batch = source.read(1000)
        found.append(model.test_then_train_batch(batch, batch.labels).tolist())
    assert found[0] == found[1] == found[2] == found[3]
