"""How good the probabilities are: ROC, precision-recall, the threshold to choose, reliability."""

from __future__ import annotations

import json
import math

import numpy as np

from bayou.plain_text import number, percent, shortened
from bayou.readings.metrics import Calibration
from bayou.readings.thresholds import ThresholdTable
from bayou.report.drawing import Chart, beside, colour, figure, legend
from bayou.report.evaluations import Finding
from bayou.report.markup import Safe, fold, join, tag
from bayou.report.numbers import share
from bayou.report.tables import Cell, table
from bayou.schema import Label

_DRAWN = 8  # classes whose curves are drawn: the most frequent ones


def drawn_classes(result: Finding) -> list[Label]:
    """The rarer class of two; of more, the most frequent ones."""
    support = dict(zip(result.labels, result.scores.per_class.support.tolist(), strict=True))
    met = sorted((c for c in result.labels if support[c] > 0), key=lambda c: -support[c])
    if len(met) == 2:
        return met[1:]
    return met[:_DRAWN] if len(met) > 2 else []


def best_threshold(found: ThresholdTable) -> dict[str, float]:
    """The line with the best F1; of equals the one nearest to 0.5."""
    lines = found.lines()
    top = max(line["f1"] for line in lines)
    return min((line for line in lines if line["f1"] == top), key=lambda line: abs(line["threshold"] - 0.5))


def thresholds(result: Finding, key: str) -> Safe:
    """ROC and precision-recall of one class against the rest, with a threshold to move."""
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
    for i, (label, found) in enumerate(tables.items()):
        roc.line(
            found.false_positive_rate.tolist(),
            found.recall.tolist(),
            colour(i),
            f"{label!s}: area {found.auc:.4f}",
        )
        called = found.true_positive + found.false_positive > 0
        curve.line(
            found.recall[called].tolist(), found.precision[called].tolist(), colour(i),
            f"{label!s}: average precision {found.average_precision:.4f}",
        )  # fmt: skip
        if len(tables) == 1:
            best = best_threshold(found)
            name = f"best F1 at threshold {best['threshold']:.3f}"
            roc.dot(best["false_positive_rate"], best["recall"], 5, "mark on-roc", name)
            curve.dot(best["recall"], best["precision"], 5, "mark on-recall", name)
    return roc.svg(), curve.svg()


def _slider(found: ThresholdTable, label: str, key: str) -> Safe:
    lines = found.lines()
    best = best_threshold(found)
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
        tag("output", threshold_text(best, found), for_=field),
        class_="chooser",
        data_lines=json.dumps(numbers, separators=(",", ":")),
        data_positives=found.positives,
        data_negatives=found.negatives,
        data_frame=f"{Chart.left + 14},{Chart.right},{Chart.top},{Chart.bottom}",
    )


def threshold_text(line: dict[str, float], found: ThresholdTable) -> str:
    """What happens at a threshold, in one sentence."""
    return (
        f"{line['threshold']:.3f}: precision {share(line['precision'])}, recall {share(line['recall'])}, "
        f"F1 {share(line['f1'])}; {number(line['true_positive'])} found, "
        f"{number(found.positives - line['true_positive'])} missed, {number(line['false_positive'])} false alarms"
    )


def _choices(tables: dict[Label, ThresholdTable], fold_up: bool) -> Safe:
    lines: list[list[object]] = []
    for label, found in tables.items():
        best, half = best_threshold(found), found.at(0.5)
        lines.append(
            [
                shortened(label, 40),
                Cell(f"{found.auc:.4f}", found.auc),
                Cell(f"{found.average_precision:.4f}", found.average_precision),
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
    made = table("The threshold with the best F1, and what it gives in percent", headers, lines)
    return fold(f"Thresholds of {len(lines)} classes", made) if fold_up else made


def reliability(result: Finding) -> Safe:
    """Confidence against accuracy of one model."""
    return reliability_diagram(result.calibration)


def reliability_diagram(found: Calibration) -> Safe:
    """Confidence against accuracy: on the diagonal, confidence can be trusted."""
    if len(found.weight) == 0:
        return Safe("")
    description = ", ".join(
        f"confidence {c:.2f}: right {a:.2f}" for c, a in zip(found.confidence, found.accuracy, strict=True)
    )
    low = max(0.0, math.floor(10 * float(min(found.confidence.min(), found.accuracy.min()))) / 10)
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
    total = float(found.weight.sum())
    heaviest = float(found.weight.max())
    chart.line([low, 1], [low, 1], "guide")
    chart.line(found.confidence.tolist(), found.accuracy.tolist(), "c0")
    for weight, confidence, accuracy in zip(found.weight, found.confidence, found.accuracy, strict=True):
        name = f"{share(weight / total)} of the rows: confidence {share(confidence)}, right {share(accuracy)}"
        chart.dot(confidence, accuracy, 3 + 8 * math.sqrt(weight / heaviest), "c0", name)
    gap = float(np.sum(found.weight * (found.confidence - found.accuracy)) / max(total, 1e-300))
    verdict = "too sure" if gap > 0.01 else "too modest" if gap < -0.01 else "well calibrated on the whole"
    return figure(
        join(
            (
                f"Calibration error {found.error:.4f}: the model is {verdict} ",
                f"(mean confidence minus accuracy {100 * gap:+.1f} points). Dots are as large as their share of rows.",
            )
        ),
        chart.svg(),
    )


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"
