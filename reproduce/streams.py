"""Forests for streams that drift beside MOA's, test-then-train in file order: accuracy and rows per second.

    python -m reproduce.streams                      measure what is not recorded yet, then print the tables
    python -m reproduce.streams --sets elec,banana   only these streams
    python -m reproduce.streams --rows 50000         only the first rows of each stream
    python -m reproduce.streams --only LeveragingBag,StreamingRandomPatches      only these classifiers
    python -m reproduce.streams --seconds 120        less processor time for MOA
    python -m reproduce.streams --tables             print the tables of what is recorded

MOA's ensembles have ten members and its defaults. Its program is `moa.jar`, which CapyMOA brings (`pip install
capymoa`, or the jar alone out of its wheel); `MOA_JAR` says where it is, and without it only ours are measured. MOA
gets ten minutes of processor time per stream; where it does not reach the end, ours are compared at the last multiple
of 1,000 rows before. Ours are the mean of three seeds on streams below 10,000 rows. Seconds are of processor time on
one core, ours after the kernels were loaded, MOA's with its just-in-time compiler. Results are kept in
`reproduce/results/streams.json`; delete a line to measure it again.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import bayou
from bayou.threads import set_threads
from reproduce.order import table
from reproduce.sets import Rows, load
from reproduce.settings import made

RESULTS = Path(__file__).parent / "results" / "streams.json"
STREAMS = ("elec", "covtype", "airlines", "keystroke", "phishing", "banana")
OURS = (
    "AdaptiveForest(trees=10)",
    "AdaptiveForest()",
    "Bagging()",
)  # the first has as many members as the peers
THEIRS = ("AdaptiveRandomForest", "LeveragingBag", "StreamingRandomPatches")
SMALL = 10_000
SEEDS = (1, 2, 3)
SECONDS = 600  # of processor time that MOA gets, unless told otherwise
WARM = 1000  # rows learned before the clock starts
EVERY = 1000  # rows between two points of a curve
Run = dict[str, Any]  # seconds, and the curve: rows and accuracy in % so far


def ours(setting: str, rows: Rows) -> Run:
    """One pass of one of our classifiers, or of three that differ in their seeds."""
    X, y = table(rows)
    bayou.prequential(
        made(setting), table(rows.take(np.arange(min(WARM, len(y)))))
    )  # compiles or loads the kernels
    curves, begin = [], time.process_time()
    seeds = SEEDS if len(y) < SMALL else SEEDS[:1]
    for seed in seeds:
        result = bayou.prequential(made(setting).set_params(seed=seed), (X, y), every=EVERY)
        curves.append(result.curve.running["accuracy"])
    seconds = (time.process_time() - begin) / len(seeds)
    accuracy = (100 * np.mean(curves, axis=0)).round(3).tolist()
    return {"seconds": round(seconds, 2), "rows": list(result.curve.rows), "accuracy": accuracy}


def theirs(setting: str, rows: Rows, limit: int) -> Run:
    """One pass of MOA, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path, found = Path(folder) / "stream.arff", Path(folder) / "curve.csv"
        write_arff(path, rows)
        task = (
            f"EvaluatePrequential -l (meta.{setting} -s 10) -s (ArffFileStream -f {path}) "
            f"-e BasicClassificationPerformanceEvaluator -f {EVERY} -t {limit} -d {found}"
        )
        command = ["java", "-Xmx4g", "-XX:+UseSerialGC", "-cp", os.environ["MOA_JAR"], "moa.DoTask", task]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return read_curve(found)


def read_curve(path: Path) -> Run:
    """What MOA wrote down."""
    with path.open() as lines:
        points = list(csv.DictReader(lines))
    return {
        "seconds": round(float(points[-1]["evaluation time (cpu seconds)"]), 2),
        "rows": [int(float(point["learning evaluation instances"])) for point in points],
        "accuracy": [round(float(point["classifications correct (percent)"]), 3) for point in points],
    }


