"""Immutable snapshots of a living model: a copy that predicts, and the measures of its predictions."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bayou.evaluate.curve import Curve
from bayou.readings.metrics import Calibration, Scores, calibration
from bayou.schema import Label
from bayou.serve.measured import Measured, Mistake


@dataclass(frozen=True)
class Published:
    """The model that answers, as it stood after `rows` rows were learned; threads may predict with it side by side.

    `digest` is that of the model: equal for models with the same learned state.
    """

    variant: str
    model: Any
    digest: str
    rows: int

    @staticmethod
    def of(variant: str, model: Any, rows: int) -> Published:
        """A copy of a model that has learned `rows` rows, and its digest."""
        twin = copy.deepcopy(model)
        digest = twin.digest() if twin.started else "0" * 64
        return Published(variant, twin, digest, rows)


@dataclass(frozen=True)
class Measures:
    """Measures of a model's predictions: over all rows, over the latest, and their curve."""

    model: str
    rows: int
    refused: int
    running: Scores
    windowed: Scores
    calibration: Calibration
    curve: Curve
    classes: tuple[Label, ...]
    drifts: tuple[int, ...]
    mistakes: tuple[Mistake, ...]

    @staticmethod
    def of(measured: Measured) -> Measures:
        """The measures of a model; no thread may change it meanwhile."""
        record = measured.record
        return Measures(
            repr(measured.model), measured.rows, measured.refused, record.running, record.windowed,
            calibration(record.losses), measured.curve(), tuple(measured.classes), tuple(measured.drifts),
            tuple(measured.mistakes),
        )  # fmt: skip


@dataclass(frozen=True)
class ModelStatus:
    """Rows learned and unlearned by a living model, and the measures of each of its variants, at one moment."""

    rows: int = 0
    unlearned: int = 0
    variants: Mapping[str, Measures] = field(default_factory=dict)
