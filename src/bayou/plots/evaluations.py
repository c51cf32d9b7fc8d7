"""Plots of evaluations."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from bayou.errors import SchemaError
from bayou.plots.canvas import REST, axes, colour, legend_beside, plain, tidy
from bayou.report.evaluations import Evaluations, ModelResult
from bayou.schema import Label

BASELINES = ((REST, "--"), ("#4d5666", ":"))
One = ModelResult | Evaluations  # the evaluation of one model, by itself or as the only one of several


def one_of(found: One) -> ModelResult:
    """The result of one model, given itself or as the only model of an evaluation.

    >>> from bayou import NaiveBayes, prequential
    >>> from bayou.streams.generators import MixedGaussian
    >>> one_of(prequential(NaiveBayes(), MixedGaussian(), rows=300)).name
    'NaiveBayes'
    """
    results = getattr(found, "results", None)
    if results is None:
        if not hasattr(found, "confusion"):
            raise SchemaError(
                f"this is a picture of an evaluation, which `prequential` gives, not of {type(found).__name__}"
            )
        return cast(ModelResult, found)
    chosen = [result for result in results.values() if not result.baseline] or list(results.values())
    if len(chosen) != 1:
        names = [result.name for result in chosen]
        raise SchemaError(
            f"{len(names)} models were evaluated, {names!r}; this picture is of one of them: found[{names[:1][0]!r}]"
            if names
            else "no model was evaluated"
        )
    return cast(ModelResult, chosen[0])


def learning_curves(found: One, metric: str = "accuracy", form: str = "windowed", ax: Any = None) -> Any:
    """A metric over the rows, a line per model; `form` is "windowed", "running" or "faded".

    Baselines are grey: no-change dashed, the majority class dotted and darker.

    >>> from bayou import NaiveBayes, prequential
    >>> from bayou.streams.generators import MixedGaussian
    >>> ax = learning_curves(prequential(NaiveBayes(), MixedGaussian(), rows=3000))
    >>> len(ax.lines)
    3
    """
    ax, models, baselines = axes(ax), 0, 0
    results = found.results if hasattr(found, "results") else {one_of(found).name: one_of(found)}
    for name, result in results.items():
        values = getattr(result.curve, form)[metric]
        if result.baseline:
            shade, dashes = BASELINES[baselines % len(BASELINES)]
            ax.plot(result.curve.rows, values, color=shade, linestyle=dashes, label=plain(name))
            baselines += 1
        else:
            ax.plot(result.curve.rows, values, color=colour(models), label=plain(name))
            models += 1
    legend_beside(ax)
    window = getattr(found, "window", None)
    span = f"over the last {window:,} rows" if form == "windowed" and window else form
    return tidy(ax, f"{metric.replace('_', ' ')}, {span}", "rows")


def confusion(result: One, ax: Any = None) -> Any:
    """The confusion matrix, each true class on its row, coloured by its share."""
    result = one_of(result)
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


def per_class(result: One, ax: Any = None) -> Any:
    """Bars of precision, recall and F1 of every class."""
    result = one_of(result)
    scores, k = result.scores.per_class, len(result.labels)
    ax = axes(ax, 6.4, 1.5 + 0.5 * k)
    for place, name in enumerate(("precision", "recall", "f1")):
        ax.barh(
            np.arange(k) + 0.27 * (place - 1), getattr(scores, name), 0.25, color=colour(place), label=name
        )
    ax.set_yticks(range(k), [plain(label) for label in result.labels])
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    legend_beside(ax)
    return tidy(ax, plain(result.name))


def roc(result: One, label: Label, ax: Any = None) -> Any:
    """The ROC curve of one class against the rest."""
    thresholds = one_of(result).thresholds(label)
    ax = axes(ax, 4.4, 4.4)
    ax.plot([0, 1], [0, 1], color=REST, linestyle="--", linewidth=1)
    ax.plot(thresholds.false_positive_rate, thresholds.recall, color=colour(0))
    return tidy(ax, f"{plain(label)}: area {thresholds.auc:.4f}", "false positive rate", "true positive rate")


def precision_recall(result: One, label: Label, ax: Any = None) -> Any:
    """The precision-recall curve of one class, with the threshold of the best F1 marked."""
    thresholds = one_of(result).thresholds(label)
    any_positive = thresholds.true_positive + thresholds.false_positive > 0
    best = int(np.argmax(thresholds.f1))
    ax = axes(ax, 4.4, 4.4)
    ax.plot(thresholds.recall[any_positive], thresholds.precision[any_positive], color=colour(0))
    ax.plot(thresholds.recall[best], thresholds.precision[best], "o", color=colour(1))
    ax.set_ylim(0, 1.02)
    title = f"{plain(label)}: best F1 {thresholds.f1[best]:.3f} at {thresholds.threshold[best]:.3f}"
    return tidy(ax, title, "recall", "precision")


def calibration(result: One, ax: Any = None) -> Any:
    """The reliability diagram: confidence against accuracy; dots are as large as their share of the rows."""
    result = one_of(result)
    bins = result.calibration
    ax = axes(ax, 4.4, 4.4)
    ax.plot([0, 1], [0, 1], color=REST, linestyle="--", linewidth=1)
    ax.plot(bins.confidence, bins.accuracy, color=colour(0))
    ax.scatter(
        bins.confidence,
        bins.accuracy,
        10 + 200 * bins.weight / max(float(bins.weight.sum()), 1e-300),
        colour(0),
    )
    return tidy(ax, f"{plain(result.name)}: calibration error {bins.error:.4f}", "confidence", "accuracy")
