"""Processes that are started run what is installed, never what lies in the current folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.backends.tables import table, write_csv

from bayou.cli import engines

HOSTILE = "open({mark!r}, 'a').write('run'); raise SystemExit(3)"


def _hostile(folder: Path) -> Path:
    """A folder with modules that leave a mark when somebody imports them."""
    mark = folder / "mark"
    for name in ("numba", "socket", "pyarrow", "json"):
        (folder / f"{name}.py").write_text(HOSTILE.format(mark=str(mark)))
    return mark


def _run(code: str, folder: Path, *args: object) -> subprocess.CompletedProcess[str]:
    """The program lies elsewhere, as the `bayou` command does: only what it starts could look into the folder."""
    script = folder / "elsewhere" / "program.py"
    script.parent.mkdir()
    script.write_text(code)
    known = {**os.environ, "PYTHONPATH": str(Path(engines.__file__).parents[2])}
    known.pop("PYTHONSAFEPATH", None)
    command = [sys.executable, str(script), *map(str, args)]
    return subprocess.run(
        command, cwd=folder, env=known, capture_output=True, text=True, timeout=300, check=False
    )


def test_workers_of_the_pool(tmp_path: Path) -> None:
    path = write_csv(table(3_000), tmp_path / "moves.csv")
    mark = _hostile(tmp_path)
    # The caller waits for the process to have learned some rows, so that one that died would be noticed.
    code = (
        "import sys, threading; from bayou.backends import pool, worker\n"
        "learn, go, model = worker.ShardJob.partial, threading.Event(), __import__('bayou').NaiveBayes()\n"
        "def waiting(job, shard, heard):\n"
        "    while not go.wait(0.01): heard(0)\n"
        "    return learn(job, shard, heard)\n"
        "worker.ShardJob.partial = waiting\n"
        "begun = lambda rows, share: go.set() if rows else None\n"
        "found = pool.learn_files(sys.argv[1], model, {'target': 'move'}, 2, 20_000, begun)\n"
        "print(found.rows, found.deaths)"
    )
    done = _run(code, tmp_path, path)
    assert not mark.exists()
    assert done.stdout.split() == ["3000", "0"], done.stderr


def test_processes_that_compile(tmp_path: Path) -> None:
    mark = _hostile(tmp_path)
    code = (
        "from bayou.kernels import outcomes, sums, warming\n"
        "few = [('outcomes.heaviest', outcomes.heaviest), ('sums.row_sum', sums.row_sum)]\n"
        "warming.all_kernels = lambda: iter(few)\n"
        "if __name__ == '__main__': print(warming.compile_all(jobs=2)[0])"
    )
    done = _run(code, tmp_path)
    assert not mark.exists()
    assert done.stdout == "2\n", done.stderr


def test_workers_of_spark_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Builder:
        told: dict[str, str] = {}  # noqa: RUF012 - of this one test

        def appName(self, name: str) -> Builder:  # noqa: N802 - of Spark
            return self

        def config(self, key: str, value: str) -> Builder:
            self.told[key] = value
            return self

        def master(self, url: str) -> Builder:
            self.told["master"] = url
            return self

        def getOrCreate(self) -> dict[str, str]:  # noqa: N802 - of Spark
            return self.told | {name: os.environ[name] for name in ("PYTHONSAFEPATH", "PYSPARK_PYTHON")}

    for name in ("PYTHONSAFEPATH", "PYSPARK_PYTHON"):
        monkeypatch.setenv(name, "")  # so that it is put back
        monkeypatch.delenv(name)
    told = engines._session(Builder(), "local[2]")
    assert told["spark.executorEnv.PYTHONSAFEPATH"] == told["PYTHONSAFEPATH"] == "1"
    assert (told["PYSPARK_PYTHON"], told["master"]) == (sys.executable, "local[2]")
