"""What a report asks of an evaluation: no more than this, so that any evaluation will do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from bayou.readings.metrics import Calibration, Scores
from bayou.readings.thresholds import ThresholdTable
from bayou.schema import Label


class Line(Protocol):
    """A learning curve: values of metrics at row numbers."""

    @property
    def rows(self) -> tuple[int, ...]: ...
    @property
    def running(self) -> Mapping[str, tuple[float, ...]]: ...
    @property
    def windowed(self) -> Mapping[str, tuple[float, ...]]: ...


class Finding(Protocol):
    """What was found out about one model."""

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
    def curve(self) -> Line: ...
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
    """Models side by side."""

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
    """What is known besides numbers and models.

    Parameters
    ----------
    title
        The heading of the page.
    about
        One line on the data.
    command
        What to type to get the same page again.
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


def own(found: Evaluations) -> dict[str, Finding]:
    """The models that are not baselines, or the baselines if there are no others."""
    chosen = {name: result for name, result in found.results.items() if not result.baseline}
    return chosen or dict(found.results)
