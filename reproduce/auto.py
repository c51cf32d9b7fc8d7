"""Auto beside its own candidates, chosen with hindsight: every set, each row predicted before it is learned.

    python -m reproduce.auto [--sets elec,covtype] [--rows 45312] [--budgets fast,balanced,accurate]

Streams are read in their own order and shuffled, tables shuffled (seed 1). A candidate's figures come from Auto's own
record. Results are kept in reproduce/results/auto.json, and the command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bayou import Auto
from reproduce.sets import ALL, Rows, load

RESULTS = Path(__file__).parent / "results" / "auto.json"
STREAMS = ("banana", "elec", "covtype", "phishing", "keystroke", "airlines")
BLOCK = 5000
LEAST = 1e-9
TOGETHER = ("their mean", "their pool")


def orders(name: str) -> tuple[str, ...]:
    """File order means something for streams alone."""
    return ("file", "shuffled") if name in STREAMS else ("shuffled",)


def ordered(rows: Rows, order: str) -> Rows:
    return rows if order == "file" else rows.take(np.random.default_rng(1).permutation(len(rows)))


def measured(rows: Rows, budget: str) -> dict[str, object]:
    """Accuracy (%) and log-loss of Auto and of each candidate, and who is followed in the end."""
    model, right, loss = Auto(budget), 0, 0.0
    for lo in range(0, len(rows), BLOCK):
        part = rows.take(np.arange(lo, min(lo + BLOCK, len(rows))))
        proba = model.test_then_train_batch(part.columns, part.labels)
        at = {label: i for i, label in enumerate(model.labels())}
        y = np.array([at[label] for label in part.labels])
        right += int((proba.argmax(axis=1) == y).sum())
        loss -= float(np.log(np.maximum(proba[np.arange(len(y)), y], LEAST)).sum())
    return {
        "rows": len(rows), "accuracy": 100 * right / len(rows), "log_loss": loss / len(rows),
        "candidates": {name: told for name, told in model.record_.items() if name not in TOGETHER},
    }  # fmt: skip


def table(kept: dict[str, dict[str, object]], budget: str) -> Iterator[str]:
    """Auto beside the best candidate by accuracy and the best by log-loss, set by set."""
    yield "| set, order | rows | Auto | best candidate | difference | log-loss | best candidate's | difference |"
    yield "|---|---|---|---|---|---|---|---|"
    gaps = []
    for key, found in kept.items():
        if not key.endswith(f" {budget}"):
            continue
        told = found["candidates"]
        name, best = max(((n, 100 * t["accuracy"]) for n, t in told.items()), key=lambda pair: pair[1])
        least = min(t["log_loss"] for t in told.values())
        gaps.append((found["accuracy"] - best, found["log_loss"] - least))
        yield (
            f"| {key.rsplit(' ', 1)[0]} | {found['rows']:,} | {found['accuracy']:.2f} | {best:.2f} {name} "
            f"| {gaps[-1][0]:+.2f} | {found['log_loss']:.4f} | {least:.4f} | {gaps[-1][1]:+.4f} |"
        )
    if gaps:
        means = np.mean(gaps, axis=0)
        yield f"| mean | | | | {means[0]:+.2f} | | | {means[1]:+.4f} |"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--sets", default=",".join(ALL))
    asked.add_argument("--rows", type=int, default=45_312)
    asked.add_argument("--budgets", default="fast,balanced,accurate")
    given = asked.parse_args()
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in given.sets.split(","):
        for order in orders(name):
            for budget in given.budgets.split(","):
                key = f"{name}, {order} {budget}"
                if key not in kept:
                    kept[key] = measured(ordered(load(name, given.rows), order), budget)
                    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
    for budget in given.budgets.split(","):
        print(f"\n{budget}\n", *table(kept, budget), sep="\n")


if __name__ == "__main__":
    main()
