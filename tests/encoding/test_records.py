"""One plain record at a time, whoever asks in between."""

from __future__ import annotations

import pytest

from bayou import NaiveBayes
from bayou.encoding.records import PlainRecords
from bayou.errors import DataError
from bayou.schema import Declared, Schema


def test_records_of_several_threads_do_not_get_into_each_others_way():
    """Where keys go is remembered from one record to the next; another thread may ask at the worst moment."""
    records = PlainRecords(Schema(Declared(columns={"a": "numeric", "b": "numeric", "s": ["u", "v"]})))
    first, other = {"a": 1.0, "s": "v", "b": 2.0}, {"s": "u", "b": 4.0, "a": 3.0}

    class Interrupted(str):
        __hash__ = str.__hash__

        def __eq__(self, name: object) -> bool:
            assert [*records.cells(other)] == [3.0, 4.0, 0]
            return str.__eq__(self, name)

    assert [*records.cells(first)] == [1.0, 2.0, 1]
    assert [*records.cells({Interrupted("a"): 1.0, "s": "v", "b": 2.0})] == [1.0, 2.0, 1]


@pytest.mark.parametrize(("y", "w"), [({1}, 1.0), ("p", "much"), ("p", 1e300), ([1], 1.0)])
def test_what_is_no_label_or_weight_is_an_error_of_ours_at_any_time(y, w):
    model = NaiveBayes()
    for _ in range(2):
        with pytest.raises(DataError):
            model.learn_one({"a": 1.0}, y, w)
        model.learn_one({"a": 1.0}, "p")
