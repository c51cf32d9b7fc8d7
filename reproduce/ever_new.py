"""Rows that bring something new for ever: does memory stay bounded, and does the pace hold?

    python -m reproduce.ever_new [--rows 10000000] [--models NaiveBayes,AODE] [--out docs/gallery]

Every row has a value or a word never met before, every thousandth a class or a column; after a cap is reached
(`Declared(max_values=...)` and its kin) values and words share one cell, classes and columns are refused, and the
stream goes on without them. Each pair of model and stream runs in a process of its own, in one thread; the table says
rows per second of processor time (what else the machine does matters little) and resident memory in the first and in
the last tenth, the plot shows both over the whole way. What was measured is kept in `ever-new.json` of the folder and
not measured again.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import bayou
from bayou import Declared
from bayou.errors import DataError

BLOCK = 10_000
MODELS = ("NaiveBayes", "MultinomialNB", "AODE", "WeightedNB", "HoeffdingTree")
NEWS = ("values", "words", "columns", "classes")
CAPS = {"max_values": 1_000, "max_words": 100_000, "max_columns": 1_000, "max_classes": 200}


def strings(prefix: str, first: int, n: int) -> pa.Array:
    """prefix0, prefix1, ... as an Arrow array."""
    numbers = pa.array(np.arange(first, first + n)).cast(pa.string())
    return pc.binary_join_element_wise(pa.scalar(prefix), numbers, "")


def blocks(news: str, rows: int) -> Iterator[tuple[pa.Table, Any]]:
    """The stream, block by block: one ordinary name, and what is new."""
    for first in range(0, rows, BLOCK):
        number = np.arange(first, first + BLOCK)
        labels = number * 7 % 3 % 2
        columns: dict[str, Any] = {"plain": pa.array(labels ^ (number % 5 == 0)).cast(pa.string())}
        if news == "values":
            columns["user"] = strings("u", first, BLOCK)
        elif news == "words":
            columns["text"] = strings("the word w", first, BLOCK)
        elif news == "columns":
            columns |= {f"c{first // 1000 + i}": pa.array(number * 1.0) for i in range(BLOCK // 1000)}
        y: Any = labels
        if news == "classes":
            y = np.where(number % 1000 == 0, 2 + number // 1000, labels)
        yield pa.table(columns), y


def run(name: str, news: str, rows: int) -> list[tuple[int, float, float]]:
    """(rows, seconds, megabytes) after every hundredth of the way."""
    kinds = {"text": "text"} if news == "words" else {}
    model = getattr(bayou, name)(schema=Declared(columns=kinds, **CAPS))
    bayou.set_threads(1)
    points, begin, step = [], time.process_time(), max(BLOCK, rows // 100)
    for i, (table, y) in enumerate(blocks(news, rows), 1):
        try:
            model.learn_many(table, y)
        except DataError:  # beyond a cap: the rows come without what is new
            known = [c for c in table.column_names if c in model.schema_.place]
            model.learn_many(table.select(known), np.where(np.isin(y, (0, 1)), y, 0))
        if i * BLOCK % step == 0:
            points.append((i * BLOCK, time.process_time() - begin, resident()))
    return points


def resident() -> float:
    """Megabytes of this process that are in memory now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--news", default=",".join(NEWS))
    parser.add_argument("--out", type=Path, default=None, help="folder for the plot")
    parser.add_argument("--one", nargs=2, metavar=("MODEL", "NEWS"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(run(*given.one, given.rows)))
        return
    kept = None if given.out is None else given.out / "ever-new.json"
    found = read(kept, given.rows)
    print("| model | ever new | rows/s, first tenth | last tenth | MB, first tenth | last |")
    print("|---|---|---|---|---|---|")
    for name in given.models.split(","):
        for news in given.news.split(","):
            if (name, news) not in found:
                command = [sys.executable, "-m", "reproduce.ever_new", "--rows", str(given.rows)]
                done = subprocess.run(
                    [*command, "--one", name, news], stdout=subprocess.PIPE, text=True, check=True
                )
                found[name, news] = json.loads(done.stdout)
                if kept is not None:
                    kept.write_text(json.dumps([[*pair, points] for pair, points in found.items()]))
            points = found[name, news]
            tenth = max(1, len(points) // 10)
            first = points[tenth - 1][0] / points[tenth - 1][1]
            last = (points[-1][0] - points[-1 - tenth][0]) / (points[-1][1] - points[-1 - tenth][1])
            memory = points[tenth - 1][2], points[-1][2]
            print(
                f"| {name} | {news} | {first:,.0f} | {last:,.0f} | {memory[0]:.0f} | {memory[1]:.0f} |",
                flush=True,
            )
    if given.out:
        draw(found, given.out / "ever-new.svg")


def read(kept: Path | None, rows: int) -> dict[tuple[str, str], list[Any]]:
    """What an earlier call has measured, to the same number of rows."""
    if kept is None or not kept.exists():
        return {}
    return {
        (name, news): points for name, news, points in json.loads(kept.read_text()) if points[-1][0] == rows
    }


def draw(found: dict[tuple[str, str], list[Any]], path: Path) -> None:
    """Rows per second and memory over the rows, a line per model, a column of pictures per kind of news."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    news = [kind for kind in NEWS if any(kind == k for _, k in found)]
    figure, axes = plt.subplots(2, len(news), figsize=(4 * len(news), 6), sharex=True, squeeze=False)
    for column, kind in enumerate(news):
        for (name, own), points in found.items():
            if own != kind:
                continue
            rows, seconds, memory = np.array(points).T
            rate = np.diff(rows, prepend=0) / np.diff(seconds, prepend=0)
            axes[0, column].plot(rows / 1e6, rate, label=name)
            axes[1, column].plot(rows / 1e6, memory, label=name)
        axes[0, column].set(title=f"ever-new {kind}", yscale="log")
        axes[1, column].set(xlabel="million rows", ylim=(0, None))
    axes[0, 0].set_ylabel("rows per second of processor time")
    axes[1, 0].set_ylabel("resident memory, MB")
    axes[0, -1].legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    main()
