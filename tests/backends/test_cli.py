"""`bayou learn --jobs` and `--engine spark`, as a person types it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.backends.agreement import alike
from tests.backends.tables import one_pass, table, write_csv, write_parquet
from typer.testing import CliRunner

from bayou import AODE, NaiveBayes, load
from bayou.cli.app import app

LONG = bool(os.environ.get("BAYOU_LONG"))


def bayou(*args: object, code: int = 0) -> Any:
    result = CliRunner().invoke(app, [str(a) for a in args])
    assert result.exit_code == code, result.output
    return result


def test_learn_in_two_processes(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    paths = [write_csv(table(500, seed), folder / f"{seed}.csv") for seed in range(2)]
    out = tmp_path / "m.bayou"
    told = bayou("learn", folder, "--target", "move", "--model", "aode", "--jobs", 2, "--out", out, "--json")
    assert json.loads(told.stdout)["rows"] == 1_000
    assert load(out).digest() == one_pass(AODE(), *paths, target="move").digest()


def test_several_files_a_folder_and_a_pattern_are_the_same_files(tmp_path: Path) -> None:
    """A shell hands `day-*.csv` over as several arguments; between quotes it comes as it stands."""
    folder = tmp_path / "in"
    folder.mkdir()
    paths = [write_csv(table(200, seed), folder / f"day-{seed}.csv") for seed in range(2)]
    out = tmp_path / "m.bayou"
    digests = set()
    for files in (paths, [folder], [f"{folder}/"], [folder / "day-*.csv"]):
        told = bayou("learn", *files, "--target", "move", "--out", out)
        assert "day-" in told.output or "in: 400 rows" in told.output
        digests.add(load(out).digest())
    assert len(digests) == 1


def test_what_does_not_go_with_shards_is_refused(tmp_path: Path) -> None:
    path = write_csv(table(50), tmp_path / "moves.csv")
    learn = ("learn", path, "--target", "move", "--out", tmp_path / "m.bayou", "--jobs", 2)
    assert "--rows does not go with several files, --jobs" in bayou(*learn, "--rows", 10, code=2).output
    assert "--checkpoint does not go with" in bayou(*learn, "--checkpoint", tmp_path / "ck", code=2).output
    assert "its law is none" in bayou(*learn, "--model", "tree", code=1).output
    assert "standard input" in bayou("learn", "-", "--out", tmp_path / "m.bayou", "--jobs", 2, code=2).output


SETTINGS = """
spark.ui.enabled false
spark.driver.host 127.0.0.1
spark.sql.catalogImplementation hive
spark.sql.warehouse.dir {home}/warehouse
spark.hadoop.javax.jdo.option.ConnectionURL jdbc:derby:;databaseName={home}/tables;create=true
"""
STORE = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").getOrCreate()
spark.sql("create database shop")
spark.read.parquet(sys.argv[1]).write.saveAsTable("shop.moves")
spark.stop()
"""


@pytest.mark.skipif(not LONG, reason="starts Java machines of its own: make test-system")
@pytest.mark.skipif(not shutil.which("java"), reason="THERE IS NO JAVA HERE")
def test_learn_with_spark_from_files_and_from_tables_that_others_made(tmp_path: Path) -> None:
    """What a person types, in processes of their own, with a catalog that outlives them."""
    path, out = write_parquet(table(), tmp_path / "moves.parquet"), tmp_path / "m.bayou"
    comma = write_csv(table(), tmp_path / "moves.csv")
    (tmp_path / "spark-defaults.conf").write_text(SETTINGS.format(home=tmp_path))
    known = {**os.environ, "SPARK_CONF_DIR": str(tmp_path), "SPARK_LOCAL_IP": "127.0.0.1"}

    def run(*command: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", *map(str, command)],
            env=known,
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )

    def learn(name: object, *options: object) -> subprocess.CompletedProcess[str]:
        spark = ("-t", "move", "--engine", "spark", "--master", "local[2]", "--out", out)
        return run("-c", "from bayou.cli import main; main()", "learn", name, *spark, *options)

    stored = run("-c", STORE, path)
    assert stored.returncode == 0, stored.stderr[-2_000:]
    one, rows = one_pass(NaiveBayes(), path, target="move"), table(500).drop(["move"])
    (tmp_path / "numba.py").write_text("raise SystemExit(3)")  # a worker that looks here would end
    for name in (path, comma, "shop.moves"):
        done = learn(name)
        assert done.returncode == 0, done.stderr[-2_000:]
        assert ": 3,000 rows" in done.stderr
        alike(load(out), one, rows)
    unknown = learn("shop.nothing")
    assert unknown.returncode == 2
    assert "shop.nothing is neither a file nor a table that Spark knows" in unknown.stderr
    ordered = learn("shop.moves", "--model", "no-change")
    assert ordered.returncode == 1
    assert "cannot be learned from a table without order" in ordered.stderr
