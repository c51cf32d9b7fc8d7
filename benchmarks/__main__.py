"""Run all benchmarks, or those named: `python -m benchmarks naive_bayes start`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table


def main(names: list[str]) -> None:
    found = sorted(p.stem.removeprefix("bench_") for p in Path(__file__).parent.glob("bench_*.py"))
    table = Table(
        "work", "ours", "peer", "ratio", "target", title="bayou beside its peers (processor time, one run)"
    )
    for name in names or found:
        for line in importlib.import_module(f"benchmarks.bench_{name}").run():
            ratio, target = line["ratio"], line["target"]
            short = isinstance(target, int | float) and ratio is not None and ratio < target
            shown = "-" if ratio is None else f"{ratio:,.2f}" if ratio < 100 else f"{ratio:,.0f}"
            style = f"[red]{shown}[/red]" if short else shown
            print(
                line["work"],
                "|",
                _plain(line["ours"]),
                "|",
                _plain(line["peer"]),
                "|",
                shown,
                file=sys.stderr,
            )
            table.add_row(str(line["work"]), _plain(line["ours"]), _plain(line["peer"]), style, str(target))
    Console(width=160).print(table)


def _plain(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main(sys.argv[1:])
