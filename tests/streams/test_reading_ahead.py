"""The next chunk is parsed in another thread: nobody can tell, but by the clock."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bayou import open_stream
from bayou.errors import DataError
from bayou.threads import limited

ROWS = 60_000  # some three chunks


def written(path: Path, bad: int | None = None) -> Path:
    x = np.random.default_rng(0).normal(size=(ROWS, 3))
    lines = [f"{a:.15f},{b:.15f},{c:.15f},{'uv'[i % 2]}" for i, (a, b, c) in enumerate(x.tolist())]
    if bad is not None:
        lines[bad] = "1,2,many,u"
    path.write_text("a,b,c,class\n" + "\n".join(lines) + "\n")
    return path


def read_through(path: Path, threads: int, size: int = 7_001):
    """Rows, positions and progress after every read, and the error at the end, if there is one."""
    found, problem = [], None
    with limited(threads), open_stream(path, target="class") as source:
        try:
            while (rows := source.read(size)) is not None:
                values = [rows.columns[name].to_pylist() for name in "abc"]
                found.append(
                    (rows.start, values, rows.labels.to_pylist(), source.position(), source.progress())
                )
        except DataError as error:
            problem = str(error)
    return found, problem


def test_as_without_another_thread(tmp_path):
    path = written(tmp_path / "rows.csv")
    ahead, alone = read_through(path, 2), read_through(path, 1)
    assert ahead == alone
    assert sum(len(labels) for _, _, labels, _, _ in ahead[0]) == ROWS


def test_an_error_comes_when_its_row_does(tmp_path):
    path = written(tmp_path / "rows.csv", bad=50_000)
    (ahead, problem), (alone, same) = read_through(path, 2), read_through(path, 1)
    assert "many" in problem
    assert (ahead, problem) == (alone, same)


def test_seek_forgets_what_was_read_ahead(tmp_path):
    path = written(tmp_path / "rows.csv")
    with limited(2), open_stream(path, target="class") as source:
        source.read(30_000)
        here = source.position()
        behind = source.read(10).columns["a"].to_pylist()
        source.read(25_000)
        source.seek(here)
        assert source.read(10).columns["a"].to_pylist() == behind


@pytest.mark.parametrize("size", [1, 20_000])
def test_a_stream_can_be_closed_at_any_time(tmp_path, size):
    with limited(2), open_stream(written(tmp_path / "rows.csv"), target="class") as source:
        source.read(size)
