"""A real Spark, on two local cores: one session for everything, since each starts a Java machine."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.backends.agreement import alike, covertype, quantiles_within_bound, texts
from tests.backends.tables import one_pass, table, write_csv, write_parquet
from tests.backends.test_cli import bayou

from bayou import (
    AODE,
    CountForest,
    EcocNB,
    HoeffdingTree,
    MultinomialNB,
    NaiveBayes,
    NoChange,
    WeightedNB,
    fit_files,
    load,
)
from bayou.backends import spark as on_spark
from bayou.backends.fold import AveragedWarning
from bayou.backends.spark import rows as on_rows
from bayou.backends.spark.streaming import BatchLearner
from bayou.errors import DataError, SchemaError, UnsupportedError
from bayou.persist.errors import CheckpointError

LONG = bool(os.environ.get("BAYOU_LONG"))
JAVA = shutil.which("java") or os.environ.get("JAVA_HOME")
MOVE = {"target": "move"}

pytestmark = [
    pytest.mark.skipif(not JAVA, reason="THERE IS NO JAVA HERE: nothing of the Spark back end was tested"),
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),  # sockets of py4j
]


@pytest.fixture(autouse=True)
def _own_environment() -> Iterator[None]:
    """The command line tells Spark's workers by the environment what to import; other tests start processes, too."""
    with mock.patch.dict(os.environ):
        yield


