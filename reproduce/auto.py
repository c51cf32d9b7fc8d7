"""Auto beside its own candidates, chosen with hindsight, on every set; benchmarks/bench_auto.py tells what it costs.

    python -m reproduce.auto [--sets elec,covtype] [--rows 45312] [--budgets fast,balanced,accurate] [--folds 0]

Every row is predicted before it is learned: streams in their own order and shuffled, tables shuffled (seed 1). Every
candidate also runs by itself, so that one which Auto drops counts to the end. `--folds 10` cross-validates instead
(shuffled, `--rows` rows at most). Results are kept in reproduce/results/auto.json after every model, and the command
goes on where it stopped. Where Auto loses more than is allowed, the standard error of the difference over the rows
stands below, from both models run again on that set.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bayou import Auto
from bayou.ensembles.auto import BUDGETS
from reproduce.sets import ALL, Rows, load

RESULTS = Path(__file__).parent / "results" / "auto.json"
STREAMS = ("banana", "elec", "covtype", "phishing", "keystroke", "airlines")
BLOCK = 1000
LEAST = 1e-9
LARGE = 5000  # rows from which on less is allowed
ACCURACY, LOG_LOSS = {True: -0.5, False: -1.0}, 0.02  # what Auto may lose to the best candidate

Found = dict[str, Any]


def orders(name: str) -> tuple[str, ...]:
    """File order means something for streams alone."""
    return ("file", "shuffled") if name in STREAMS else ("shuffled",)


def ordered(rows: Rows, order: str) -> Rows:
    return rows if order == "file" else rows.take(np.random.default_rng(1).permutation(len(rows)))


def outcomes(model: Any, proba: np.ndarray, labels: list[Any]) -> np.ndarray:
    """[2, n] whether each row was right, and its log-loss; a class that was never met costs -log 1e-9."""
    at = {label: i for i, label in enumerate(model.labels())}
    y = np.array([at.get(label, -1) for label in labels])
    given = np.where(y >= 0, proba[np.arange(len(y)), np.maximum(y, 0)], 0.0)
    return np.array([proba.argmax(axis=1) == y, -np.log(np.maximum(given, LEAST))])


def prequential(model: Any, rows: Rows) -> np.ndarray:
    parts = []
    for lo in range(0, len(rows), BLOCK):
        part = rows.take(np.arange(lo, min(lo + BLOCK, len(rows))))
        parts.append(outcomes(model, model.test_then_train_batch(part.columns, part.labels), part.labels))
    return np.concatenate(parts, axis=1)


def folded(model: Any, rows: Rows, folds: int) -> np.ndarray:
    dealt = np.random.default_rng(1).permutation(len(rows)) % folds
    parts = []
    for fold in range(folds):
        taught, asked = (rows.take(np.flatnonzero(which)) for which in (dealt != fold, dealt == fold))
        one = model.blank()
        one.partial_fit(taught.columns, taught.labels)
        parts.append(outcomes(one, one.predict_proba(asked.columns), asked.labels))
    return np.concatenate(parts, axis=1)


def each_row(model: Any, rows: Rows, folds: int) -> np.ndarray:
    """[2, n] as in `outcomes`."""
    return folded(model, rows, folds) if folds else prequential(model, rows)


def measured(model: Any, rows: Rows, folds: int) -> Found:
    """Accuracy (%) and log-loss; of a stream also after 1,000, 4,000 and 16,000 rows."""
    found = each_row(model, rows, folds)
    result: Found = {"rows": len(rows), "accuracy": 100 * found[0].mean(), "log_loss": found[1].mean()}
    if not folds:
        result["after"] = {
            n: found[:, :n].mean(axis=1).tolist() for n in (1000, 4000, 16000) if n < len(rows)
        }
    return {name: round(v, 6) if isinstance(v, float) else v for name, v in result.items()}


def candidates(budget: str) -> dict[str, Callable[[], Any]]:
    """Whom Auto chooses from."""
    return {repr(candidate.make()): candidate.make for candidate in BUDGETS[budget][1]}


def uncertain(name: str, order: str, size: int, budget: str, best: str, least: str, folds: int) -> str:
    """By how much Auto differs from the best candidates, with standard errors, over the rows of one set."""
    rows = ordered(load(name, size), order)
    auto = each_row(Auto(budget), rows, folds)
    parts = []
    for i, (other, scale, unit) in enumerate(((best, 100, "points"), (least, 1, "nats"))):
        gaps = scale * (auto[i] - each_row(candidates(budget)[other](), rows, folds)[i])
        parts.append(f"{gaps.mean():+.4g} ± {gaps.std() / len(gaps) ** 0.5:.2g} {unit}")
    return f"{name}, {order}: {' and '.join(parts)}"


def table(kept: dict[str, Found], budget: str, folds: int) -> Iterator[str]:
    """Auto beside the best candidate by accuracy and the best by log-loss, set by set."""
    yield "| set, order | rows | Auto | best candidate | difference | log-loss | best candidate's | difference |"
    yield "|---|---|---|---|---|---|---|---|"
    gaps, missed = [], []
    for name in ALL:
        for order in ("folds",) if folds else orders(name):
            of = {c: kept.get(f"{name}, {order}: {c}") for c in candidates(budget)}
            auto = kept.get(f"{name}, {order}: Auto({budget!r})")
            if auto is None or None in of.values():
                continue
            best = max(of, key=lambda c: of[c]["accuracy"])
            surest = min(of, key=lambda c: of[c]["log_loss"])
            least = of[surest]["log_loss"]
            gap = auto["accuracy"] - of[best]["accuracy"], auto["log_loss"] - least
            gaps.append(gap)
            if gap[0] < ACCURACY[auto["rows"] > LARGE] or gap[1] > LOG_LOSS:
                missed.append(uncertain(name, order, auto["rows"], budget, best, surest, folds))
            yield (
                f"| {name}, {order} | {auto['rows']:,} | {auto['accuracy']:.2f} | {of[best]['accuracy']:.2f} `{best}` "
                f"| {gap[0]:+.2f} | {auto['log_loss']:.4f} | {least:.4f} | {gap[1]:+.4f} |"
            )
    if gaps:
        means = np.mean(gaps, axis=0)
        yield f"| mean of {len(gaps)} | | | | {means[0]:+.2f} | | | {means[1]:+.4f} |"
        yield f"\nBeyond what is allowed: {'; '.join(missed) or 'none'}."


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--sets", default=",".join(ALL))
    asked.add_argument("--rows", type=int, default=45_312)
    asked.add_argument("--budgets", default="fast,balanced,accurate")
    asked.add_argument("--folds", type=int, default=0)
    given = asked.parse_args()
    budgets = given.budgets.split(",")
    kept: dict[str, Found] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    models = {name: make for budget in budgets for name, make in candidates(budget).items()}
    models |= {f"Auto({budget!r})": lambda budget=budget: Auto(budget) for budget in budgets}
    for name in given.sets.split(","):
        for order in ("folds",) if given.folds else orders(name):
            wanted = {
                model: make for model, make in models.items() if f"{name}, {order}: {model}" not in kept
            }
            if not wanted:
                continue
            rows = ordered(load(name, given.rows), order)
            for model, make in wanted.items():
                kept[f"{name}, {order}: {model}"] = measured(make(), rows, given.folds)
                RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
    for budget in budgets:
        print(f"\n{budget}\n", *table(kept, budget, given.folds), sep="\n")


if __name__ == "__main__":
    main()
