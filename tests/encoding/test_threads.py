"""One model that has read what was due, asked by several threads at once."""

from __future__ import annotations

import sys
import threading

import pytest

from bayou import NaiveBayes
from bayou.errors import DataError


def test_records_with_other_keys_do_not_get_into_each_others_way():
    """Where the keys of a record go is remembered from one record to the next, of whichever thread."""
    model = NaiveBayes()
    rows = [{"a": float(i % 5), "b": 10.0 * (i % 7), "s": "uvw"[i % 3]} for i in range(60)]
    model.learn_many(rows, ["p" if row["a"] > 2 else "q" for row in rows])
    model.refresh()
    turned = [dict(list(row.items())[i % 3 :] + list(row.items())[: i % 3]) for i, row in enumerate(rows)]
    expected = [model.predict_proba_one(row) for row in turned]
    found: list[list[dict]] = []
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(10):
            threads = [
                threading.Thread(
                    target=lambda: found.append([model.predict_proba_one(row) for row in turned])
                )
                for _ in range(4)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert len(found) == 40
    assert all(each == expected for each in found)


@pytest.mark.parametrize(("y", "w"), [({1}, 1.0), ("p", "much"), ("p", 1e300), ([1], 1.0)])
def test_what_is_no_label_or_weight_is_an_error_of_ours_at_any_time(y, w):
    model = NaiveBayes()
    for _ in range(2):
        with pytest.raises(DataError):
            model.learn_one({"a": 1.0}, y, w)
        model.learn_one({"a": 1.0}, "p")
