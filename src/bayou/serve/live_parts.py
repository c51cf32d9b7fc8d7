"""The parts of the live page, drawn from snapshots with the charts and tables of the report."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from bayou.plain_text import clean, shortened
from bayou.report.curves import nice_range
from bayou.report.drawing import Chart, bars, beside, colour, figure, legend
from bayou.report.markup import Safe, join, tag
from bayou.report.numbers import compact, share, size
from bayou.report.overview import tiles
from bayou.report.probability_charts import reliability_diagram
from bayou.report.tables import Cell, table
from bayou.serve.answers import plain
from bayou.serve.living import LivingModel
from bayou.serve.measured import Mistake
from bayou.serve.metrics import Metrics, class_shares
from bayou.serve.pulse import Pulse, Second
from bayou.serve.snapshot import Measures, Published

PARTS = {
    "tiles": ("Now", ""),
    "curves": ("How right it is", ""),
    "traffic": ("Traffic", ""),
    "columns": ("Classes and columns", ""),
    "variants": ("Variants side by side", ""),
    "mistakes": ("Recent mistakes", ""),
}
SPAN = 60  # seconds of traffic that are shown
LONGEST = 10_000  # characters of a record that the button "explain" can carry
IMPORTANCE = 5.0  # seconds at least between two computations of the columns' importance
MOST_CLASSES, MOST_COLUMNS, MOST_VALUES = 8, 10, 8


class ColumnImportance:
    """The most important columns of a model, cached for seconds: computing them takes longer than all other parts."""

    def __init__(self) -> None:
        self._computed: tuple[str, float] = ("", 0.0)  # digest of the snapshot, and when to compute again
        self._columns: list[tuple[str, float]] = []

    def columns(self, published: Published) -> list[tuple[str, float]]:
        """The most important columns, each with the share of the class's entropy that it removes."""
        digest, then = self._computed
        if published.digest != digest and time.monotonic() >= then and published.model.started:
            begin = time.monotonic()
            importance = published.model.importance()
            self._columns = [
                (name, share) for name, share in list(importance.items())[:MOST_COLUMNS] if share > 0
            ]
            now = time.monotonic()
            self._computed = published.digest, now + max(IMPORTANCE, 20 * (now - begin))
        return self._columns


def live_parts(living: LivingModel, metrics: Metrics, importance: ColumnImportance) -> dict[str, str]:
    """The markup of every part by its key; empty for a part that has nothing to show."""
    status, published = living.status, living.published
    measures = status.variants.get(published.variant)
    seconds = _recent(metrics.pulse)
    return {
        "about": clean(
            f"{published.model!r}, merges: {published.model.law.value}, snapshot {published.digest[:12]}"
        ),
        "state": _state(living),
        "tiles": _tiles(living, measures, seconds, metrics.load.refused),
        "curves": _curves(living) if measures is not None and measures.rows else Safe(""),
        "traffic": _traffic(seconds),
        "columns": _columns(living, published, importance),
        "variants": _variants(living) if len(status.variants) > 1 else Safe(""),
        "mistakes": _mistakes(measures.mistakes) if measures is not None else Safe(""),
    }


def _state(living: LivingModel) -> str:
    if living.broken is not None:
        return clean(f"has stopped learning: {living.broken}")
    if living.trouble is not None:
        return clean(living.trouble)
    return "learning" if living.learns else "answering"


def _recent(pulse: Pulse) -> list[Second]:
    """The last completed seconds, including those without requests."""
    now = int(time.time())
    known = {second.at: second for second in pulse.seconds()}
    return [known.get(at, Second(at)) for at in range(now - SPAN, now)]


def _tiles(living: LivingModel, measures: Measures | None, seconds: Sequence[Second], unread: int) -> Safe:
    last = seconds[-5:]
    rate = sum(second.requests for second in last) / len(last)
    worst = max(second.quantile(0.99) for second in last)
    entries = [("Rows learned", f"{living.status.rows:,}", f"{living.queue.rows:,} wait")]
    if living.follower is not None:
        progress = living.follower.progress
        behind = (
            "at its end"
            if progress.ended
            else "not counted"
            if progress.lag is None
            else f"{progress.lag:,} messages"
        )
        entries.append(("Behind the log", behind, f"{progress.rows:,} rows of {progress.log}"))
    if measures is not None and measures.rows:
        drifts = measures.drifts
        entries += [
            ("Rolling accuracy", share(measures.windowed.accuracy), "of the latest 1,000 rows"),
            ("Accuracy", share(measures.running.accuracy), "of all rows since the start"),
            ("Drifts", f"{len(drifts):,}", f"last at row {max(drifts):,}" if drifts else "none"),
        ]
    entries += [
        ("Requests", f"{rate:,.0f}/s", f"{unread:,} refused, too many at once"),
        ("Latency", f"{1000 * worst:,.1f} ms", "99 of 100 are quicker"),
        ("Memory", size(living.published.model.memory_bytes), "of learned state"),
    ]
    return tiles(entries)


