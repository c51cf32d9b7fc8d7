"""Whom a model that follows candidates follows: the same for reports and the command line."""

from __future__ import annotations

from typing import Any


def candidates_of(model: Any) -> dict[str, dict[str, float]]:
    """By candidate, accuracy, log-loss, share of the answer, and whether it is followed; nothing of other models."""
    return model.record_ if hasattr(type(model), "shares_") and model.started else {}
