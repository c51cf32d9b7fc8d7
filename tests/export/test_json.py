"""The description in JSON, interpreted by the naive twin, gives the model's own probabilities."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
import pytest

from bayou.export.json import to_json
from bayou.export.scoring import model_scorer
from tests.export.models import MODELS, WORDY, expected, model_of, rows_for
from tests.naive.scorer import probabilities

ROWS = 10_000 if os.environ.get("BAYOU_LONG") else 30


@pytest.mark.parametrize("name", MODELS)
def test_the_description_gives_the_models_probabilities(name: str) -> None:
    model = model_of(name)
    described = json.loads(to_json(model_scorer(model)))
    rows = rows_for(name, ROWS)
    found = [probabilities(described, as_described(name, row)) for row in rows]
    np.testing.assert_allclose(found, expected(model, rows), rtol=0, atol=1e-12)


def as_described(name: str, row: dict[str, Any]) -> dict[str, Any]:
    """Words stand in a column of their own."""
    return {"words": row} if name in WORDY else row