def _curves(living: LivingModel) -> Safe:
    variants = living.status.variants
    lines = {name: measures for name, measures in variants.items() if len(measures.curve.rows) > 1}
    parts = []
    if lines:
        values = {name: measures.curve.windowed["accuracy"] for name, measures in lines.items()}
        low, high = nice_range([v for each in values.values() for v in each], "accuracy")
        first = min(measures.curve.rows[0] for measures in lines.values())
        last = max(measures.curve.rows[-1] for measures in lines.values())
        ends = ", ".join(f"{name} is at {v[-1]:.4f}" for name, v in values.items())
        chart = Chart(
            "Rolling accuracy", ends, (float(first), float(last)), (low, high), "rows learned",
            y_text=lambda v: f"{100 * v:.0f} %",
        )  # fmt: skip
        for i, (name, measures) in enumerate(lines.items()):
            for row in measures.drifts:
                if first <= row <= last:
                    chart.pin(row, f"drift {colour(i)}", f"{name}: the error rose at row {row:,}", i)
            clipped = [min(high, max(low, v)) for v in values[name]]
            chart.line([float(row) for row in measures.curve.rows], clipped, colour(i), name)
        legends = [legend([(colour(i), name) for i, name in enumerate(lines)])] if len(lines) > 1 else []
        caption = (
            "Accuracy of the latest 1,000 rows, each predicted before it was learned; triangles mark drift"
        )
        parts.append(figure(caption, *legends, chart.svg()))
    else:
        parts.append(tag("p", "The curve begins after 2,000 rows.", class_="remark"))
    answering = variants[living.published.variant]
    parts.append(reliability_diagram(answering.calibration))
    return beside(*parts)


def _traffic(seconds: Sequence[Second]) -> Safe:
    if not any(second.requests for second in seconds):
        return Safe("")
    ago = [float(second.at - seconds[-1].at) for second in seconds]
    rows = {
        "predicted": [float(second.predicted) for second in seconds],
        "learned": [float(second.learned) for second in seconds],
    }
    top = max(1.0, *(value for each in rows.values() for value in each))
    flow = Chart("Rows per second", "", (ago[0], 0.0), (0.0, 1.1 * top), "seconds ago", x_text=_ago)
    for i, (name, each) in enumerate(rows.items()):
        flow.line(ago, each, colour(i), name)
    times = {
        "median": [1000 * second.quantile(0.5) for second in seconds],
        "99 of 100": [1000 * second.quantile(0.99) for second in seconds],
    }
    slowest = max(1.0, *(value for each in times.values() for value in each))
    wait = Chart(
        "Latency", "", (ago[0], 0.0), (0.0, 1.1 * slowest), "seconds ago", x_text=_ago,
        y_text=lambda v: f"{compact(v)} ms",
    )  # fmt: skip
    for i, (name, each) in enumerate(times.items()):
        wait.line(ago, each, colour(2 + i), name)
    return beside(
        figure("Rows per second", legend([("c0", "predicted"), ("c1", "learned")]), flow.svg()),
        figure("Time to answer a request", legend([("c2", "median"), ("c3", "99 of 100")]), wait.svg()),
    )


def _ago(value: float) -> str:
    return f"{-value:.0f}" if value else "now"


def _columns(living: LivingModel, published: Published, importance: ColumnImportance) -> Safe:
    parts = []
    shares = class_shares(living)[:MOST_CLASSES]
    if shares:
        entries = [(shortened(plain(label), 60), value, share(value)) for label, value in shares]
        styles = [colour(i) for i in range(len(entries))]
        parts.append(figure("Classes among the latest 1,000 labels", bars("Class shares", entries, styles)))
    importances = importance.columns(published)
    if importances:
        entries = [(shortened(name, 60), value, share(value)) for name, value in importances]
        caption = "The most telling columns: what each takes off the uncertainty about the class by itself"
        parts.append(figure(caption, bars("Most telling columns", entries, "c2")))
    return beside(*parts) if parts else Safe("")


def _variants(living: LivingModel) -> Safe:
    lines = []
    for name, measures in living.status.variants.items():
        mark = tag("span", "answers" if name == living.published.variant else "shadow", class_="chip")
        lines.append(
            [
                join((name, " ", mark)),
                Cell(share(measures.windowed.accuracy, 2), measures.windowed.accuracy),
                Cell(share(measures.running.accuracy, 2), measures.running.accuracy),
                Cell(f"{measures.running.log_loss:.4f}", measures.running.log_loss),
                Cell(f"{measures.calibration.error:.4f}", measures.calibration.error),
                Cell(f"{measures.refused:,}", measures.refused),
            ]
        )
    headers = ["Variant", "Rolling accuracy", "Accuracy", "Log-loss", "Calibration error", "Batches refused"]
    return table("All of them learn the same rows; one answers", headers, lines, sortable=False)


def _mistakes(mistakes: Sequence[Mistake]) -> Safe:
    if not mistakes:
        return Safe("")
    lines = []
    for mistake in reversed(mistakes):
        known = list(mistake.record.items())
        shown = ", ".join(f"{shortened(k, 30)} = {shortened(_value(v), 30)}" for k, v in known[:MOST_VALUES])
        more = f" and {len(known) - MOST_VALUES} more" if len(known) > MOST_VALUES else ""
        record = json.dumps({str(k): plain(v) if isinstance(v, bytes) else v for k, v in known}, default=str)
        short = len(record) <= LONGEST
        button = (
            tag("button", "explain", class_="all use", type="button", data_record=record) if short else ""
        )
        lines.append(
            [
                f"{mistake.row:,}",
                shortened(plain(mistake.label), 60),
                f"{shortened(plain(mistake.predicted), 60)} ({share(mistake.probability)})",
                shown + more,
                button,
            ]
        )
    headers = ["Row", "It was", "Predicted", "Record", ""]
    return table(
        "The latest rows that were predicted wrongly, before they were learned",
        headers,
        lines,
        sortable=False,
    )


def _value(value: object) -> object:
    return f"{value:.4g}" if isinstance(value, float) else value
