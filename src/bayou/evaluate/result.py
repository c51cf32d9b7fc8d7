"""The result of an evaluation for one model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bayou.decisions import Abstain, Decision, mean_cost
from bayou.evaluate.curve import Curve
from bayou.evaluate.record import Record
from bayou.evaluate.sets import SetScores
from bayou.plain_text import percent, short_number, shortened
from bayou.readings.metrics import Calibration, Scores, calibration, matrix_text
from bayou.readings.thresholds import ThresholdTable, threshold_table
from bayou.schema import Label, identity_key


@dataclass(frozen=True, eq=False)
class Result:
    """Scores of one model: running (every row counts), over the last window, faded, and as curves.

    `drift_rows` are the rows, from 0 on, at which a model that watches for drift noticed one; `sets` has the
    scores of prediction sets, for a model that has them, and `decision` is its decision rule.

    Examples
    --------
    >>> from bayou.classifiers import NaiveBayes
    >>> from bayou.evaluate import prequential
    >>> X, y = [{"sky": "blue"}, {"sky": "grey"}] * 50, ["dry", "wet"] * 50
    >>> result = prequential(NaiveBayes(), (X, y))["NaiveBayes"]
    >>> result.accuracy, result.scores.per_class.recall.round(2).tolist()
    (0.98, [0.98, 0.98])
    >>> result.confusion.tolist(), round(result.thresholds("wet").auc, 2)
    ([[49.0, 0.0], [1.0, 49.0]], 0.98)
    """

    name: str
    model: str
    labels: tuple[Label, ...]
    rows: int
    scores: Scores
    windowed: Scores | None
    faded: Scores | None
    curve: Curve
    record: Record
    baseline: bool = False
    seconds: float = field(default=0.0)
    memory_bytes: int = 0
    drift_rows: tuple[int, ...] = ()
    sets: SetScores | None = None
    decision: Decision | None = None

    @property
    def accuracy(self) -> float:
        """Share of the rows whose class was predicted."""
        return self.scores.accuracy

    @property
    def kappa(self) -> float:
        """Cohen's kappa: how far above chance agreement is, 1 at best."""
        return self.scores.kappa

    @property
    def kappa_temporal(self) -> float:
        """Kappa against always predicting the label of the row before."""
        return self.scores.kappa_temporal

    @property
    def kappa_m(self) -> float:
        """Kappa against always predicting the majority class."""
        return self.scores.kappa_m

    @property
    def macro_f1(self) -> float:
        """Mean over the classes of the harmonic mean of precision and recall."""
        return self.scores.macro_f1

    @property
    def log_loss(self) -> float:
        """Mean logarithmic loss in nats."""
        return self.scores.log_loss

    @property
    def brier(self) -> float:
        """Mean squared error of the probabilities."""
        return self.scores.brier

    @property
    def answered(self) -> float:
        """Share of the rows that were answered: with the rule `Abstain` not all are."""
        record = self.record.confusion
        rows = float(record.counts.sum() + record.unanswered.sum())
        return float(record.counts.sum()) / rows if rows else 0.0

    @property
    def accuracy_answered(self) -> float:
        """Share of the rows answered whose class was predicted."""
        counts = self.record.confusion.counts
        return float(counts.trace() / counts.sum()) if counts.any() else 0.0

    @property
    def cost(self) -> float | None:
        """Mean cost of a row, by the costs of the decision rule; None if the rule has no costs."""
        record = self.record.confusion
        return mean_cost(self.decision, list(self.labels), record.counts, record.unanswered)

    @property
    def confusion(self) -> Any:
        """float64[K, K], rows true, columns predicted, in the order of `labels`."""
        return self.record.confusion.counts

    @property
    def calibration(self) -> Calibration:
        """Confidence against accuracy, by bin."""
        return calibration(self.record.losses)

    def thresholds(self, label: Label) -> ThresholdTable:
        """ROC and precision-recall curves and the effect of each threshold, for one class against the rest."""
        keys = [identity_key(c) for c in self.labels]
        if identity_key(label) not in keys:
            raise KeyError(f"there is no class {label!r}; the classes are {list(self.labels)!r}")
        return threshold_table(self.record.losses, keys.index(identity_key(label)), self.record.first)

    @property
    def rows_per_second(self) -> float:
        """Rows learned and predicted per second, without the time of the compiler."""
        return self.rows / self.seconds if self.seconds > 0 else 0.0

    def confusion_text(self) -> str:
        """The confusion matrix as text."""
        return matrix_text(self.confusion, [shortened(label, 20) for label in self.labels])

    def cells(self) -> list[str]:
        """This model's line in a table, under `HEADERS`."""
        s, last = self.scores, self.windowed
        return [
            shortened(self.name, 40),
            percent(s.accuracy),
            percent(s.kappa),
            percent(s.kappa_temporal),
            percent(s.kappa_m),
            percent(s.macro_f1),
            f"{s.log_loss:.4f}",
            percent(last.accuracy) if last is not None else "",
            short_number(self.rows_per_second) if self.seconds > 0 else "",
            percent(self.answered) if isinstance(self.decision, Abstain) else "",
            percent(self.accuracy_answered) if isinstance(self.decision, Abstain) else "",
            f"{self.cost:.4f}" if self.cost is not None else "",
            percent(self.sets.coverage) if self.sets is not None else "",
            f"{self.sets.set_size:.3f}" if self.sets is not None else "",
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        per_class = self.scores.per_class
        return {
            "name": self.name,
            "model": self.model,
            "baseline": self.baseline,
            "rows": self.rows,
            **self.scores.headlines(),
            "kappa_m_moa": self.scores.kappa_majority(moa_compatible=True),
            "macro_precision": self.scores.macro_precision,
            "macro_recall": self.scores.macro_recall,
            "calibration_error": self.calibration.error,
            "unanswered": float(sum(self.record.confusion.unanswered)),
            **({} if self.cost is None else {"cost": self.cost}),
            **({"accuracy_answered": self.accuracy_answered} if isinstance(self.decision, Abstain) else {}),
            **({} if self.sets is None else self.sets.to_dict()),
            "windowed": self.windowed.headlines() if self.windowed is not None else None,
            "faded": self.faded.headlines() if self.faded is not None else None,
            "labels": [str(c) if isinstance(c, bytes) else c for c in self.labels],
            "per_class": {
                name: getattr(per_class, name).tolist()
                for name in ("precision", "recall", "f1", "support", "undefined")
            },
            "confusion": self.confusion.tolist(),
            "seconds": round(self.seconds, 6),
            "rows_per_second": round(self.rows_per_second, 1),
            "memory_bytes": self.memory_bytes,
            "drift_rows": list(self.drift_rows),
            "curve": self.curve.to_dict(),
        }


HEADERS: Sequence[str] = (
    "model",
    "accuracy",
    "kappa",
    "kappa-T",
    "kappa-M",
    "macro F1",
    "log-loss",
    "window",
    "rows/s",
    "answered",
    "right if so",
    "cost",
    "coverage",
    "set size",
)
WHERE_THEY_APPLY = range(9, 14)  # columns that only some models have
