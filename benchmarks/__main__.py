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
            met = ratio is None or target is None or ratio >= target
            shown = "-" if ratio is None else f"{ratio:,.2f}" if ratio < 100 else f"{ratio:,.0f}"
            table.add_row(
                str(line["work"]),
                str(line["ours"]),
                str(line["peer"]),
                shown if met else f"[red]{shown}[/red]",
                str(target),
            )
    Console(width=160).print(table)


if __name__ == "__main__":
    main(sys.argv[1:])
