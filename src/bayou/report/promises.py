"""Whom a model follows, how sure it was before and after calibration, and whether its sets kept their promise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bayou.inspection.followed import candidates_of
from bayou.plain_text import percent
from bayou.report.drawing import Chart, bars, beside, figure, legend
from bayou.report.evaluations import Finding
from bayou.report.markup import Safe, join, tag
from bayou.report.numbers import share
from bayou.report.probabilities import Part, by_model
from bayou.report.tables import Cell, table

ON, OFF = "c0", "c-rest"


def promise_parts(models: Mapping[str, Any], results: Mapping[str, Finding]) -> Iterator[Part]:
    """Candidates, calibration and prediction sets of the models that have them."""
    followed = {name: _candidates(told) for name, model in models.items() if (told := candidates_of(model))}
    if followed:
        yield "candidates", "Whom the model follows", by_model(followed)
    calibrated = {
        name: _before_and_after(model.reliability_, model.calibration_error_)
        for name, model in models.items()
        if hasattr(type(model), "reliability_") and model.started
    }
    if calibrated:
        yield "calibrated", "Reliability before and after calibration", by_model(calibrated)
    sets = {
        name: _sets(found, len(result.labels))
        for name, result in results.items()
        if (found := getattr(result, "sets", None)) is not None and found.rows
    }
    if sets:
        yield "sets", "Prediction sets", by_model(sets)


def _candidates(told: Mapping[str, Mapping[str, float]]) -> Safe:
    """Shares as bars, the record as a table."""
    ranked = sorted(told, key=lambda name: -told[name]["share"])
    shares = [(name, told[name]["share"], share(told[name]["share"])) for name in ranked]
    best = max(one["accuracy"] for one in told.values())
    least = min(one["log_loss"] for one in told.values())
    lines = [
        [
            name,
            Cell(percent(one["accuracy"]), one["accuracy"], best=one["accuracy"] == best),
            Cell(f"{one['log_loss']:.4f}", one["log_loss"], best=one["log_loss"] == least),
            Cell(percent(one["share"]), one["share"]),
            "yes" if one["followed"] else "dropped for its cost",
        ]
        for name, one in ((name, told[name]) for name in ranked)
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


def _before_and_after(told: Mapping[str, Sequence[Mapping[str, float]]], errors: tuple[float, float]) -> Safe:
    pictures = [
        _reliability(f"{when.capitalize()}: calibration error {error:.4f}", told[when], style)
        for when, error, style in zip(("before", "after"), errors, ("c-rest", "c0"), strict=True)
        if told[when]
    ]
    remark = "Bars are 95 % bands (Wilson): where one crosses the diagonal, confidence may well be right."
    return join((beside(*pictures), tag("p", remark, class_="remark")))


def _reliability(caption: str, lines: Sequence[Mapping[str, float]], style: str) -> Safe:
    low = min(0.9, *(min(line["confidence"], line["low"]) for line in lines))
    described = ", ".join(
        f"confidence {one['confidence']:.2f}: right {one['accuracy']:.2f} ({one['low']:.2f} to {one['high']:.2f})"
        for one in lines
    )
    chart = Chart(
        "Reliability diagram", described, (low, 1.0), (low, 1.0), "confidence", "accuracy", 420, 360,
        _percent, _percent,
    )  # fmt: skip
    chart.line([low, 1], [low, 1], "guide")
    for one in lines:
        name = (
            f"{one['rows']:,.0f} rows: confidence {share(one['confidence'])}, right {share(one['accuracy'])}"
        )
        at = one["confidence"]
        chart.line([at, at], [one["low"], one["high"]], style, name)
        chart.dot(at, one["accuracy"], 4, style, name)
    return figure(caption, chart.svg())


def _sets(found: Any, classes: int) -> Safe:
    rows, points = list(found.rows), list(zip(*found.curve, strict=True))
    low = min(found.promised - 0.05, *points[0], *points[2])
    description = f"promised {share(found.promised)}, held {share(found.coverage, 2)}"
    end = (0.0, float(rows[-1]))
    covered = Chart("Coverage", description, end, (max(0.0, low), 1.0), "rows", "coverage", y_text=_percent)
    covered.line([0, rows[-1]], [found.promised] * 2, "guide", f"promised {share(found.promised)}")
    covered.line(rows, points[2], OFF, "over the latest rows")
    covered.line(rows, points[0], ON, "over all rows")
    top = min(float(classes), max(*points[1], *points[3]) + 0.5)
    size = Chart("Set size", f"{found.set_size:.3f} classes", end, (0.0, top), "rows", "classes in a set")
    size.line(rows, points[3], OFF, "over the latest rows")
    size.line(rows, points[1], ON, "over all rows")
    held, promised = share(found.coverage, 2), share(found.promised)
    told = f"The set held the true class in {held} of the rows, {promised} were promised"
    return join(
        (
            legend([(ON, "over all rows"), (OFF, "over the latest rows")]),
            beside(
                figure(f"{told}.", covered.svg()),
                figure(f"{found.set_size:.2f} of {classes:,} classes in a set on the average.", size.svg()),
            ),
        )
    )


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"