@contextlib.contextmanager
def session(home: Path, master: str, **more: str) -> Iterator[Any]:
    """A small Spark session; `local[2,4]` tries a failed task four times."""
    from pyspark.sql import SparkSession

    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    settings = {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "1g", "spark.driver.host": "127.0.0.1", "spark.local.dir": str(home / "scratch"),
        "spark.sql.warehouse.dir": str(home / "warehouse"), "spark.sql.codegen.wholeStage": "false",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC", **more,
    }  # fmt: skip
    builder = SparkSession.builder.master(master).appName("bayou tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    try:
        yield spark
    finally:
        spark.stop()


# -- what is checked, each with the session and a folder of its own --


def covertype_three_ways(spark: Any, home: Path) -> None:
    path = covertype(home / "covtype.parquet", None if LONG else 6_000)
    rows = pa.parquet.read_table(path)
    df = spark.createDataFrame(rows)
    cover = {"target": "Cover_Type"}
    for model in (
        NaiveBayes("gaussian"),
        AODE(),
        EcocNB(NaiveBayes("gaussian")),
        NaiveBayes(numeric="gk", bins="modl"),
    ):
        one = one_pass(type(model)(**model.get_params(deep=False)), path, **cover)
        pool = fit_files(path, model, jobs=1, shard_bytes=1 << 20 if LONG else 40_000, **cover)
        by_rows = on_spark.fit(df, model, **cover)
        assert one.law is by_rows.law
        for other in (pool, by_rows):
            if "gk" in repr(model):
                quantiles_within_bound(one, other)
            else:
                alike(one, other, rows.slice(0, 1_000).drop(["Cover_Type"]))
    by_paths = on_spark.fit_files(
        spark, path, AODE(), shard_bytes=1 << 20 if LONG else 40_000, fan_in=2, **cover
    )
    assert by_paths.digest() == one_pass(AODE(), path, **cover).digest()


def words_three_ways(spark: Any, home: Path) -> None:
    path = texts(home / "sms.parquet")
    told: dict[str, Any] = {"target": "label", "text": ["text"]}
    one = one_pass(MultinomialNB(), path, **told)
    pool = fit_files(path, MultinomialNB(), jobs=1, shard_bytes=50_000, **told)
    df = spark.createDataFrame(pa.parquet.read_table(path)).repartition(3)
    assert on_spark.fit(df, MultinomialNB(), **told).digest() == pool.digest() == one.digest()


def disjoint_skewed_and_empty_partitions(spark: Any, home: Path) -> None:
    whole = table()
    one = one_pass(AODE(), write_parquet(whole, home / "moves.parquet"), **MOVE)
    df = spark.createDataFrame(whole).repartition(6, "day")  # one value, one partition; some hold nothing
    sizes = df.rdd.glom().map(len).collect()
    assert 0 in sizes
    assert max(sizes) > 4 * min(size for size in sizes if size)
    found = on_spark.fit(df, one, fan_in=2, **MOVE)  # the frames of `one`; a tree of three levels
    assert found.digest() == one.digest()
    assert found.labels() == ["c0", "c1", "c2"]
    nothing = on_spark.fit(df.where("x > 1000"), NaiveBayes("gaussian"), **MOVE)
    assert not nothing.started


def a_forest_in_two_rounds(spark: Any, home: Path) -> None:
    """The trees of the first rows, counts of all; then trees grown on by the reservoirs of all, and counts on these."""
    whole = table(1_200)
    path, df = write_parquet(whole, home / "forest.parquet"), spark.createDataFrame(whole)
    forest = CountForest(trees=3, warm_up=200, combine="mean", reservoir=5_000)
    first = on_spark.fit(df.repartition(4), forest, **MOVE)
    assert first.engine.forest.frames_are_frozen
    assert first.engine.sample.w.sum() == 1_200
    nodes = len(first.engine.forest.attribute)
    second = on_spark.fit(df, first.grow(), fan_in=2, **MOVE)
    assert len(second.engine.forest.attribute) > nodes
    assert second.digest() == one_pass(first.fresh(), path, **MOVE).digest()


def a_bad_row_is_named_or_left_out(spark: Any, home: Path) -> None:
    whole = table(400)
    text = ["abc" if i == 350 else str(x) for i, x in enumerate(whole["x"].to_pylist())]
    df = spark.createDataFrame(whole.set_column(0, "x", pa.array(text)))
    with pytest.raises(DataError, match=r"row 150, column 'x': partition 1: not a number: 'abc'"):
        on_spark.fit(df, NaiveBayes("gaussian"), numeric=["x"], **MOVE)
    found = on_spark.fit(df, NaiveBayes("gaussian"), numeric=["x"], policy="skip", **MOVE)
    good = write_parquet(whole.filter(pa.array([i != 350 for i in range(400)])), home / "good.parquet")
    alike(found, one_pass(NaiveBayes("gaussian"), good, **MOVE), whole.drop(["move"]))
    with pytest.raises(SchemaError, match="there is no column 'way'"):
        on_spark.fit(df, NaiveBayes("gaussian"), target="way")
    with pytest.raises(DataError, match="without a target"):
        on_spark.fit(df, NaiveBayes("gaussian"), target="")


def a_worker_killed_in_mid_job(spark: Any, home: Path) -> None:
    whole = table(6_000)
    one = one_pass(AODE(), write_parquet(whole, home / "moves.parquet"), **MOVE)
    mark = home / "killed"

    def killed_once(batches: Any) -> Any:
        for i, batch in enumerate(batches):
            yield batch
            if i == 1 and not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)

    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "500")
    df = on_rows.mapped(spark.createDataFrame(whole), killed_once, spark.createDataFrame(whole).schema)
    assert on_spark.fit(df, one, **MOVE).digest() == one.digest()
    assert mark.exists()


def scores(spark: Any, home: Path) -> None:
    whole = table(1_000)
    model = one_pass(NaiveBayes("gaussian"), write_parquet(whole, home / "moves.parquet"), **MOVE)
    df = spark.createDataFrame(whole).withColumnRenamed("day", "prediction")
    other = whole.drop(["move", "day"])
    proba = model.proba(model.encode(other))
    found = on_spark.predict(df, model, probabilities=True).toArrow()
    assert found.column_names == [
        "x",
        "z",
        "prediction",
        "move",
        "prediction_",
        "probability",
        "probabilities",
    ]
    assert found["prediction_"].to_pylist() == [model.labels()[i] for i in proba.argmax(axis=1)]
    np.testing.assert_array_equal(np.array(found["probabilities"].to_pylist()), proba)
    np.testing.assert_array_equal(found["probability"].to_numpy(), proba.max(axis=1))
    judged = on_spark.evaluate(df, model, **MOVE)
    guess = np.array(found["prediction_"].to_pylist())
    assert judged.rows == 1_000
    assert judged.accuracy == np.mean(guess == np.array(whole["move"].to_pylist()))
    assert judged.confusion.counts.sum() == 1_000