def write_arff(path: Path, rows: Rows) -> None:
    """The rows as MOA reads them, names as codes."""
    header, cells = ["@relation stream"], []
    for i, column in enumerate([*rows.columns.values(), pa.array(map(str, rows.labels))]):
        values = column.to_pylist()
        if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
            header.append(f"@attribute a{i} numeric")
            cells.append(["?" if v is None else repr(v) for v in values])
        else:
            codes = {v: f"v{j}" for j, v in enumerate(sorted({v for v in values if v is not None}))}
            header.append(f"@attribute a{i} {{{','.join(codes.values())}}}")
            cells.append([codes.get(v, "?") for v in values])
    with path.open("w") as file:
        file.write("\n".join([*header, "@data", ""]))
        file.writelines(",".join(row) + "\n" for row in zip(*cells, strict=True))


def first_rows(name: str, most: int | None) -> Rows:
    """The rows of a stream, or as many of them as are wanted."""
    rows = load(name, most)
    return rows if most is None else rows.take(np.arange(min(most, len(rows))))


def measure(names: list[str], settings: list[str], most: int | None, limit: int) -> None:
    """Measure what is not recorded; the file is read anew before it is written, since runs may go on side by side."""
    for name in names:
        rows = None
        for setting in settings:
            if setting in recorded().get(name, {}):
                continue
            rows = first_rows(name, most) if rows is None else rows
            run = ours(setting, rows) if setting in OURS else theirs(setting, rows, limit)
            found = recorded()
            found.setdefault(name, {})[setting] = run
            RESULTS.write_text(json.dumps(found, separators=(",", ":")).replace('},"', '},\n"') + "\n")
            print(name, setting, run["accuracy"][-1], run["seconds"], flush=True)


def recorded() -> dict[str, dict[str, Run]]:
    """What has been measured: by stream and classifier."""
    found: dict[str, dict[str, Run]] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    return found


def speed(run: Run) -> float:
    """Rows per second of processor time."""
    return float(run["rows"][-1] / run["seconds"])


def at(run: Run, rows: int) -> float:
    """Accuracy of the first rows."""
    return float(run["accuracy"][run["rows"].index(rows)])


def tables(found: dict[str, dict[str, Run]]) -> str:
    """One line per stream: all rows, then the rows that every peer has reached."""
    columns = [*(f"`{setting}`" for setting in OURS), *(f"MOA {setting}" for setting in THEIRS)]
    lines = [
        f"| stream | rows | {' | '.join(columns)} | rows per second: times that of the slowest, the quickest peer |",
        "|---" * (len(columns) + 3) + "|",
    ]
    for name in STREAMS:
        runs = found.get(name, {})
        if OURS[0] not in runs:
            continue
        peers = [runs[setting] for setting in THEIRS if setting in runs]
        whole = runs[OURS[0]]["rows"][-1]
        for rows in sorted({whole, *(peer["rows"][-1] for peer in peers)}):
            cells = [
                f"{at(runs[s], rows):.2f}" if s in runs and rows in runs[s]["rows"] else "-"
                for s in (*OURS, *THEIRS)
            ]
            pace = sorted(speed(runs[OURS[0]]) / speed(peer) for peer in peers)
            speeds = f"{speed(runs[OURS[0]]):,.0f}" + (f": {pace[-1]:.1f}, {pace[0]:.1f}" if pace else "")
            lines.append(f"| {name} | {rows:,} | {' | '.join(cells)} | {speeds if rows == whole else ''} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join(STREAMS))
    parser.add_argument("--only", default=",".join((*OURS, *(THEIRS if "MOA_JAR" in os.environ else ()))))
    parser.add_argument("--rows", type=int)
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument("--tables", action="store_true")
    chosen = parser.parse_args()
    set_threads(1)
    if not chosen.tables:
        measure(chosen.sets.split(","), chosen.only.split(","), chosen.rows, chosen.seconds)
    print(tables(recorded()))


if __name__ == "__main__":
    main()
