"""Files in shards, in one process or several: what one pass gives, by the law of each model."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.backends.agreement import alike
from tests.backends.tables import WRITERS, one_pass, table, write_csv, write_parquet

import bayou
from bayou import AODE, MajorityClass, NaiveBayes, NoChange, fit_files
from bayou.backends.fold import AveragedWarning, merge, merged
from bayou.backends.pool import Plan, learn_files
from bayou.backends.shards import Opening, Shard, cut
from bayou.backends.worker import ShardJob
from bayou.backends.worker_pool import WorkerError
from bayou.errors import DataError, UnsupportedError
from bayou.laws import MergeLaw
from bayou.streams import open_stream

MOVE = {"target": "move"}
SMALL = 10_000  # bytes of a shard


@pytest.mark.parametrize("format", WRITERS)
def test_shards_hand_out_every_row_once_and_in_order(tmp_path: Path, format: str) -> None:
    whole = table()
    path = WRITERS[format](whole, tmp_path / f"moves.{format}")
    opening = Opening.like(str(path), MOVE)
    shards = cut([str(path)], opening, SMALL)
    assert len(shards) > 3 or format == "arrow"  # which is not cut
    days: list[str] = []
    for shard in shards:
        with opening.open(shard) as source:
            while (rows := source.read(777)) is not None:
                days += rows.columns["day"].to_pylist()
    assert days == whole["day"].to_pylist()


@pytest.mark.parametrize("format", WRITERS)
def test_shards_add_up_to_one_pass(tmp_path: Path, format: str) -> None:
    whole = table()
    path = WRITERS[format](whole, tmp_path / f"moves.{format}")
    for model in (NaiveBayes("gaussian"), AODE()):
        found = fit_files(path, model, jobs=1, shard_bytes=SMALL, **MOVE)
        alike(found, one_pass(model.blank(), path, **MOVE), whole.drop(["move"]))
        assert not model.started


SHARDABLE = [
    name
    for name in sorted(bayou.classifiers.__all__)
    if getattr(bayou, name)().law in (MergeLaw.EXACT, MergeLaw.ROUNDING)
]


@pytest.mark.parametrize("name", SHARDABLE)
def test_every_classifier_that_adds_up(tmp_path: Path, name: str) -> None:
    path = write_parquet(table(1_500), tmp_path / "moves.parquet")
    kind = getattr(bayou, name)
    words = {"text": ["day"], "ignore": ["x", "z"]} if kind.numbers_are_words else {}
    found = fit_files(path, kind(), jobs=1, shard_bytes=4_000, **MOVE, **words)
    rows = table(1_500).drop(["move"])
    alike(found, one_pass(kind(), path, **MOVE, **words), rows)


def workers() -> list[int]:
    """Worker processes of this one."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) == os.getpid() and b"bayou.backends" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except (OSError, ValueError, IndexError):
            continue
    return found