def a_stream_exactly_once(spark: Any, home: Path) -> None:
    (home / "in").mkdir()
    parts = [write_parquet(table(1_000, seed), home / "in" / f"{seed}.parquet") for seed in range(3)]
    for seed, path in enumerate(parts):
        os.utime(path, (seed, seed))  # the order in which Spark takes them
    one = one_pass(AODE(), *parts, **MOVE)
    stream = (
        spark.readStream.schema("x double, z double, day string, move string")
        .option("maxFilesPerTrigger", 1)
        .parquet(str(home / "in"))
    )
    learned: list[int] = []
    step = BatchLearner.__call__

    def crash_behind_our_commit(self: BatchLearner, df: Any, batch: int) -> None:
        step(self, df, batch)
        learned.append(batch)
        if learned == [0, 1]:
            raise RuntimeError("killed between our commit and Spark's")

    now = {"availableNow": True}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BatchLearner, "__call__", crash_behind_our_commit)
        with pytest.raises(Exception, match="killed between our commit"):
            on_spark.learn_stream(stream, AODE(), home / "ck", trigger=now, **MOVE).awaitTermination()
        assert on_spark.streamed_model(home / "ck").position == 2_000
        on_spark.learn_stream(stream, AODE(), home / "ck", trigger=now, **MOVE).awaitTermination()
    assert learned == [0, 1, 1, 2]  # batch 1 was handed over again, and not learned again
    found = on_spark.streamed_model(home / "ck")
    assert found.position == 3_000
    assert found.digest() == one.digest()
    query = on_spark.predict(stream, found).writeStream.format("memory").queryName("scored")
    query.trigger(**now).start().awaitTermination()
    scored = spark.table("scored").toArrow()
    assert scored.num_rows == 3_000
    rows = scored.select(["x", "z", "day"])
    assert scored["prediction"].to_pylist() == list(found.predict(rows))
    shutil.rmtree(home / "ck" / "spark")
    with pytest.raises(CheckpointError, match="batches would be numbered from 0 again"):
        on_spark.learn_stream(stream, AODE(), home / "ck", trigger=now, **MOVE)


def laws_are_kept(spark: Any, home: Path) -> None:
    df = spark.createDataFrame(table(600))
    with pytest.raises(UnsupportedError, match="HoeffdingTree cannot be learned in shards: its law is none"):
        on_spark.fit(df, HoeffdingTree(), **MOVE)
    with pytest.raises(UnsupportedError, match="NoChange cannot be learned from a table without order"):
        on_spark.fit(df, NoChange(), **MOVE)
    with pytest.warns(AveragedWarning, match="WeightedNB learned in shards is not what one pass gives"):
        model = on_spark.fit(df, WeightedNB(), **MOVE)
    assert model.labels() == ["c0", "c1", "c2"]


def csv_by_its_path_and_as_a_table(spark: Any, home: Path) -> None:
    path = write_csv(table(), home / "moves.csv")
    one, aode = (one_pass(kind(), path, **MOVE) for kind in (NaiveBayes, AODE))
    assert on_spark.fit_files(spark, path, AODE(), shard_bytes=60_000, **MOVE).digest() == aode.digest()
    df = spark.read.csv(str(path), header=True, inferSchema=True)
    alike(on_spark.fit(df.repartition(3), NaiveBayes("gaussian"), **MOVE), one, table(500).drop(["move"]))
    lines = [f'{i / 7},"a,\nc{i % 3},b",c{i % 2}' if i > 900 else f"{i / 7},c,c{i % 2}" for i in range(1_000)]
    quoted = home / "quoted.csv"
    quoted.write_text("\n".join(["x,say,move", *lines]) + "\n")
    found = on_spark.fit_files(spark, quoted, AODE(), shard_bytes=8_000, **MOVE)
    assert found.digest() == one_pass(AODE(), quoted, **MOVE).digest()


