"""Run all benchmarks, or those named.

python -m benchmarks naive_bayes start
python -m benchmarks --runs 3 doors          three runs: the run of the median ratio, and the range of all
python -m benchmarks --markdown doors        the table as it stands in docs/benchmarks.md
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

Line = dict[str, Any]  # work, ours, peer, ratio and target
HEADER = ("work", "ours", "peer", "ratio", "target")


def main() -> None:
    found = sorted(p.stem.removeprefix("bench_") for p in Path(__file__).parent.glob("bench_*.py"))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(found)}")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    lines = [line for name in options.names or found for line in measured(name, options.runs)]
    if options.markdown:
        print(markdown(lines))
        return
    times = f"{options.runs} runs" if options.runs > 1 else "one run"
    table = Table(*HEADER, title=f"bayou beside its peers (processor time, {times})")
    for line in lines:
        work, ours, peer, ratio, target = cells(line)
        table.add_row(work, ours, peer, f"[red]{ratio}[/red]" if short(line) else ratio, target)
    Console(width=160).print(table)


def measured(name: str, runs: int) -> list[Line]:
    """The lines of a benchmark: of each the run with the median ratio, which also knows the least and the greatest."""
    by_work: dict[str, list[Line]] = {}
    for _ in range(runs):
        for line in importlib.import_module(f"benchmarks.bench_{name}").run():
            print(" | ".join(cells(line)[:4]), file=sys.stderr, flush=True)
            by_work.setdefault(line["work"], []).append(line)
    lines = []
    for same in by_work.values():
        if same[0]["ratio"] is not None:
            same.sort(key=lambda line: line["ratio"])
        ratios = (same[0]["ratio"], same[-1]["ratio"]) if len(same) > 1 else None
        lines.append({**same[(len(same) - 1) // 2], "range": ratios})
    return lines


def short(line: Line) -> bool:
    """Whether a line misses its target."""
    target = line["target"]
    return isinstance(target, int | float) and line["ratio"] is not None and line["ratio"] < target


def cells(line: Line) -> tuple[str, str, str, str, str]:
    """A line as a person reads it."""
    ratio, around = line["ratio"], line.get("range")
    ratio_text = "-" if ratio is None else _ratio(ratio)
    if ratio is not None and around is not None:
        ratio_text += f" ({_ratio(around[0])} to {_ratio(around[1])})"
    return str(line["work"]), _plain(line["ours"]), _plain(line["peer"]), ratio_text, str(line["target"])


def markdown(lines: list[Line]) -> str:
    """A table in Markdown, with what is short of its target in bold."""
    rows = [f"| {' | '.join(HEADER)} |", "|---" * len(HEADER) + "|"]
    for line in lines:
        work, ours, peer, ratio, target = cells(line)
        rows.append(f"| {work} | {ours} | {peer} | {f'**{ratio}**' if short(line) else ratio} | {target} |")
    return "\n".join(rows)


def _ratio(ratio: float) -> str:
    return f"{ratio:,.2f}" if ratio < 100 else f"{ratio:,.0f}"


def _plain(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
