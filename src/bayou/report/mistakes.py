"""The confusion matrix, and precision and recall of every class."""

from __future__ import annotations

import numpy as np

from bayou.plain_text import number, percent, shortened
from bayou.report.evaluations import ModelResult
from bayou.report.markup import Safe, fold, join, tag
from bayou.report.numbers import share
from bayou.report.tables import Cell, table

_WIDEST = 12  # classes beyond which the matrix is folded
_LARGEST = 60  # classes beyond which there is no matrix, but a list of the commonest mistakes


def confusion(result: ModelResult) -> Safe:
    """The confusion matrix, coloured row by row, and the commonest mistakes where there are many classes."""
    counts, labels = np.asarray(result.confusion), [shortened(label, 24) for label in result.labels]
    out: list[object] = []
    if len(labels) > 3:
        out.append(_commonest(counts, labels))
    if len(labels) <= _LARGEST:
        matrix = _matrix(counts, labels)
        out.insert(0, matrix if len(labels) <= _WIDEST else fold(f"Matrix of {len(labels)} classes", matrix))
    return join(out)


def _matrix(counts: np.ndarray, labels: list[str]) -> Safe:
    lines = []
    for i, label in enumerate(labels):
        total = float(counts[i].sum())
        cells: list[object] = [label]
        for j in range(len(labels)):
            value = float(counts[i, j])
            part = value / total if total else 0.0
            shown = join((number(value), " ", tag("small", share(part))))
            cells.append(Cell(shown, value, heat=part, good=i == j))
        lines.append(cells)
    headers = ["True \\ predicted", *labels]
    return table("Rows are true, columns predicted", headers, lines, sortable=False, class_="matrix")


def _commonest(counts: np.ndarray, labels: list[str]) -> Safe:
    wrong = counts * (1 - np.eye(len(labels)))
    places = np.argsort(-wrong, axis=None, kind="stable")[:10]
    total = counts.sum(axis=1)
    lines: list[list[object]] = []
    for place in places.tolist():
        i, j = divmod(place, len(labels))
        value = float(wrong[i, j])
        if value > 0:
            part = value / float(total[i])
            lines.append([labels[i], labels[j], Cell(number(value), value), Cell(share(part), part, part)])
    headers = ["True", "Taken for", "Rows", "Share of the class"]
    return table("The commonest mistakes", headers, lines) if lines else tag("p", "No mistake was made.")


def per_class(result: ModelResult) -> Safe:
    """Precision, recall, F1 and number of rows of every class."""
    scores = result.scores.per_class
    lines: list[list[object]] = []
    for c, label in enumerate(result.labels):
        cells: list[object] = [shortened(label, 40)]
        for values in (scores.precision, scores.recall, scores.f1):
            value = float(values[c])
            shown = "–" if scores.undefined[c] and value == 0.0 else percent(value)
            cells.append(Cell(shown, value, value))
        cells.append(Cell(number(float(scores.support[c])), float(scores.support[c])))
        lines.append(cells)
    listing = table(
        "Precision, recall and F1 of every class, in percent",
        ["Class", "Precision", "Recall", "F1", "Rows"],
        lines,
        hints=["", "Of the rows called so, how many are", "Of the rows that are so, how many were called so"],
    )
    return listing if len(lines) <= 30 else fold(f"{len(lines):,} classes", listing)
