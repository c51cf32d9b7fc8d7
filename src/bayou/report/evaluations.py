"""The protocols that an evaluation must satisfy to be reported, and the background of a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from bayou.readings.metrics import Calibration, Scores
from bayou.readings.thresholds import ThresholdTable
from bayou.schema import Label


class LearningCurve(Protocol):
    """A learning curve: values of metrics at row numbers."""

    @property
    def rows(self) -> tuple[int, ...]: ...
    @property
    def running(self) -> Mapping[str, tuple[float, ...]]: ...
    @property
    def windowed(self) -> Mapping[str, tuple[float, ...]]: ...


class ModelResult(Protocol):
    """The evaluation of one model."""

    @property
    def name(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def labels(self) -> tuple[Label, ...]: ...
    @property
    def rows(self) -> int: ...
    @property
    def scores(self) -> Scores: ...
    @property
    def windowed(self) -> Scores | None: ...
    @property
    def curve(self) -> LearningCurve: ...
    @property
    def baseline(self) -> bool: ...
    @property
    def seconds(self) -> float: ...
    @property
    def memory_bytes(self) -> int: ...
    @property
    def confusion(self) -> Any: ...
    @property
    def calibration(self) -> Calibration: ...
    @property
    def rows_per_second(self) -> float: ...
    @property
    def drift_rows(self) -> tuple[int, ...]: ...
    def thresholds(self, label: Label) -> ThresholdTable: ...


class Evaluations(Protocol):
    """The evaluation of several models on the same rows."""

    @property
    def protocol(self) -> str: ...
    @property
    def results(self) -> Mapping[str, Any]: ...
    @property
    def rows(self) -> int: ...
    @property
    def window(self) -> int | None: ...
    @property
    def seconds(self) -> float: ...
    @property
    def rejected(self) -> int: ...


@dataclass(frozen=True)
class Background:
    """Title, data and command of a report.

    Parameters
    ----------
    title
        The heading of the page.
    about
        One line on the data.
    command
        The command that makes the same page again.
    target
        The column that is predicted.
    rejects
        How often rows or cells were refused, by reason.
    """

    title: str = "bayou report"
    about: str = ""
    command: str | None = None
    target: str | None = None
    rejects: Mapping[str, int] = field(default_factory=dict)


def without_baselines(evaluations: Evaluations) -> dict[str, ModelResult]:
    """The models that are not baselines, or the baselines if there are no others."""
    chosen = {name: result for name, result in evaluations.results.items() if not result.baseline}
    return chosen or dict(evaluations.results)
