"""ReadMany beside its readings on whole streams, test-then-train: what each way of combining them costs.

    python -m reproduce.read_many                                     NB, TAN and BAN sources, and real streams
    python -m reproduce.read_many --rows 10000 100000 --seeds 0 1     other lengths and sources

All ways are followed in one pass: they differ in what they make of the same scores and the same record.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from bayou import ReadMany
from bayou.block import Block, Floats
from bayou.kernels.track_record import join_rows
from bayou.streams.generators.networks import Graph, RandomNetwork
from bayou.threads import set_threads
from bayou.views.many_readings import RATES, ManyReadings
from bayou.views.view import AnyView
from reproduce.sets import load

REAL = ("elec", "nursery", "mushroom")
STEP = 5000  # rows of a batch


class Watched(ManyReadings):
    """Counts what every reading, and every way of combining them, gets right."""

    def _join(self, out: Floats, scores: Floats, part: Block, learn: bool) -> None:
        for name, rates in RATES.items():
            joined = np.zeros_like(out)
            join_rows(self.record.record.copy(), joined, scores, part.y, part.w, *rates, True)
            self.right[name] = self.right.get(name, 0) + rights(joined, part)
        for name, said in zip(self.rules, scores, strict=True):
            self.right[name] = self.right.get(name, 0) + rights(said, part)
        super()._join(out, scores, part, learn)

    def __init__(self, *options: Any) -> None:
        self.right: dict[str, int] = {}
        super().__init__(*options)


class WatchedReadMany(ReadMany):
    def joint_view(self) -> AnyView:
        view = super().joint_view()
        return Watched(view.summary, view.rules, view.prior, view.alpha, view.combine)


def rights(scores: Floats, part: Block) -> int:
    """Rows whose class is the most probable; where no class is possible yet, nothing is said."""
    said = scores.argmax(axis=1)
    return int(np.sum((said == part.y) & (scores.max(axis=1, initial=-np.inf) > -np.inf)))


def cost(model: ReadMany, rows: int) -> str:
    """The best reading's accuracy, and how far every way stays behind it, in points."""
    right = model.engine.views["joint"].right
    best = max(model.readings, key=right.__getitem__)
    behind = " | ".join(f"{100 * (right[best] - right[way]) / rows:+.3f}" for way in RATES)
    return f"{best} | {100 * right[best] / rows:.2f} | {behind} |"


def drawn(graph: Graph, seed: int, lengths: list[int]) -> Iterator[str]:
    source, model, at = RandomNetwork(graph, seed=seed), WatchedReadMany(numeric="width"), 0
    for rows in sorted(lengths):
        while at < rows:
            part = source.read(min(STEP, rows - at))
            model.learn_batch(pa.table(dict(part.columns)), part.labels)
            at += len(part.labels)
        yield f"| {graph}, seed {seed} | {rows:,} | {cost(model, rows)}"


def real(name: str) -> str:
    rows, model = load(name), WatchedReadMany(numeric="width")
    X = pa.table(dict(rows.columns))
    for lo in range(0, len(rows), STEP):
        model.learn_batch(X.slice(lo, STEP), rows.labels[lo : lo + STEP])
    return f"| {name} | {len(rows):,} | {cost(model, len(rows))}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    options = parser.parse_args()
    set_threads(1)
    print("| stream | rows | best reading | its accuracy | " + " | ".join(RATES) + " |")
    print("|---" * (4 + len(RATES)) + "|", flush=True)
    for name in REAL:
        print(real(name), flush=True)
    for graph in ("nb", "tan", "ban"):
        for seed in options.seeds:
            for line in drawn(graph, seed, options.rows):
                print(line, flush=True)


if __name__ == "__main__":
    main()
