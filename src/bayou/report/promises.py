"""The sections on candidates of a model, on calibration, and on the coverage of prediction sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bayou.inspection.followed import candidates_of
from bayou.plain_text import percent
from bayou.report.drawing import Chart, bars, beside, figure, legend
from bayou.report.evaluations import ModelResult
from bayou.report.markup import Safe, join, tag
from bayou.report.numbers import share
from bayou.report.probabilities import Part, by_model
from bayou.report.tables import Cell, table

ON, OFF = "c0", "c-rest"


def promise_parts(models: Mapping[str, Any], results: Mapping[str, ModelResult]) -> Iterator[Part]:
    """Candidates, calibration and prediction sets of the models that have them."""
    candidates = {
        name: _candidates(record) for name, model in models.items() if (record := candidates_of(model))
    }
    if candidates:
        yield "candidates", "Whom the model follows", by_model(candidates)
    calibrated = {
        name: _before_and_after(model.reliability_, model.calibration_error_)
        for name, model in models.items()
        if hasattr(type(model), "reliability_") and model.started
    }
    if calibrated:
        yield "calibrated", "Reliability before and after calibration", by_model(calibrated)
    sets = {
        name: _sets(sets_of_model, len(result.labels))
        for name, result in results.items()
        if (sets_of_model := getattr(result, "sets", None)) is not None and sets_of_model.rows
    }
    if sets:
        yield "sets", "Prediction sets", by_model(sets)


def _candidates(candidates: Mapping[str, Mapping[str, float]]) -> Safe:
    """The candidates of an adaptive model: their weights as bars, their scores as a table."""
    ranked = sorted(candidates, key=lambda name: -candidates[name]["share"])
    shares = [(name, candidates[name]["share"], share(candidates[name]["share"])) for name in ranked]
    best = max(record["accuracy"] for record in candidates.values())
    least = min(record["log_loss"] for record in candidates.values())
    lines = [
        [
            name,
            Cell(percent(record["accuracy"]), record["accuracy"], best=record["accuracy"] == best),
            Cell(f"{record['log_loss']:.4f}", record["log_loss"], best=record["log_loss"] == least),
            Cell(percent(record["share"]), record["share"]),
            "yes" if record["followed"] else "dropped for its cost",
        ]
        for name, record in ((name, candidates[name]) for name in ranked)
    ]
    headers = ["Candidate", "Accuracy", "Log-loss", "Share in %", "Followed"]
    return join(
        (
            figure("Share of the answer at present", bars("Share of the answer", shares)),
            table("What each candidate did, every row predicted before it was learned", headers, lines),
            tag(
                "p",
                "Their mean is the plain mean of the candidates, their pool weighs them class by class. A share grows "
                "with the probability that a candidate gives the labels.",
                class_="remark",
            ),
        )
    )


def _before_and_after(bins: Mapping[str, Sequence[Mapping[str, float]]], errors: tuple[float, float]) -> Safe:
    pictures = [
        _reliability(f"{when.capitalize()}: calibration error {error:.4f}", bins[when], style)
        for when, error, style in zip(("before", "after"), errors, ("c-rest", "c0"), strict=True)
        if bins[when]
    ]
    remark = "Bars are 95 % bands (Wilson): where one crosses the diagonal, confidence may well be right."
    return join((beside(*pictures), tag("p", remark, class_="remark")))


def _reliability(caption: str, lines: Sequence[Mapping[str, float]], style: str) -> Safe:
    low = min(0.9, *(min(line["confidence"], line["low"]) for line in lines))
    description = ", ".join(
        f"confidence {line['confidence']:.2f}: right {line['accuracy']:.2f} ({line['low']:.2f} to {line['high']:.2f})"
        for line in lines
    )
    chart = Chart(
        "Reliability diagram", description, (low, 1.0), (low, 1.0), "confidence", "accuracy", 420, 360,
        _percent, _percent,
    )  # fmt: skip
    chart.line([low, 1], [low, 1], "guide")
    for line in lines:
        name = f"{line['rows']:,.0f} rows: confidence {share(line['confidence'])}, right {share(line['accuracy'])}"
        at = line["confidence"]
        chart.line([at, at], [line["low"], line["high"]], style, name)
        chart.dot(at, line["accuracy"], 4, style, name)
    return figure(caption, chart.svg())


def _sets(sets: Any, classes: int) -> Safe:
    rows, points = list(sets.rows), list(zip(*sets.curve, strict=True))
    low = min(sets.promised - 0.05, *points[0], *points[2])
    description = f"promised {share(sets.promised)}, held {share(sets.coverage, 2)}"
    end = (0.0, float(rows[-1]))
    coverage_chart = Chart(
        "Coverage", description, end, (max(0.0, low), 1.0), "rows", "coverage", y_text=_percent
    )
    coverage_chart.line([0, rows[-1]], [sets.promised] * 2, "guide", f"promised {share(sets.promised)}")
    coverage_chart.line(rows, points[2], OFF, "over the latest rows")
    coverage_chart.line(rows, points[0], ON, "over all rows")
    top = min(float(classes), max(*points[1], *points[3]) + 0.5)
    size_chart = Chart(
        "Set size", f"{sets.set_size:.3f} classes", end, (0.0, top), "rows", "classes in a set"
    )
    size_chart.line(rows, points[3], OFF, "over the latest rows")
    size_chart.line(rows, points[1], ON, "over all rows")
    coverage, promised = share(sets.coverage, 2), share(sets.promised)
    caption = f"The set held the true class in {coverage} of the rows, {promised} were promised"
    return join(
        (
            legend([(ON, "over all rows"), (OFF, "over the latest rows")]),
            beside(
                figure(f"{caption}.", coverage_chart.svg()),
                figure(
                    f"{sets.set_size:.2f} of {classes:,} classes in a set on the average.", size_chart.svg()
                ),
            ),
        )
    )


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"
