"""One pass of weighted naive Bayes beside Khiops' offline selective naive Bayes, on the same splits.

python -m reproduce.document_000_khiops [sets] [splits of small sets]    (the program is in the package khiops-core)

Khiops learns from the training rows as often as it likes, without trees and constructed columns; we see each of them
once. The gap is what Khiops gains over naive Bayes (with our intervals), added up over the sets where it gains.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

from bayou.classifiers.weighted import WeightedNB
from bayou.rates import Constant
from reproduce.document_000 import holdout, is_large, split
from reproduce.sets import SETS, Rows, load

ALONE = {"KHIOPS_PROC_NUMBER": "1", "KHIOPS_MEMORY_LIMIT": "5000", **os.environ}  # one core; MB


def program() -> str | None:
    """Where Khiops is, if it runs: without the library of Open MPI, which its package asks for, it does not."""
    found = shutil.which(
        "khiops", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    runs = found is not None and subprocess.run([found, "-v"], capture_output=True, env=ALONE).returncode == 0
    return found if runs else None


PROGRAM = program()
MISSING = "the program khiops does not run here (package khiops-core, which needs the package openmpi)"
MODELS = {"NB": lambda: WeightedNB("gk", rate=Constant(0.0)), "WNB": lambda: WeightedNB("gk")}
MOST_ROWS = 50_000


def khiops_accuracy(data: Rows, train: NDArray[np.int64]) -> float:
    """Accuracy of the selective naive Bayes on the rows that are not in `train`, in points."""
    return accuracy_in(khiops_report(data, train))


def accuracy_in(report: dict[str, Any]) -> float:
    """Accuracy of the selective naive Bayes on the rows to test, in points."""
    return 100.0 * float(report["testEvaluationReport"]["predictorsPerformance"][0]["accuracy"])


def khiops_report(data: Rows, train: NDArray[np.int64]) -> dict[str, Any]:
    """What Khiops says about the rows in `train`, and about its predictions of the others."""
    part = np.zeros(len(data), dtype=np.int64)
    part[train] = 1
    columns = {f"x{j}": _cells(column) for j, column in enumerate(data.columns.values())}
    return report_on([pa.table({**columns, "y": _cells(pa.array(map(str, data.labels))), "part": part})])


def report_on(tables: Iterable[pa.Table]) -> dict[str, Any]:
    """What Khiops says about rows that come in pieces: columns, the class "y", and "part", 1 of the rows to learn."""
    if PROGRAM is None:
        raise SystemExit(MISSING)
    pieces = iter(tables)
    first = next(pieces)
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        kinds = ["Numerical" if _is_number(column) else "Categorical" for column in first.columns[:-2]]
        lines = [f"\t{kind}\tx{j};" for j, kind in enumerate(kinds)]
        fields = "\n".join([*lines, "\tCategorical\ty;", "Unused\tCategorical\tpart;"])
        (base / "rows.kdic").write_text(f"Dictionary\trows\n{{\n{fields}\n}};\n")
        options = csv.WriteOptions(delimiter="\t", quoting_style="none")
        with csv.CSVWriter(base / "rows.txt", first.schema, write_options=options) as out:
            for table in chain([first], pieces):
                out.write_table(table)
        (base / "train._kh").write_text(_SCENARIO.format(folder=folder))
        command = [PROGRAM, "-b", "-i", str(base / "train._kh")]
        subprocess.run(command, check=True, capture_output=True, env=ALONE | {"KHIOPS_TMP_DIR": folder})
        report: dict[str, Any] = json.loads((base / "report.khj").read_text())
    return report


def _is_number(column: pa.Array | pa.ChunkedArray) -> bool:
    return bool(pa.types.is_integer(column.type) or pa.types.is_floating(column.type))


def _cells(column: pa.Array) -> pa.Array:
    """A column as Khiops reads it: what is missing is empty, and no text has tabs."""
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.is_nan(column), None, column)
    return column if _is_number(column) else pc.replace_substring(column.cast(pa.string()), "\t", " ")


def compare(name: str, small_splits: int) -> dict[str, float]:
    """Mean accuracy on the splits of `document_000` of naive Bayes, of one pass of weights, and of Khiops."""
    data = load(name, MOST_ROWS)
    runs = []
    for seed in range(1 if is_large(data) else small_splits):
        found = holdout(data, MODELS, seed)
        ours = {rule: found[rule]["accuracy"] for rule in MODELS}
        runs.append({**ours, "Khiops": khiops_accuracy(data, split(data, seed)[0])})
    return {rule: float(np.mean([run[rule] for run in runs])) for rule in runs[0]}


def closed(found: Sequence[dict[str, float]]) -> float:
    """Share of the gap between naive Bayes and Khiops that weights close, pooled where there is one."""
    gaps = [run for run in found if run["Khiops"] > run["NB"]]
    return sum(run["WNB"] - run["NB"] for run in gaps) / sum(run["Khiops"] - run["NB"] for run in gaps)


def main(arguments: Sequence[str]) -> None:
    if PROGRAM is None:
        raise SystemExit(MISSING)
    names = arguments[0].split(",") if arguments else list(SETS)
    small_splits = int(arguments[1]) if len(arguments) > 1 else 5
    found = []
    print(f"{'':16}{'NB':>8}{'WNB':>8}{'Khiops':>8}")
    for name in names:
        found.append(compare(name, small_splits))
        print(f"{name:16}" + "".join(f"{value:8.2f}" for value in found[-1].values()), flush=True)
    print(f"closed {100 * closed(found):.0f} % of the gap")


_SCENARIO = """ClassManagement.OpenFile
ClassFileName {folder}/rows.kdic
OK
TrainDatabase.ClassName rows
TrainDatabase.DatabaseSpec.Data.DatabaseFiles.List.Key
TrainDatabase.DatabaseSpec.Data.DatabaseFiles.DataTableName {folder}/rows.txt
TrainDatabase.DatabaseSpec.Data.HeaderLineUsed true
TrainDatabase.DatabaseSpec.Data.FieldSeparator
TrainDatabase.DatabaseSpec.Sampling.SampleNumberPercentage 100
TrainDatabase.DatabaseSpec.Selection.SelectionAttribute part
TrainDatabase.DatabaseSpec.Selection.SelectionValue 1
TrainDatabase.TestDatabaseSpecificationMode Specific
TrainDatabase.InspectTestDatabaseSettings
DatabaseSpec.Data.DatabaseFiles.List.Key
DatabaseSpec.Data.DatabaseFiles.DataTableName {folder}/rows.txt
DatabaseSpec.Data.HeaderLineUsed true
DatabaseSpec.Data.FieldSeparator
DatabaseSpec.Sampling.SampleNumberPercentage 100
DatabaseSpec.Selection.SelectionAttribute part
DatabaseSpec.Selection.SelectionValue 0
Exit
AnalysisSpec.TargetAttributeName y
AnalysisSpec.PredictorsSpec.ConstructionSpec.MaxTextFeatureNumber 0
AnalysisSpec.PredictorsSpec.ConstructionSpec.MaxTreeNumber 0
AnalysisSpec.PredictorsSpec.ConstructionSpec.MaxConstructedAttributeNumber 0
AnalysisResults.ReportFileName {folder}/report.khj
ComputeStats
ClassManagement.Quit
OK
"""

if __name__ == "__main__":
    main(sys.argv[1:])
