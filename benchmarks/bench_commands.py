"""Commands by the clock on the wall, start-up included: `bayou evaluate` beside MOA's EvaluatePrequential.

Both read the same files, those of ../shared/data; caches are warm. Learning is timed without the start, beside pyarrow
reading the same file with all cores: what a longer file would show.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from reproduce.sets import DATA

from bayou import NaiveBayes
from bayou.streams import open_stream
from bayou.threads import set_threads
from bayou.training import Learning, Run
from benchmarks import jars
from benchmarks.measure import row

MODELS = {"nb": "bayes.NaiveBayes", "nb(numeric=gaussian)": "bayes.NaiveBayes", "tree": "trees.HoeffdingTree"}
COVERS = ("Wilderness_Area", "Soil_Type")


def run() -> Iterator[dict[str, object]]:
    if not DATA.exists():
        yield row("bayou evaluate", "-", f"no files in {DATA}", None, "-")
        return
    with tempfile.TemporaryDirectory() as place:
        elec = Path(place) / "elec.arff"
        elec.write_bytes(gzip.decompress((DATA / "streams" / "elecNormNew.arff.gz").read_bytes()))
        table = pa.csv.read_csv(DATA / "streams" / "covtype.csv.gz")
        covers = cover_types(table, Path(place) / "covtype.arff")
        yield from evaluating("elec", elec, 1, 5)
        yield from learning(table, Path(place))
        yield from evaluating("covtype", covers, 5, 3)


def cover_types(table: pa.Table, path: Path) -> Path:
    """The cover types as ARFF: 10 numeric and 44 nominal columns."""
    with path.open("wb") as file:
        file.write(b"@relation covtype\n")
        for name in table.column_names[:-1]:
            kind = "{0,1}" if name.startswith(COVERS) else "numeric"
            file.write(f"@attribute {name} {kind}\n".encode())
        file.write(b"@attribute class {1,2,3,4,5,6,7}\n@data\n")
        pa.csv.write_csv(table, file, pa.csv.WriteOptions(include_header=False))
    return path


def evaluating(name: str, path: Path, target: float, repeats: int) -> Iterator[dict[str, object]]:
    for model, learner in MODELS.items():
        work = f"bayou evaluate, {name}, {model}, wall"
        _evaluate(path, model)
        if not jars.MOA.exists():
            ours = _least(lambda model=model: _evaluate(path, model), repeats)
            yield row(work, f"{ours:.2f} s", "MOA: not here", None, target)
            continue
        ours, peer = _turn_by_turn(
            lambda model=model: _evaluate(path, model), lambda learner=learner: _moa(path, learner), repeats
        )
        yield row(work, f"{ours:.2f} s", f"MOA {peer:.2f} s", peer / ours, target)


def _evaluate(path: Path, model: str) -> None:
    tool = Path(sys.executable).with_name("bayou")
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(
        [tool, "evaluate", path, "--model", model, "--quiet"], check=True, capture_output=True, env=kept
    )


def _moa(path: Path, learner: str) -> None:
    measured = "-e BasicClassificationPerformanceEvaluator -f 1000000"
    jars.java(
        jars.MOA, "moa.DoTask", f"EvaluatePrequential -l {learner} -s (ArffFileStream -f {path}) {measured}"
    )


def learning(table: pa.Table, place: Path) -> Iterator[dict[str, object]]:
    """Every row learned, beside every row read."""
    csv, parquet = place / "covtype.csv", place / "covtype.parquet"
    pa.csv.write_csv(table, csv)
    pa.parquet.write_table(table, parquet)
    set_threads(2)
    for name, path, read in (
        ("CSV", csv, lambda: pa.csv.read_csv(csv)),
        ("Parquet", parquet, lambda: pa.parquet.read_table(parquet)),
    ):
        for density in ("gaussian", "auto"):

            def learn(path=path, density=density) -> None:
                with open_stream(path, target="Cover_Type") as source:
                    Run(Learning(NaiveBayes(density)), source, None).to_the_end()

            learn()
            ours, peer = _turn_by_turn(learn, read, 5)
            work = f"NaiveBayes('{density}') learns a {name} of {table.num_rows:,} rows, 54 numbers, wall"
            yield row(work, f"{ours:.2f} s", f"pyarrow reads it in {peer:.2f} s", peer / ours, 0.8)


def _turn_by_turn(
    ours: Callable[[], object], peer: Callable[[], object], repeats: int
) -> tuple[float, float]:
    times = [(_least(ours, 1), _least(peer, 1)) for _ in range(repeats)]
    return min(a for a, _ in times), min(b for _, b in times)


def _least(work: Callable[[], object], repeats: int) -> float:
    """Least seconds by the clock on the wall."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)
