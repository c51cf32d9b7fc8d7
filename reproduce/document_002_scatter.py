"""The scatter beside table 1 of document 002: accuracy of AODE (x) against SPCr (y), one point per data set.

    python -m reproduce.document_002_scatter                      ten folds of AODE, SPCr and SPCr by batch on 14 sets
    python -m reproduce.document_002_scatter --repeats 10 --plot scatter.png
    python -m reproduce.document_002_scatter --kept reproduce/results/document_002/table_1_10x10.md --plot scatter.png

Points above the diagonal favour SPCr, those below AODE; the document has one outlier below, labor. Batch is the
document's own criterion for the super parent, a sum over all training rows; SPCr without it follows a track record of
the stream.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa

from bayou import AODE, SPCr, cross_validate
from reproduce.accuracy import UCI
from reproduce.document_002 import in_three
from reproduce.sets import load

ALL_ROWS = 4_000  # the sample of the batch form: every row of every set


def scatter(repeats: int, sets: Iterable[str] = UCI) -> dict[str, dict[str, float]]:
    """By set, the accuracy of the three in percent."""
    found = {}
    models = {"AODE": AODE(), "SPCr": SPCr(), "SPCr, batch": SPCr(rows=ALL_ROWS)}
    for name in sets:
        rows = load(name)
        X = pa.table({column: in_three(values) for column, values in rows.columns.items()})
        folds = cross_validate(models, X, rows.labels, repeats=repeats)
        found[name] = {model: 100 * folds.mean(model) for model in models}
        print(f"| {name} | " + " | ".join(f"{x:.2f}" for x in found[name].values()) + " |", flush=True)
    return found


def kept(path: Path) -> dict[str, dict[str, float]]:
    """AODE and SPCr by set, from a table of accuracies that `document_002 --table` has printed."""
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in path.read_text().splitlines()]
    heads = lines[0]
    return {
        cells[0]: {model: float(cells[heads.index(model)].rstrip("\\*")) for model in ("AODE", "SPCr")}
        for cells in lines[2:]
        if not cells[0].startswith("**")
    }


def verdict(found: Mapping[str, Mapping[str, float]], model: str) -> str:
    """How many sets lie above the diagonal, and which lie below it by more than a point."""
    ahead = {name: accuracy[model] - accuracy["AODE"] for name, accuracy in found.items()}
    below = ", ".join(f"{name} ({by:+.2f})" for name, by in ahead.items() if by < -1.0) or "none"
    mean = sum(ahead.values()) / max(1, len(ahead))
    above = sum(by > 0 for by in ahead.values())
    return f"{model}: above the diagonal {above} of {len(ahead)}, mean {mean:+.2f}; far below: {below}"


def plot(found: Mapping[str, Mapping[str, float]], path: Path) -> None:
    """AODE on the x-axis, SPCr in the forms that were run on the y-axis, and the diagonal."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(5, 5))
    x = [accuracy["AODE"] for accuracy in found.values()]
    for model, marker in (("SPCr", "o"), ("SPCr, batch", "x")):
        if all(model in accuracy for accuracy in found.values()):
            axis.scatter(
                x, [accuracy[model] for accuracy in found.values()], marker=marker, s=14, label=model
            )
    ends = [min(x) - 2, 100]
    axis.plot(ends, ends, color="grey", linewidth=0.8)
    for name, accuracy in found.items():
        above = accuracy["SPCr"] > accuracy["AODE"]
        axis.annotate(
            name, (accuracy["AODE"], accuracy["SPCr"]), fontsize=7, textcoords="offset points",
            xytext=(-5, 3) if above else (5, -7), ha="right" if above else "left",
        )  # fmt: skip
    axis.set_xlabel("AODE")
    axis.set_ylabel("SPCr")
    axis.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--sets", nargs="+", default=list(UCI))
    parser.add_argument("--kept", type=Path, help="a table that was printed before, instead of a run")
    options = parser.parse_args()
    if options.kept:
        found = kept(options.kept)
    else:
        print("| set | AODE | SPCr | SPCr, batch |\n|---|---|---|---|")
        found = scatter(options.repeats, options.sets)
    for model in ("SPCr",) if options.kept else ("SPCr", "SPCr, batch"):
        print(verdict(found, model))
    if options.plot:
        plot(found, options.plot)


if __name__ == "__main__":
    main()
