"""What every source promises: rows do not depend on read sizes, and seek continues bit for bit."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from tests.seeds import LONG
from tests.streams.drain import FORMATS, drain, records, write

from bayou.errors import DataError
from bayou.streams import limits, open_stream

pytestmark = pytest.mark.usefixtures("small_chunks")
PACKS = ["", ".gz", ".zst"]


@pytest.mark.parametrize("pack", PACKS)
@pytest.mark.parametrize("name", FORMATS)
def test_rows_do_not_depend_on_read_sizes(tmp_path: Path, name: str, pack: str) -> None:
    path = write(tmp_path, name, pack)
    with open_stream(path, **FORMATS[name]) as stream:
        whole = drain(stream, [10_000])
        assert stream.read(5) is None
        assert stream.progress() in (None, 1.0)
    assert len(whole) == 700
    assert [row[0] for row in whole] == list(range(700))
    for sizes in ([1], [7, 1, 300], [64]):
        with open_stream(path, **FORMATS[name]) as stream:
            assert drain(stream, sizes) == whole


@pytest.mark.parametrize("pack", PACKS)
@pytest.mark.parametrize("name", FORMATS)
def test_seek_continues_as_if_uninterrupted(tmp_path: Path, name: str, pack: str) -> None:
    path = write(tmp_path, name, pack)
    with open_stream(path, **FORMATS[name]) as stream:
        whole = drain(stream)
        end = stream.position()
    r = random.Random(name + pack)
    places = [0, 1, 699, 700, *(r.randrange(700) for _ in range(20 if LONG else 1))]
    for place in places:
        with open_stream(path, **FORMATS[name]) as stream:
            if place:
                stream.read(place)
            position = json.loads(json.dumps(stream.position()))
            identity = stream.identity
            ahead = stream.read(r.randrange(1, 300))
            stream.seek(position)  # back, in the same object
            assert drain(stream, [r.randrange(1, 50)]) == whole[place:]
            assert ahead is not None or place == 700
        with open_stream(path, **FORMATS[name]) as other:
            assert other.identity == identity
            other.seek(position)
            assert other.position() == position
            assert drain(other, [33]) == whole[place:]
            assert other.position() == end


@pytest.mark.parametrize("name", FORMATS)
def test_another_file_has_another_identity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(limits, "CHUNK", limits.LINE)
    with open_stream(write(tmp_path, name), **FORMATS[name]) as stream:
        before = stream.identity
    with open_stream(write(tmp_path, name, rows=records()[::-1]), **FORMATS[name]) as stream:
        assert stream.identity["path"] == before["path"]
        assert stream.identity["sha256 of head"] != before["sha256 of head"]


def test_a_truncated_file_does_not_reach_the_position(tmp_path: Path) -> None:
    path = write(tmp_path, "s.csv")
    with open_stream(path, target="y") as stream:
        stream.read(690)
        position = stream.position()
    path.write_bytes(path.read_bytes()[:3000])
    with open_stream(path, target="y") as stream, pytest.raises(DataError, match="replaced"):
        stream.seek(position)


@pytest.mark.parametrize("position", [{}, {"place": 3}, {"row": -1}, {"place": "x"}])
def test_only_positions_are_accepted(tmp_path: Path, position: dict[str, int]) -> None:
    with open_stream(write(tmp_path, "s.csv"), target="y") as stream:
        with pytest.raises(DataError, match="not a position"):
            stream.seek(position)
        with pytest.raises(DataError, match="positive"):
            stream.read(0)


def test_progress_grows_to_one(tmp_path: Path) -> None:
    with open_stream(write(tmp_path, "s.csv"), target="y") as stream:
        seen = []
        while stream.read(100) is not None:
            seen.append(stream.progress())
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert 0.0 < seen[0] < 0.7


def test_chunks_of_their_real_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CHUNK", limits.LINE)
    path = tmp_path / "a.csv"
    pad = "." * 80
    lines = [f'{i}.25,"cell, {i % 97}{pad}",{"xy"[i % 2]}' for i in range(30_000)]
    path.write_text("a,b,y\n" + "\n".join(lines))
    with open_stream(path, target="y") as stream:
        whole = drain(stream, [12_000])
    assert path.stat().st_size > 2.5 * limits.CHUNK
    assert [row[1] for row in whole] == [f"{i}.25" for i in range(30_000)]
    r = random.Random(8)
    for place in (r.randrange(30_000) for _ in range(4)):
        with open_stream(path, target="y") as stream:
            stream.read(place)
            position = stream.position()
        with open_stream(path, target="y") as stream:
            stream.seek(position)
            assert drain(stream, [17_000]) == whole[place:]
