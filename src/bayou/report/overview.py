"""The overview: tiles with headline figures, the table of models, speed and memory."""

from __future__ import annotations

from collections.abc import Sequence

from bayou.plain_text import percent, short_number
from bayou.report.drawing import bars, figure
from bayou.report.evaluations import Background, Evaluations, ModelResult, without_baselines
from bayou.report.markup import Safe, fold, join, tag
from bayou.report.numbers import share, size
from bayou.report.tables import Cell, table

_SCORES = (
    ("accuracy", "Accuracy", True, "Share of right answers"),
    ("kappa", "Kappa", True, "Errors of guessing by class frequency that are avoided"),
    ("kappa_temporal", "Kappa-T", True, "Errors of predicting the label before that are avoided"),
    ("kappa_m", "Kappa-M", True, "Errors of predicting the majority class that are avoided"),
    ("macro_f1", "Macro F1", True, "Mean over classes of F1"),
    ("log_loss", "Log-loss", False, "Mean of -log p(true), in nats; lower is better"),
    ("brier", "Brier", False, "Squared distance from certainty; lower is better"),
)


def tiles(entries: Sequence[tuple[str, str, str]]) -> Safe:
    """Headline figures, each with a name and a remark."""
    return tag(
        "dl",
        *(
            tag("div", tag("dt", name), tag("dd", _figure(figure), tag("span", remark)), class_="tile")
            for name, figure, remark in entries
        ),
        class_="tiles",
    )


def _figure(text: str) -> Safe:
    """A headline figure, in smaller letters where it is long."""
    return tag("b", text, class_="long" if len(text) > 10 else None)


def headline_tiles(evaluations: Evaluations) -> Safe:
    """Tiles on the rows, the best model, and its lead over the best baseline."""
    models = without_baselines(evaluations)
    best = max(models.values(), key=lambda r: r.scores.accuracy)
    entries = [
        (
            "Rows",
            f"{evaluations.rows:,}",
            "predicted, then learned" if evaluations.window else evaluations.protocol,
        ),
        ("Best accuracy", share(best.scores.accuracy, 2), best.name),
    ]
    rivals = [r for r in evaluations.results.values() if r.baseline]
    if rivals:
        rival = max(rivals, key=lambda r: r.scores.accuracy)
        gap = 100 * (best.scores.accuracy - rival.scores.accuracy)
        entries.append((f"Against {rival.name}", f"{gap:+.2f} points", "the better of the baselines"))
    if best.windowed is not None and evaluations.window:
        entries.append(
            (
                f"Last {min(evaluations.window, evaluations.rows):,} rows",
                share(best.windowed.accuracy, 2),
                best.name,
            )
        )
    entries.append(("Classes", f"{len(best.labels):,}", "in the stream"))
    return tiles(entries)


def models_table(evaluations: Evaluations) -> Safe:
    """A table of all scores of all models."""
    results = list(evaluations.results.values())
    headers = ["Model", *(name for _, name, _, _ in _SCORES), "Calibration"]
    hints = [
        "",
        *(hint for *_, hint in _SCORES),
        "Mean distance of confidence from accuracy; lower is better",
    ]
    if evaluations.window:
        headers.append(f"Last {evaluations.window:,}")
        hints.append("Accuracy over the latest rows")
    columns = [[_score(r, name) for r in results] for name, *_ in _SCORES]
    columns.append([r.calibration.error for r in results])
    if evaluations.window:
        columns.append([r.windowed.accuracy if r.windowed else 0.0 for r in results])
    rising = [*(up for _, _, up, _ in _SCORES), False, True]
    lines = []
    for i, result in enumerate(results):
        cells: list[object] = [_name(result)]
        for column, up, header in zip(columns, rising, headers[1:], strict=False):
            value = column[i]
            shown = (
                f"{value:.4f}"
                if header in ("Log-loss", "Brier", "Calibration")
                else percent(value).replace("-0.00", "0.00")
            )
            best = max(column) if up else min(column)
            cells.append(Cell(shown, value, best=value == best and len(results) > 1))
        lines.append(cells)
    return join(
        (
            table("Scores of all models; the best of each column is marked", headers, lines, hints=hints),
            tag(
                "p",
                "In percent, but for log-loss, Brier score and calibration error. Kappa-T is the share of the errors "
                "of the no-change classifier that a model avoids; Kappa-M that of the majority class.",
                class_="remark",
            ),
            fold(
                "The models in full",
                tag("ul", *(tag("li", tag("code", r.model)) for r in results)),
            ),
        )
    )


def _score(result: ModelResult, name: str) -> float:
    return float(getattr(result.scores, name))


def _name(result: ModelResult) -> Safe:
    mark = tag("span", "baseline", class_="chip") if result.baseline else ""
    return join((result.name, " ", mark) if mark else (result.name,))


def cost(evaluations: Evaluations) -> Safe:
    """Charts and a table of speed and memory."""
    results = [r for r in evaluations.results.values() if not r.baseline] or list(
        evaluations.results.values()
    )
    timed = [r for r in results if r.seconds > 0]
    pictures = []
    if timed:
        entries = [(r.name, r.rows_per_second, f"{short_number(r.rows_per_second)}/s") for r in timed]
        pictures.append(figure("Rows per second, predicted and learned", bars("Rows per second", entries)))
    pictures.append(
        figure(
            "Memory of the learned state",
            bars("Memory", [(r.name, float(r.memory_bytes), size(r.memory_bytes)) for r in results], "c2"),
        )
    )
    lines = [
        [
            _name(r),
            Cell(f"{r.seconds:.2f} s", r.seconds),
            Cell(short_number(r.rows_per_second), r.rows_per_second),
            Cell(size(r.memory_bytes), r.memory_bytes),
        ]
        for r in evaluations.results.values()
    ]
    return join(
        (
            tag("div", *pictures, class_="beside"),
            table("Speed and memory", ["Model", "Time", "Rows per second", "Memory"], lines),
            tag("p", f"The whole evaluation took {evaluations.seconds:.1f} s.", class_="remark"),
        )
    )


def repeat(background: Background) -> Safe:
    """How to make the page again: the command and the version."""
    from bayou import __version__

    out = [tag("p", f"Made by bayou {__version__}. The same rows in the same order give the same numbers.")]
    if background.command:
        out.insert(0, tag("pre", tag("code", background.command), tabindex="0", aria_label="The command"))
    return join(out)
