"""Errors name the line of the file, which header, blank lines, remarks and cells with line ends have moved."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from bayou.backends.pool import learn_files
from bayou.classifiers import MajorityClass
from bayou.errors import DataError
from bayou.streams import Source, limits, open_stream

LINES = {
    "csv": b'x,n,y\n1,a,p\n\n2,"b\nb",q\n3,c,p\noops,d,q\n',
    "crlf.csv": b'x,n,y\r\n1,a,p\r\n\r\n2,"b\r\nb",q\r\n3,c,p\r\noops,d,q\r\n',
    "cr.csv": b"x,n,y\r1,a,p\r2,b,q\r3,c,p\r4,c,p\r4,c,p\roops,d,q\r",
    "arff": b"@relation r\n@attribute x numeric\n@attribute y {p,q}\n@data\n1,p\n% remark\noops,q\n",
    "jsonl": b'{"x": 1, "y": "p"}\n\n{"x": 2, "y": "q"}\n{"x": 3, "y": "q"}\n\n\n{"x": "oops", "y": "q"}\n',
    "libsvm": b"p 1:1\nq 1:2\n\np 1:4\np 1:4\np 1:4\nq 1:oops\n",
}


def read_on(stream: Source, size: int) -> None:
    while stream.read(size) is not None:
        pass


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("packed", [False, True])
def test_the_line_is_the_one_an_editor_shows(tmp_path: Path, name: str, packed: bool) -> None:
    path = tmp_path / f"a.{name}{'.gz' * packed}"
    path.write_bytes(gzip.compress(LINES[name]) if packed else LINES[name])
    target: dict[str, Any] = {} if name in ("arff", "libsvm") else {"target": "y"}
    refused = pytest.raises(DataError, match=r"^line 7, row \d, column .*: not a number")
    with open_stream(path, **target) as stream, refused as caught:
        read_on(stream, 2)
    assert caught.value.line == 7


def _long(path: Path) -> int:
    """A file of several chunks with one bad cell; the number of its line."""
    rows = [f"{i},{'pq'[i % 2]}" for i in range(300_000)]
    rows[250_000] = "oops,p"
    path.write_text("x,y\n\n" + "\n".join(rows) + "\n")
    return 250_003


def test_lines_are_counted_over_chunks_and_after_a_jump(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    line = _long(path)
    assert path.stat().st_size > 2 * limits.CHUNK
    with open_stream(path, target="y") as stream:
        stream.read(200_000)
        place = stream.position()
        with pytest.raises(DataError, match=f"^line {line}, row 250000"):
            read_on(stream, 10_000)
    with open_stream(path, target="y") as stream:
        stream.seek(place)
        with pytest.raises(DataError, match=f"^line {line}, row 250000"):
            read_on(stream, 10_000)


def test_shards_name_the_line_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    line = _long(path)
    with pytest.raises(DataError, match=f"line {line}, ") as caught:
        learn_files(path, MajorityClass(), {"target": "y"}, 1, 1 << 20)
    assert caught.value.line == line
