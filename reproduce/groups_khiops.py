"""Groups of values by our search beside those of Khiops, under its criterion: which is better, and by how much.

    python -m reproduce.groups_khiops [tables] [values] [file]    (the program is in the package khiops-core)

Each table is drawn at random: up to so many values, each of one of a few kinds that differ in their classes. The level
is the share of the cost of one group that is saved: that of our groups by our formula, that of Khiops as it reports it.
That both formulas are one is tested on what the file keeps (`tests/readings/test_modl_groups.py`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayou.readings.modl_groups import MODLGroups
from reproduce.document_000_khiops import MISSING, PROGRAM, khiops_report
from reproduce.sets import Rows

Counts = NDArray[np.int64]


def random_table(seed: int, most_values: int) -> Counts:
    """[values, classes] counts: values of a few kinds, rare and frequent ones."""
    rng = np.random.default_rng(seed)
    values, classes, kinds = rng.integers(5, most_values + 1), rng.integers(2, 6), rng.integers(1, 7)
    share = rng.dirichlet(np.full(classes, rng.choice([0.5, 2.0, 10.0])), size=kinds)
    sizes = 2 + rng.geometric(1 / rng.choice([5, 30, 200]), size=values)
    found = [rng.multinomial(n, share[rng.integers(kinds)]) for n in sizes]
    return np.array(found, dtype=np.int64)


def khiops_groups(table: Counts) -> tuple[list[list[int]], float]:
    """The groups of values that Khiops finds, and the level it reports."""
    place = [(v, c) for v, row in enumerate(table) for c, n in enumerate(row) for _ in range(n)]
    again = place + place[: table.shape[1]]  # a few rows to test, which it asks for
    data = Rows({"x": pa.array([f"v{v}" for v, _ in again])}, [f"c{c}" for _, c in again])
    report = khiops_report(data, np.arange(len(place)))["preparationReport"]
    level = float(report["variablesStatistics"][0]["level"])
    details = report.get("variablesDetailedStatistics", {}).get("R1", {})
    if level == 0 or "dataGrid" not in details:
        return [list(range(len(table)))], level
    side: dict[str, Any] = details["dataGrid"]["dimensions"][0]
    groups = [[int(value[1:]) for value in part if value != "*"] for part in side["partition"]]
    listed = {value for part in groups for value in part}
    rest = [value for value in range(len(table)) if value not in listed]
    groups[side.get("defaultGroupIndex", 0)] += rest
    return groups, level


def main(arguments: Sequence[str]) -> None:
    if PROGRAM is None:
        raise SystemExit(MISSING)
    tables = int(arguments[0]) if arguments else 20
    most_values = int(arguments[1]) if len(arguments) > 1 else 60
    ahead = same = behind = 0
    kept = []
    print(f"{'seed':>4}{'values':>8}{'classes':>8}{'ours':>7}{'Khiops':>7}{'our level':>11}{'Khiops':>11}")
    for seed in range(tables):
        table = random_table(seed, most_values)
        ours = MODLGroups(prior="khiops", max_values=len(table)).group(table)
        groups, level = khiops_groups(table)
        line = f"{seed:4}{len(table):8}{table.shape[1]:8}{ours.n_parts:7}{len(groups):7}"
        print(f"{line}{ours.level:11.6f}{level:11.6f}", flush=True)
        kept.append({"rows": table.tolist(), "khiops_groups": groups, "khiops_level": level})
        off = ours.level - level
        ahead, same, behind = ahead + (off > 1e-6), same + (abs(off) <= 1e-6), behind + (off < -1e-6)
    if len(arguments) > 2:
        Path(arguments[2]).write_text("[\n" + ",\n".join(map(json.dumps, kept)) + "\n]\n")
    print(f"ours better in {ahead}, the same in {same}, worse in {behind}")


if __name__ == "__main__":
    main(sys.argv[1:])