def hold_the_caller(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Let the caller's own part in the work wait, so that the processes get some."""
    go, learn = threading.Event(), ShardJob.partial

    def wait_and_learn(job: ShardJob, shard: Shard, heard: Any) -> bytes:
        while not go.wait(0.01):
            heard(0)
        return learn(job, shard, heard)

    monkeypatch.setattr(ShardJob, "partial", wait_and_learn)
    return go


def test_two_processes_one_of_which_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [write_csv(table(30_000, seed), tmp_path / f"{seed}.csv") for seed in range(2)]
    heard: list[tuple[int, float]] = []
    killed: list[int] = []
    go = hold_the_caller(monkeypatch)

    def kill_one(rows: int, share: float) -> None:
        heard.append((rows, share))
        if rows and not killed:
            (process,) = workers()
            os.kill(process, signal.SIGKILL)
            killed.append(process)
            go.set()

    found = learn_files(tmp_path, NaiveBayes("gaussian"), MOVE, 2, 800_000, kill_one)
    assert found.deaths == len(killed) == 1
    assert workers() == []
    assert found.rows == 60_000
    assert heard[-1] == (60_000, 1.0)
    assert all(a[1] <= b[1] for a, b in pairwise(heard))
    alone = fit_files(paths, NaiveBayes("gaussian"), jobs=1, shard_bytes=800_000, **MOVE)
    assert found.model.digest() == alone.digest()  # the bits do not depend on the number of processes
    alike(alone, one_pass(NaiveBayes("gaussian"), *paths, **MOVE), table(500).drop(["move"]))


DEADLY = """#!{python} -S
import os, sys
from multiprocessing.connection import Connection
with Connection(int(sys.argv[-1])) as parent:
    parent.send_bytes(b"ready")
    parent.recv_bytes()
    os.kill(os.getpid(), 9)
"""


def test_a_shard_on_which_every_worker_dies_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_csv(table(300), tmp_path / "moves.csv")
    program = tmp_path / "deadly"
    program.write_text(DEADLY.format(python=sys.executable))
    program.chmod(0o755)
    go = hold_the_caller(monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", str(program))
        with pytest.raises(
            WorkerError, match=r"moves\.csv.*: 3 workers died on it, the last one was killed by SIGKILL"
        ):
            learn_files(path, NaiveBayes("gaussian"), MOVE, 2, 3_000, lambda rows, share: None)
    go.set()


def test_the_caller_does_without_processes_that_do_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_csv(table(300), tmp_path / "moves.csv")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    found = learn_files(path, NaiveBayes("gaussian"), MOVE, 2, 3_000)
    assert (found.rows, found.shards > 2) == (300, True)


def test_an_error_that_is_not_of_the_data_is_the_callers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_csv(table(300), tmp_path / "moves.csv")
    monkeypatch.setattr(ShardJob, "partial", lambda *args: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        learn_files(path, NaiveBayes("gaussian"), MOVE, 2, 3_000)
    assert workers() == []


def test_a_bad_row_is_named_or_left_out(tmp_path: Path) -> None:
    lines = write_csv(table(), tmp_path / "moves.csv").read_text().splitlines()
    good = one_pass(NaiveBayes("gaussian"), tmp_path / "moves.csv", **MOVE)
    cells = lines[2_500].split(",")
    broken = [*lines[:2_500], ",".join(["abc", *cells[1:]]), *lines[2_500:]]
    path = tmp_path / "broken.csv"
    path.write_text("\n".join(broken) + "\n")
    with pytest.raises(
        DataError, match=r"column 'x': .*broken.csv, in the part from byte .*: 'abc'"
    ) as error:
        learn_files(path, NaiveBayes("gaussian"), MOVE, 1, SMALL)
    byte = int(str(error.value).partition("from byte ")[2].partition(" on")[0].replace(",", ""))
    assert path.read_bytes()[:byte].count(b"\n") + (error.value.row or 0) == 2_500
    found = learn_files(path, NaiveBayes("gaussian"), {**MOVE, "policy": "skip"}, 1, SMALL)
    assert found.rejects == {"not a number": 1}
    alike(found.model, good, table().drop(["move"]))


def test_csv_with_quotes_is_not_cut_inside_a_cell(tmp_path: Path) -> None:
    lines = ["x,say,move"]
    for i in range(4_000):
        said = '"one,\nc1,two\n"' if i > 3_000 and i % 7 == 0 else "plain"
        lines.append(f"{i / 7},{said},c{i % 2}")
    path = tmp_path / "quoted.csv"
    path.write_text("\n".join(lines) + "\n")
    found = learn_files(path, NaiveBayes("gaussian"), MOVE, 1, 5_000)
    assert found.rows == 4_000
    assert found.shards > 10
    with open_stream(path, **MOVE) as source:
        rows = source.read(4_000)
    alike(
        found.model,
        one_pass(NaiveBayes("gaussian"), path, **MOVE),
        pa.table(dict(rows.columns)).slice(0, 500),
    )


@pytest.mark.parametrize("quotes", ["everywhere", "late", "odd"])
def test_csv_with_quotes_is_cut_where_records_end(tmp_path: Path, quotes: str) -> None:
    """Every row once and in order, whether quotes are met on opening or by a worker, or stand inside bare cells."""
    path, pad = (
        tmp_path / "quoted.csv",
        "." * 90,
    )  # cells are long, so that a few rows are more than is looked at on opening
    with path.open("w") as file:
        file.write("x,say,move\n")
        for i in range(12_000):
            late = quotes == "everywhere" or i > 10_500
            inner = "\n" if i % 5 == 0 else ""
            said = f'"{i}, ""so""{inner}{pad}"' if late else f"row number {i}{pad}"
            said = f'{i} 5" pipe{pad}' if quotes == "odd" and i % 3 == 0 else said
            file.write(f"{i},{said},c{i % 2}\n")
    assert path.stat().st_size > 1 << 20
    told = {**MOVE, "nominal": ["say"]}
    opening = Opening.like(str(path), told)
    shards = cut([str(path)], opening, 100_000, [str(path)])
    assert len(shards) > 8
    seen: list[float] = []
    for shard in shards:
        with opening.open(shard) as source:
            while (rows := source.read(777)) is not None:
                seen += rows.columns["x"].to_pylist()
    assert seen == list(range(12_000))
    found = learn_files(path, MajorityClass(), told, 1, 100_000)
    assert (found.rows, found.shards) == (12_000, len(shards))


def test_kinds_are_those_of_the_first_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("code,move\nx1,c0\n7,c1\n")
    (tmp_path / "b.csv").write_text("code,move\n7,c0\n8,c1\n")
    model = fit_files(tmp_path, NaiveBayes("gaussian"), jobs=1, **MOVE)
    assert sorted(model.schema_.vocabularies["code"].values) == ["7", "8", "x1"]


def test_labels_of_two_families_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,move\n0.5,1\n0.7,2\n")
    (tmp_path / "b.csv").write_text("x,move\n0.5,one\n0.7,two\n")
    with pytest.raises(DataError, match="numbers in some files and strings in others"):
        fit_files(tmp_path, NaiveBayes("gaussian"), jobs=1, **MOVE)
    model = fit_files(tmp_path, NaiveBayes("gaussian"), jobs=1, nominal=["move"], **MOVE)
    assert model.labels() == ["1", "2", "one", "two"]


def test_a_column_that_comes_late_gets_its_grid_before_the_shards_start(tmp_path: Path) -> None:
    early, late = table(4_000, 1), table(4_000, 2)
    early = early.set_column(0, "x", pa.nulls(4_000, pa.float64()))
    paths = [write_parquet(found, tmp_path / f"{i}.parquet") for i, found in enumerate((early, late))]
    found = fit_files(paths, AODE(), jobs=1, shard_bytes=SMALL, **MOVE)
    assert found.digest() == one_pass(AODE(), *paths, **MOVE).digest()


def test_without_the_first_pass_grids_would_not_agree(tmp_path: Path) -> None:
    path = write_parquet(table(), tmp_path / "moves.parquet")
    plan = Plan.of(path, NaiveBayes("gaussian"), MOVE, SMALL)
    blind = type(plan.job)(bayou.files.dumps(AODE()), plan.job.opening)
    total = merged(blind.partial(shard) for shard in plan.shards)
    assert total.error is not None
    assert "make shards with model.fresh() after the grid is frozen" in total.error["problem"]


def test_merge_is_associative_over_bytes(tmp_path: Path) -> None:
    path = write_parquet(table(), tmp_path / "moves.parquet")
    plan = Plan.of(path, AODE(), MOVE, SMALL)
    a, b, c, *_ = [plan.job.partial(shard) for shard in plan.shards]
    left, right = merged([merge(merge(a, b), c)]), merged([merge(a, merge(b, c))])
    digests = {bayou.files.loads(part.model).digest() for part in (left, right, merged([a, b, c]))}
    assert len(digests) == 1
    assert left.rows == right.rows > 0


def test_laws_decide_what_may_be_sharded(tmp_path: Path) -> None:
    path = write_parquet(table(), tmp_path / "moves.parquet")
    with pytest.raises(UnsupportedError, match=r"HoeffdingTree cannot be learned in shards: its law is none"):
        fit_files(path, bayou.HoeffdingTree(), jobs=1, **MOVE)
    with pytest.warns(AveragedWarning, match=r"WeightedNB learned in shards is not what one pass gives"):
        model = fit_files(path, bayou.WeightedNB(), jobs=1, shard_bytes=SMALL, **MOVE)
    assert model.predict_one({"x": 5.0}) == "c2"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        last = fit_files(path, NoChange(), jobs=1, shard_bytes=SMALL, **MOVE)  # files have an order
    assert last.predict_one({}) == table()["move"][-1].as_py()


def test_empty_and_missing_files_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no file to learn from"):
        fit_files(tmp_path, NaiveBayes("gaussian"), **MOVE)
    path = tmp_path / "none.parquet"
    WRITERS["parquet"](table().slice(0, 0), path)
    other = write_parquet(table(), tmp_path / "some.parquet")
    found = learn_files([path, other], AODE(), MOVE, 1, SMALL)
    assert found.rows == 3_000
    assert found.model.digest() == one_pass(AODE(), other, **MOVE).digest()
    assert Shard(str(path)).place == str(path)


def test_a_worker_imports_only_what_its_model_needs(tmp_path: Path) -> None:
    from bayou import classifiers, ensembles

    assert {*bayou.files.kinds().models} == {*classifiers.__all__, *ensembles.__all__}
    path = write_parquet(table(100), tmp_path / "moves.parquet")
    plan = Plan.of(path, NaiveBayes("gaussian"), MOVE, None)
    script = (
        "import sys; from bayou.lazy import Absent; sys.meta_path.insert(0, Absent('scipy', 'pandas'));"
        "from bayou.backends.worker import ShardJob; from bayou.backends.shards import Shard;"
        "part = ShardJob.of(sys.stdin.buffer.read()).partial(Shard(sys.argv[1])); assert b'NaiveBayes' in part;"
        "print([m for m in sys.modules if m.startswith('bayou.ensembles.') or m in ('scipy', 'pandas')])"
    )
    told = plan.job.to_bytes()
    command = [sys.executable, "-c", script, path]
    assert subprocess.run(command, input=told, check=True, capture_output=True).stdout == b"[]\n"