def a_table_by_its_name(spark: Any, home: Path) -> None:
    """Comes last: the command stops the session."""
    spark.createDataFrame(table()).write.saveAsTable("moves")
    out = home / "m.bayou"
    told = bayou("learn", "moves", "-t", "move", "-m", "nb(gaussian)", "--engine", "spark", "--out", out)
    assert "moves: 3,000 rows" in told.output
    one = one_pass(NaiveBayes("gaussian"), write_parquet(table(), home / "moves.parquet"), **MOVE)
    alike(load(out), one, table(500).drop(["move"]))


CHECKS: list[Callable[[Any, Path], None]] = [
    covertype_three_ways,
    words_three_ways,
    disjoint_skewed_and_empty_partitions,
    a_forest_in_two_rounds,
    a_bad_row_is_named_or_left_out,
    a_worker_killed_in_mid_job,
    scores,
    a_stream_exactly_once,
    laws_are_kept,
    *([csv_by_its_path_and_as_a_table] if LONG else []),
    a_table_by_its_name,
]


def test_on_a_real_spark(tmp_path: Path, subtests: Any) -> None:
    with session(tmp_path, "local[2,4]") as spark:
        for check in CHECKS:
            home = tmp_path / check.__name__
            home.mkdir()
            with subtests.test(check.__name__):
                check(spark, home)


long = pytest.mark.skipif(not LONG, reason="starts Java machines of its own: make test-system")


@long
def test_an_executor_killed_in_mid_job(tmp_path: Path) -> None:
    whole = table(6_000)
    one = one_pass(AODE(), write_parquet(whole, tmp_path / "moves.parquet"), **MOVE)
    mark = tmp_path / "killed"

    def kills_its_executor_once(batches: Any) -> Any:
        for batch in batches:
            yield batch
            if not mark.exists():
                daemon = Path("/proc", str(os.getppid()), "stat").read_text()
                machine = Path("/proc", daemon.rpartition(")")[2].split()[1])
                assert b"CoarseGrainedExecutorBackend" in (machine / "cmdline").read_bytes()
                mark.touch()
                os.kill(int(machine.name), signal.SIGKILL)

    more = {"spark.sql.execution.arrow.maxRecordsPerBatch": "500", "spark.executor.memory": "512m"}
    with session(tmp_path, "local-cluster[2,1,768]", **more) as spark:
        df = spark.createDataFrame(whole).repartition(4)
        killing = on_rows.mapped(df, kills_its_executor_once, df.schema)
        assert on_spark.fit(killing, one, fan_in=2, **MOVE).digest() == one.digest()
    assert mark.exists()


SCRIPT = """
import os, sys
from pathlib import Path
from tests.backends.test_spark import BatchLearner, MOVE, on_spark, session
from bayou import AODE

home, last = Path(sys.argv[1]), int(sys.argv[2])
step = BatchLearner.__call__

def learned(self, df, batch):
    step(self, df, batch)
    if batch == last:
        os._exit(9)  # behind our commit, before Spark's

BatchLearner.__call__ = learned
with session(home / "spark", "local[2]") as spark:
    stream = spark.readStream.schema("x double, z double, day string, move string")
    stream = stream.option("maxFilesPerTrigger", 1).parquet(str(home / "in"))
    query = on_spark.learn_stream(stream, AODE(), home / "ck", trigger={"availableNow": True}, **MOVE)
    query.awaitTermination()
"""


@long
def test_a_driver_that_dies_between_the_two_commits(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "spark").mkdir()
    parts = [write_parquet(table(1_000, seed), tmp_path / "in" / f"{seed}.parquet") for seed in range(4)]
    for seed, path in enumerate(parts):
        os.utime(path, (seed, seed))
    codes = []
    for last in (1, 2, 99):
        command = [sys.executable, "-c", SCRIPT, str(tmp_path), str(last)]
        codes.append(subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True).returncode)
    assert codes == [9, 9, 0]
    found = on_spark.streamed_model(tmp_path / "ck")
    assert found.position == 4_000
    assert found.digest() == one_pass(AODE(), *parts, **MOVE).digest()
