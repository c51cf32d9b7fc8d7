"""Charts of predicted probabilities: ROC, precision and recall, the choice of a threshold, reliability."""

from __future__ import annotations

import json
import math

import numpy as np

from bayou.plain_text import number, percent, shortened
from bayou.readings.metrics import Calibration
from bayou.readings.thresholds import ThresholdTable
from bayou.report.drawing import Chart, beside, colour, figure, legend
from bayou.report.evaluations import ModelResult
from bayou.report.markup import Safe, fold, join, tag
from bayou.report.numbers import share
from bayou.report.tables import Cell, table
from bayou.schema import Label

_DRAWN = 8  # the most frequent classes, whose curves are drawn


def drawn_classes(result: ModelResult) -> list[Label]:
    """The classes whose curves are drawn: the rarer one of two, else the most frequent ones."""
    support = dict(zip(result.labels, result.scores.per_class.support.tolist(), strict=True))
    seen = sorted((c for c in result.labels if support[c] > 0), key=lambda c: -support[c])
    if len(seen) == 2:
        return seen[1:]
    return seen[:_DRAWN] if len(seen) > 2 else []


def best_threshold(thresholds: ThresholdTable) -> dict[str, float]:
    """The line of the table with the best F1; among equals, the threshold nearest to 0.5."""
    lines = thresholds.lines()
    top = max(line["f1"] for line in lines)
    return min((line for line in lines if line["f1"] == top), key=lambda line: abs(line["threshold"] - 0.5))


def thresholds(result: ModelResult, key: str) -> Safe:
    """ROC and precision-recall curves of each class against the rest, with a slider for the threshold."""
    classes = drawn_classes(result)
    if not classes:
        return Safe("")
    tables = {c: result.thresholds(c) for c in classes}
    roc, curve = _charts(tables)
    many = len(classes) > 1
    entries = [(colour(i), f"{shortened(c, 30)}") for i, c in enumerate(classes)]
    out: list[object] = [legend(entries)] if many else []
    note = "" if many else f", {shortened(classes[0], 30)} against the rest"
    out.append(beside(figure(f"ROC{note}", roc), figure(f"Precision and recall{note}", curve)))
    first = classes[0]
    out.append(_slider(tables[first], shortened(first, 40), key))
    out.append(_choices(tables, fold_up=len(classes) > 4))
    return join(out)


def _charts(tables: dict[Label, ThresholdTable]) -> tuple[Safe, Safe]:
    description = "; ".join(f"{c!s}: area {t.auc:.4f}" for c, t in tables.items())
    roc = Chart(
        "ROC curve", description, (0, 1), (0, 1), "false positive rate", "true positive rate", 420, 360,
        _percent, _percent,
    )  # fmt: skip
    description = "; ".join(f"{c!s}: average precision {t.average_precision:.4f}" for c, t in tables.items())
    curve = Chart(
        "Precision and recall",
        description,
        (0, 1),
        (0, 1),
        "recall",
        "precision",
        420,
        360,
        _percent,
        _percent,
    )
    roc.line([0, 1], [0, 1], "guide")
    for i, (label, thresholds) in enumerate(tables.items()):
        roc.line(
            thresholds.false_positive_rate.tolist(),
            thresholds.recall.tolist(),
            colour(i),
            f"{label!s}: area {thresholds.auc:.4f}",
        )
        any_positive = thresholds.true_positive + thresholds.false_positive > 0
        curve.line(
            thresholds.recall[any_positive].tolist(), thresholds.precision[any_positive].tolist(), colour(i),
            f"{label!s}: average precision {thresholds.average_precision:.4f}",
        )  # fmt: skip
        if len(tables) == 1:
            best = best_threshold(thresholds)
            name = f"best F1 at threshold {best['threshold']:.3f}"
            roc.dot(best["false_positive_rate"], best["recall"], 5, "mark on-roc", name)
            curve.dot(best["recall"], best["precision"], 5, "mark on-recall", name)
    return roc.svg(), curve.svg()


