"""The candidates of an adaptive model, for reports and the command line."""

from __future__ import annotations

from typing import Any


def candidates_of(model: Any) -> dict[str, dict[str, float]]:
    """By candidate: accuracy, log-loss, weight in the prediction, and whether it is used; empty for other models."""
    return model.record_ if hasattr(type(model), "shares_") and model.started else {}
