"""Strict, skip, missing: what is handed out, what is counted, what goes to the dead-letter file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.streams.drain import drain, outcome

from bayou.errors import DataError
from bayou.streams import open_stream

BAD = {10: "oops,a,1", 11: "1,a", 57: "1,a,1,1", 58: "oops,a,bad", 199: "1,a"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    lines = [BAD.get(i, f"{i}.5,{'abc'[i % 3]},{i % 2}") for i in range(200)]
    path = tmp_path / "a.csv"
    path.write_text("x,n,y\n" + "\n".join(lines) + "\n")
    return path


@pytest.fixture(params=[200, 2_000, 1 << 20])
def chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("bayou.streams.limits.CHUNK", request.param)
    return int(request.param)


def test_strict_hands_out_what_comes_before(path: Path, chunk: int) -> None:
    for sizes in ([1], [7], [1000]):
        rows, error, counts = outcome(path, sizes, target="y", numeric=["x", "y"])
        assert len(rows) == 10
        assert error.startswith(
            "line 12, row 10, column 'x': not a number: 'oops' (declare it: nominal=['x']"
        )
        assert counts == {}
    with open_stream(path, target="y", numeric=["x"]) as stream:
        assert len(stream.read(1000) or ()) == 10
        for _ in range(2):
            with pytest.raises(DataError, match="row 10"):
                stream.read(1)


def test_skip_counts_and_keeps_the_rows(path: Path, chunk: int, tmp_path: Path) -> None:
    letters = tmp_path / "dead.jsonl"
    for sizes in ([1], [13], [1000]):
        options = {"target": "y", "numeric": ["x", "y"], "policy": "skip", "dead_letters": letters}
        rows, error, counts = outcome(path, sizes, **options)
        assert (len(rows), error) == (195, "")
        assert [row[0] for row in rows] == list(range(195))
        assert rows[10][1] == "12.5"
        assert counts == {"not a number": 2, "short row": 2, "long row": 1}
        found = [json.loads(line) for line in letters.read_text().splitlines()]
        assert [letter["row"] for letter in found] == list(BAD)
        assert [letter["raw"] for letter in found] == list(BAD.values())
        assert found[0] == {
            "row": 10,
            "column": "x",
            "reason": "not a number",
            "value": "oops",
            "raw": "oops,a,1",
        }


def test_missing_keeps_the_rows_whose_cells_can_be_told_apart(path: Path, chunk: int) -> None:
    rows, error, counts = outcome(path, [9], target="y", numeric=["x", "y"], policy="missing")
    assert (len(rows), error) == (197, "")
    assert rows[10][1:4] == ("None", "'a'", 1.0)
    assert rows[56][1:4] == ("None", "'a'", None)
    assert sum(counts.values()) == 6


def test_rejects_depend_on_the_rows_read_only(path: Path, chunk: int) -> None:
    for n, rejected in [(10, 0), (11, 2), (50, 2), (55, 2), (56, 4), (195, 4)]:
        for sizes in ([n], [1] * n):
            with open_stream(path, target="y", numeric=["x", "y"], policy="skip") as stream:
                for size in sizes:
                    stream.read(size)
                assert stream.rejects.rows == rejected
    with open_stream(path, target="y", numeric=["x", "y"], policy="skip") as stream:
        drain(stream)
        assert stream.rejects.rows == 5


@pytest.mark.parametrize("place", [5, 10, 11, 56, 60, 195])
def test_resuming_neither_loses_nor_doubles_rejects(
    path: Path, chunk: int, tmp_path: Path, place: int
) -> None:
    letters = tmp_path / "dead.jsonl"
    options = {"target": "y", "numeric": ["x", "y"], "policy": "skip", "dead_letters": letters}
    with open_stream(path, **options) as stream:
        whole, counts = drain(stream), dict(stream.rejects.counts)
    wanted = letters.read_bytes()
    with open_stream(path, **options) as stream:
        stream.read(place)
        position = json.loads(json.dumps(stream.position()))
        stream.read(40)  # written behind the position, then lost in a crash
    with open_stream(path, **options) as stream:
        stream.seek(position)
        assert drain(stream, [3]) == whole[place:]
        assert stream.rejects.counts == counts
    assert letters.read_bytes() == wanted


def test_dead_letters_that_do_not_match_the_position(path: Path, tmp_path: Path) -> None:
    letters = tmp_path / "dead.jsonl"
    options = {"target": "y", "numeric": ["x", "y"], "policy": "skip", "dead_letters": letters}
    with open_stream(path, **options) as stream:
        stream.read(100)
        position = stream.position()
    letters.write_text("")
    with open_stream(path, **options) as stream, pytest.raises(DataError, match="fewer dead letters"):
        stream.seek(position)
    with open_stream(path, **(options | {"dead_letters": tmp_path / "no" / "d"})) as stream:
        with pytest.raises(DataError, match="dead-letter file"):
            stream.read(100)


def test_dead_letters_never_overwrite_the_stream(path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(DataError, match="overwrite the stream"):
        open_stream(path, target="y", policy="skip", dead_letters=path.parent / "." / path.name)
    assert path.read_bytes() == before
