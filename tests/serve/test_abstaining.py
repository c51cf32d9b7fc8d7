"""Rows that a rule leaves unanswered, in every form in which predictions are given."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bayou.errors import UnsupportedError
from bayou.serve import v2
from bayou.serve.answers import predictions
from bayou.serve.bodies import ARROW, JSON, JSON_LINES
from bayou.serve.predicting import Predictions


def found(*classes: Any) -> Predictions:
    published: Any = SimpleNamespace(digest="d", rows=2)
    return Predictions(published, list(classes), np.array([[0.5, 0.5], [0.1, 0.9]]), [-1, 1], ())


def test_no_answer_is_null_and_an_empty_text() -> None:
    told = json.loads(bytes(predictions("m", found("a", "b"), JSON, single=False).body))
    assert told["predictions"] == [None, "b"]
    lines = bytes(predictions("m", found("a", "b"), JSON_LINES, single=False).body).splitlines()
    assert [json.loads(line)["prediction"] for line in lines] == [None, "b"]
    table = pa.ipc.open_stream(bytes(predictions("m", found("a", "b"), ARROW, single=False).body)).read_all()
    assert table["prediction"].to_pylist() == [None, "b"]
    assert v2._output("prediction", found("a", "b"))[2] == ["", "b"]
    with pytest.raises(UnsupportedError, match="row 0 no answer, for which INT64 has no value"):
        v2._output("prediction", found(0, 1))
