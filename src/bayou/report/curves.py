"""Learning curves of all models."""

from __future__ import annotations

import math
from collections.abc import Mapping

from bayou.plain_text import percent
from bayou.report.drawing import Chart, beside, colour, figure, legend
from bayou.report.evaluations import Evaluations, ModelResult
from bayou.report.markup import Safe, fold, join, tag

_MORE = (
    ("kappa", "Kappa"),
    ("kappa_temporal", "Kappa-T"),
    ("macro_f1", "Macro F1"),
    ("log_loss", "Log-loss"),
)


def learning_curves(evaluations: Evaluations) -> Safe:
    """Accuracy over the latest rows and since the start; other metrics, folded away."""
    lines = {name: r for name, r in evaluations.results.items() if len(r.curve.rows) > 1}
    if not lines:
        return Safe("")
    styles = line_styles(evaluations.results)
    names = [(styles[name], name) for name in lines]
    marks = {name: list(r.drift_rows) for name, r in evaluations.results.items() if r.drift_rows}
    names += [(f"pinned {styles[name]}", f"drift noticed by {name}") for name in marks]
    window = f"the last {evaluations.window or 0:,} rows"
    more = [
        beside(*_pair(lines, styles, metric, title, window, marks)) for metric, title in _MORE
    ]  # fmt: skip
    out: list[object] = [
        legend(names),
        beside(*_pair(lines, styles, "accuracy", "Accuracy", window, marks)),
        fold("Kappa, Kappa-T, macro F1 and log-loss", *more),
    ]
    if marks:
        drifts = "; ".join(
            f"{name}: at row {', '.join(f'{r:,}' for r in rows)}" for name, rows in marks.items()
        )
        out.append(tag("p", f"Drift was noticed by {drifts}.", class_="remark"))
    return join(out)


def line_styles(results: Mapping[str, ModelResult]) -> dict[str, str]:
    """A colour for every model; baselines are grey and dashed."""
    styles: dict[str, str] = {}
    place = 0
    for name, result in results.items():
        if result.baseline:
            styles[name] = f"baseline b{sum('baseline' in s for s in styles.values())}"
        else:
            styles[name] = colour(place)
            place += 1
    return styles


def _pair(
    lines: Mapping[str, ModelResult],
    styles: Mapping[str, str],
    metric: str,
    title: str,
    window: str,
    marks: Mapping[str, list[int]],
) -> list[Safe]:
    out = []
    for form, heading in (
        ("windowed", f"{title} over {window}"),
        ("running", f"{title} since the first row"),
    ):
        values = {name: getattr(r.curve, form)[metric] for name, r in lines.items()}
        out.append(figure(heading, _chart(lines, values, styles, heading, metric, marks)))
    return out


def _chart(
    lines: Mapping[str, ModelResult],
    values: Mapping[str, tuple[float, ...]],
    styles: Mapping[str, str],
    title: str,
    metric: str,
    marks: Mapping[str, list[int]],
) -> Safe:
    shown = [v for name in values for v in values[name] if math.isfinite(v)]
    low, high = nice_range(shown, metric)
    last = max(r.curve.rows[-1] for r in lines.values())
    as_share = metric != "log_loss"
    description = ", ".join(f"{name} ends at {v[-1]:.4f}" for name, v in values.items())
    chart = Chart(
        title, description, (0.0, float(last)), (low, high), "rows", "",
        y_text=(lambda v: f"{100 * v:.0f} %") if as_share else (lambda v: f"{v:.3g}"),
    )  # fmt: skip
    for line, (name, rows) in enumerate(marks.items()):
        for row in rows:
            chart.pin(row, f"drift {styles[name]}", f"{name} noticed a drift at row {row:,}", line)
    for name in sorted(values, key=lambda n: not lines[n].baseline):
        clipped = [min(high, max(low, v)) if math.isfinite(v) else low for v in values[name]]
        end = percent(values[name][-1]) + " %" if as_share else f"{values[name][-1]:.4f}"
        chart.line(
            [float(r) for r in lines[name].curve.rows], clipped, styles[name], f"{name}: {end} at the end"
        )
    return chart.svg()


def nice_range(values: list[float], metric: str) -> tuple[float, float]:
    """The range of an axis on which lines can be told apart; the lowest 2 % of the values may lie outside.

    >>> nice_range([0.71, 0.93], "accuracy")
    (0.7, 0.95)
    """
    if not values:
        return 0.0, 1.0
    ordered = sorted(values)
    bottom, top = ordered[len(ordered) // 50], ordered[-1]
    if metric == "log_loss":
        return 0.0, max(1e-6, ordered[-1 - len(ordered) // 50]) * 1.1
    low = max(-1.0, math.floor(bottom * 20 - 1e-9) / 20)
    return round(low, 2), round(min(1.0, math.ceil(top * 20 + 1e-9) / 20), 2)
