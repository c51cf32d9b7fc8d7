"""Pictures of what an evaluation found."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayou.plots.canvas import REST, axes, colour, plain, tidy
from bayou.report.evaluations import Evaluations, Finding
from bayou.schema import Label


def learning_curves(
    found: Evaluations, metric: str = "accuracy", form: str = "windowed", ax: Any = None
) -> Any:
    """A metric over the rows, a line per model; `form` is "windowed", "running" or "faded". Baselines are dashed.

    >>> from bayou import NaiveBayes, prequential
    >>> from bayou.streams.generators import MixedGaussian
    >>> ax = learning_curves(prequential(NaiveBayes(), MixedGaussian(), rows=3000))
    >>> len(ax.lines)
    3
    """
    ax, place = axes(ax), 0
    for name, result in found.results.items():
        values = getattr(result.curve, form)[metric]
        if result.baseline:
            ax.plot(result.curve.rows, values, color=REST, linestyle="--", label=plain(name))
        else:
            ax.plot(result.curve.rows, values, color=colour(place), label=plain(name))
            place += 1
    ax.legend(frameon=False, fontsize="small")
    span = f"over the last {found.window:,} rows" if form == "windowed" and found.window else form
    return tidy(ax, f"{metric.replace('_', ' ')}, {span}", "rows")


def confusion(result: Finding, ax: Any = None) -> Any:
    """The confusion matrix, each true class on its row, coloured by its share."""
    counts = np.asarray(result.confusion, dtype=np.float64)
    total = counts.sum(axis=1, keepdims=True)
    share = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    k = len(counts)
    ax = axes(ax, 2.5 + 0.45 * k, 2.0 + 0.4 * k)
    ax.imshow(share, cmap="Blues", vmin=0.0, vmax=1.0)
    names = [plain(label, 16) for label in result.labels]
    ax.set_xticks(range(k), names, rotation=90 if k > 4 else 0)
    ax.set_yticks(range(k), names)
    for i, j in np.ndindex(k, k) if k <= 12 else ():
        ax.text(
            j,
            i,
            f"{counts[i, j]:,.0f}",
            ha="center",
            va="center",
            color="white" if share[i, j] > 0.55 else "black",
        )
    return tidy(ax, plain(result.name), "predicted", "true")


def per_class(result: Finding, ax: Any = None) -> Any:
    """Precision, recall and F1 of every class as bars."""
    found, k = result.scores.per_class, len(result.labels)
    ax = axes(ax, 6.4, 1.5 + 0.5 * k)
    for place, name in enumerate(("precision", "recall", "f1")):
        ax.barh(
            np.arange(k) + 0.27 * (place - 1), getattr(found, name), 0.25, color=colour(place), label=name
        )
    ax.set_yticks(range(k), [plain(label) for label in result.labels])
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    ax.legend(frameon=False, fontsize="small")
    return tidy(ax, plain(result.name))


def roc(result: Finding, label: Label, ax: Any = None) -> Any:
    """The ROC curve of one class against the rest."""
    found = result.thresholds(label)
    ax = axes(ax, 4.4, 4.4)
    ax.plot([0, 1], [0, 1], color=REST, linestyle="--", linewidth=1)
    ax.plot(found.false_positive_rate, found.recall, color=colour(0))
    return tidy(ax, f"{plain(label)}: area {found.auc:.4f}", "false positive rate", "true positive rate")


def precision_recall(result: Finding, label: Label, ax: Any = None) -> Any:
    """Precision over recall of one class, with the threshold whose F1 is best."""
    found = result.thresholds(label)
    called = found.true_positive + found.false_positive > 0
    best = int(np.argmax(found.f1))
    ax = axes(ax, 4.4, 4.4)
    ax.plot(found.recall[called], found.precision[called], color=colour(0))
    ax.plot(found.recall[best], found.precision[best], "o", color=colour(1))
    ax.set_ylim(0, 1.02)
    title = f"{plain(label)}: best F1 {found.f1[best]:.3f} at {found.threshold[best]:.3f}"
    return tidy(ax, title, "recall", "precision")


def calibration(result: Finding, ax: Any = None) -> Any:
    """Confidence against accuracy; dots are as large as their share of the rows."""
    found = result.calibration
    ax = axes(ax, 4.4, 4.4)
    ax.plot([0, 1], [0, 1], color=REST, linestyle="--", linewidth=1)
    ax.plot(found.confidence, found.accuracy, color=colour(0))
    ax.scatter(
        found.confidence,
        found.accuracy,
        10 + 200 * found.weight / max(float(found.weight.sum()), 1e-300),
        colour(0),
    )
    return tidy(ax, f"{plain(result.name)}: calibration error {found.error:.4f}", "confidence", "accuracy")