def _slider(thresholds: ThresholdTable, label: str, key: str) -> Safe:
    lines = thresholds.lines()
    best = best_threshold(thresholds)
    start = lines.index(best)
    numbers = [
        [round(line["threshold"], 5), int(line["true_positive"]), int(line["false_positive"])]
        for line in lines
    ]
    field = f"threshold-{key}"
    return tag(
        "div",
        tag("label", join(("Call a row ", tag("b", label), " when its probability is at least")), for_=field),
        tag("input", type="range", id=field, min=0, max=len(lines) - 1, value=start, step=1),
        tag("output", threshold_text(best, thresholds), for_=field),
        class_="chooser",
        data_lines=json.dumps(numbers, separators=(",", ":")),
        data_positives=thresholds.positives,
        data_negatives=thresholds.negatives,
        data_frame=f"{Chart.left + 14},{Chart.right},{Chart.top},{Chart.bottom}",
    )


def threshold_text(line: dict[str, float], thresholds: ThresholdTable) -> str:
    """Precision, recall, F1 and counts at a threshold, as one line of text."""
    return (
        f"{line['threshold']:.3f}: precision {share(line['precision'])}, recall {share(line['recall'])}, "
        f"F1 {share(line['f1'])}; {number(line['true_positive'])} found, "
        f"{number(thresholds.positives - line['true_positive'])} missed, {number(line['false_positive'])} false alarms"
    )


def _choices(tables: dict[Label, ThresholdTable], fold_up: bool) -> Safe:
    lines: list[list[object]] = []
    for label, thresholds in tables.items():
        best, half = best_threshold(thresholds), thresholds.at(0.5)
        lines.append(
            [
                shortened(label, 40),
                Cell(f"{thresholds.auc:.4f}", thresholds.auc),
                Cell(f"{thresholds.average_precision:.4f}", thresholds.average_precision),
                Cell(f"{best['threshold']:.3f}", best["threshold"]),
                *(Cell(percent(best[name]), best[name]) for name in ("precision", "recall", "f1")),
                Cell(percent(half["f1"]), half["f1"]),
            ]
        )
    headers = [
        "Class",
        "ROC area",
        "Average precision",
        "Threshold",
        "Precision",
        "Recall",
        "F1",
        "F1 at 0.5",
    ]
    choices = table("The threshold with the best F1, and what it gives in percent", headers, lines)
    return fold(f"Thresholds of {len(lines)} classes", choices) if fold_up else choices


def reliability(result: ModelResult) -> Safe:
    """The reliability diagram of one model."""
    return reliability_diagram(result.calibration)


def reliability_diagram(calibration: Calibration) -> Safe:
    """Confidence against accuracy, bin by bin; a calibrated model lies on the diagonal."""
    if len(calibration.weight) == 0:
        return Safe("")
    description = ", ".join(
        f"confidence {c:.2f}: right {a:.2f}"
        for c, a in zip(calibration.confidence, calibration.accuracy, strict=True)
    )
    low = max(0.0, math.floor(10 * float(min(calibration.confidence.min(), calibration.accuracy.min()))) / 10)
    chart = Chart(
        "Reliability diagram",
        description,
        (low, 1.0),
        (low, 1.0),
        "confidence",
        "accuracy",
        420,
        360,
        _percent,
        _percent,
    )
    total = float(calibration.weight.sum())
    heaviest = float(calibration.weight.max())
    chart.line([low, 1], [low, 1], "guide")
    chart.line(calibration.confidence.tolist(), calibration.accuracy.tolist(), "c0")
    for weight, confidence, accuracy in zip(
        calibration.weight, calibration.confidence, calibration.accuracy, strict=True
    ):
        name = f"{share(weight / total)} of the rows: confidence {share(confidence)}, right {share(accuracy)}"
        chart.dot(confidence, accuracy, 3 + 8 * math.sqrt(weight / heaviest), "c0", name)
    gap = float(
        np.sum(calibration.weight * (calibration.confidence - calibration.accuracy)) / max(total, 1e-300)
    )
    verdict = "too sure" if gap > 0.01 else "too modest" if gap < -0.01 else "well calibrated on the whole"
    return figure(
        join(
            (
                f"Calibration error {calibration.error:.4f}: the model is {verdict} ",
                f"(mean confidence minus accuracy {100 * gap:+.1f} points). Dots are as large as their share of rows.",
            )
        ),
        chart.svg(),
    )


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"
