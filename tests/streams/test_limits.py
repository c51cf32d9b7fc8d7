"""Bounds: refused within a second and in bounded memory, whatever the file claims to be."""

from __future__ import annotations

import gzip
import itertools
import json
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.streams.drain import drain

from bayou.errors import DataError
from bayou.streams import open_stream

MIB = 1 << 20


def refused(path: Path, match: str, **options: str) -> None:
    def attempt() -> None:
        with open_stream(path, **options) as stream:  # type: ignore[arg-type]
            drain(stream)

    start = time.process_time()
    with pytest.raises(DataError, match=match):
        attempt()
    assert time.process_time() - start < 1.0, "a refusal must not take a second"


@pytest.mark.parametrize("policy", ["strict", "skip", "missing"])
@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("a.csv", b"x,y\n1,a\n"),
        ("a.arff", b"@relation r\n@attribute x real\n@attribute y {a}\n@data\n1,a\n"),
        ("a.jsonl", b'{"x": 1, "y": "a"}\n'),
        ("a.txt", b"a\tx\n"),
        ("a.libsvm", b"1 1:1\n"),
    ],
)
def test_a_line_over_a_mebibyte(tmp_path: Path, name: str, head: bytes, policy: str) -> None:
    path = tmp_path / name
    path.write_bytes(head + b"1" * (MIB + 10) + b",a\n" + b"1,a\n")
    target = "" if name in ("a.txt", "a.libsvm") else "y"
    refused(path, "longer than 1 MiB", target=target, policy=policy)


def test_a_line_of_nearly_a_mebibyte_is_fine(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"n,y\n" + b"1,a\n" * 3 + b"q" * (MIB - 3) + b",a\n2,b")
    with open_stream(path, target="y", nominal=["n"]) as stream:
        assert len(drain(stream, [2])) == 5


def test_a_quote_that_is_never_closed(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'n,y\na,b\n"open,c\n' + b"d,e\n" * MIB)
    refused(path, "is a quote left open", target="y")


def test_too_many_columns(tmp_path: Path) -> None:
    names = [f"c{i}" for i in range(10_001)]
    (tmp_path / "a.csv").write_text(",".join(names) + "\n" + ",".join("1" * 10_001) + "\n")
    refused(tmp_path / "a.csv", "more than 10,000 columns", target="c0")
    (tmp_path / "a.jsonl").write_text(json.dumps(dict.fromkeys(names, 1)) + "\n")
    refused(tmp_path / "a.jsonl", "more than 10,000 columns", target="c0")
    (tmp_path / "a.arff").write_text("".join(f"@attribute {name} real\n" for name in names) + "@data\n")
    refused(tmp_path / "a.arff", "more than 10,000 attributes")
    (tmp_path / "a.libsvm").write_text("1 9999999:1\n")
    refused(tmp_path / "a.libsvm", "more than 10,000 columns")


def test_ten_thousand_columns_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(",".join(f"c{i}" for i in range(10_000)) + "\n" + ",".join("1" * 10_000) + "\n")
    with open_stream(path, target="c0") as stream:
        assert len(stream.columns) == 9_999


def test_deep_json(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    good = '{"x": 1, "y": 2}\n'
    path.write_text(good + '{"x": ' + "[" * 500_000 + "\n" + good)
    refused(path, "nested deeper than 32", target="y")
    path.write_text(good * 3 + '{"x": "' + "[" * 500 + '", "y": 2}\n')
    refused(path, "not a number", target="y")  # brackets inside a text do not nest
    path.write_text(good * 3 + '{"x": ' + '{"a":' * 31 + "1" + "}" * 31 + ', "y": 2}\n')
    refused(path, "column 'x': not a number", target="y")


def bomb(path: Path, codec: str, block: bytes, times: int, head: bytes = b"") -> None:
    if codec == "gzip":
        squeeze = zlib.compressobj(1, zlib.DEFLATED, 31)
        with path.open("wb") as out:
            out.write(squeeze.compress(head))
            for _ in range(times):
                out.write(squeeze.compress(block))
            out.write(squeeze.flush())
    else:
        with pa.CompressedOutputStream(str(path), codec) as out:
            out.write(head)
            for _ in range(times):
                out.write(block)


@pytest.fixture(scope="module")
def bombs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bombs")
    for codec, suffix in (("gzip", "gz"), ("zstd", "zst")):
        bomb(folder / f"lines.csv.{suffix}", codec, b"1,y\n" * (MIB // 4), 100, b"x,y\n")
        bomb(folder / f"endless.csv.{suffix}", codec, b"0" * MIB, 100)
        bomb(folder / f"table.parquet.{suffix}", codec, b"\0" * MIB, 100)
    return folder


# Each file is read by a process forked from one that has all imported. The peak is that of the process itself: what
# getrusage reports starts from the parent's memory.
_READ = """
import os, sys, time
from bayou.streams import open_stream
import pyarrow.csv, pyarrow.parquet
from bayou.errors import DataError
from bayou.streams.plain_cells import PlainCells
pyarrow.array([1])  # Arrow's first array imports pandas, where that is installed
PlainCells(["x"], {"x": None}, ",", []).read(b"1" + bytes([10]))  # and the first chunk Numba

def high():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

def read(path):
    before, start, longest, told = high(), time.process_time(), 0.0, ""
    try:
        with open_stream(path, target="y", policy="missing") as stream:
            while True:
                longest, start = max(longest, time.process_time() - start), time.process_time()
                if stream.read(8192) is None:
                    break
    except DataError as error:
        told = error
    print((high() - before) // 1024, high(), max(longest, time.process_time() - start), told, flush=True)

for path in sys.argv[1:]:
    if os.fork() == 0:
        try:
            read(path)
        finally:
            os._exit(0)
    os.wait()
"""


def _read(*paths: Path) -> list[tuple[int, int, float, str]]:
    """Of each file: by how many MiB the process grew, its peak in KiB, the longest call, and the refusal."""
    command = [sys.executable, "-c", _READ, *map(str, paths)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = [line.split(" ", 3) for line in told.splitlines()]
    assert len(found) == len(paths), told
    return [(int(grown), int(peak), float(longest), why) for grown, peak, longest, why in found]


@pytest.fixture(scope="module")
def refusals(bombs: Path) -> dict[str, tuple[int, int, float, str]]:
    paths = sorted(bombs.iterdir())
    return dict(zip([path.name for path in paths], _read(*paths), strict=True))


@pytest.mark.parametrize("suffix", ["gz", "zst"])
@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("lines.csv", "unpacks to more than 100 times"),
        ("endless.csv", "longer than 1 MiB"),
        ("table.parquet", "unpacks to more than 100 times"),
    ],
)
def test_compression_bombs(
    refusals: dict[str, tuple[int, int, float, str]], name: str, match: str, suffix: str
) -> None:
    grown, _, seconds, message = refusals[f"{name}.{suffix}"]
    assert match in message
    assert grown < 64
    assert seconds < 1.0  # of the longest call: opening, a read, or the refusal


def test_honest_compression_passes(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"x,y\n" + b"1.5,a\n" * 300_000))  # ratio 500, but small
    with open_stream(path, target="y") as stream:
        total = 0
        while (rows := stream.read(50_000)) is not None:
            total += len(rows)
    assert total == 300_000


@pytest.mark.parametrize("cut", [3, 10, 500, -9, -1])
def test_truncated_and_damaged_archives(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.csv.gz"
    whole = gzip.compress(b"x,y\n" + b"".join(b"%d,a\n" % (i * i) for i in range(5000)))
    path.write_bytes(whole[:cut])
    refused(path, "damaged|empty", target="y")
    path.write_bytes(whole + b"trailing rubbish")
    refused(path, "damaged", target="y")


LONG_FILES = ("a.csv", "a.csv.gz", "a.arff", "a.jsonl", "a.parquet")


@pytest.fixture(scope="module")
def peaks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, int]]:
    """Of each kind of file, the memory that a short and a long one need in KiB."""
    folder = tmp_path_factory.mktemp("long")
    paths = [(folder / f"short-{name}", folder / f"long-{name}") for name in LONG_FILES]
    for short, long in paths:
        _long(short, 60_000)
        _long(long, 360_000)
    found = _read(*itertools.chain(*paths))
    assert all(why == "" for *_, why in found)
    needed = [peak for _, peak, *_ in found]
    return dict(zip(LONG_FILES, zip(needed[::2], needed[1::2], strict=True), strict=True))


@pytest.mark.parametrize("name", LONG_FILES)
def test_a_file_six_times_longer_needs_no_more_memory(peaks: dict[str, tuple[int, int]], name: str) -> None:
    """The shorter one has several chunks, too: one is parsed ahead, and when depends on the machine."""
    short, long = peaks[name]
    assert long < 1.1 * short


def _long(path: Path, rows: int) -> None:
    if path.suffix == ".parquet":
        column = pa.array([float(i % 1000) for i in range(rows)])
        names = [f"x{i}" for i in range(8)]
        table = pa.Table.from_arrays([column] * 8 + [pa.array(["a"] * rows)], [*names, "y"])
        pa.parquet.write_table(table, path)
        return
    cells = ",".join(f"{i}.125" for i in range(12))
    head, row = ",".join(f"x{i}" for i in range(12)) + ",y\n", f"{cells},a\n"
    if path.suffix == ".arff":
        head = "".join(f"@attribute x{i} real\n" for i in range(12)) + "@attribute y {a}\n@data\n"
    if path.suffix == ".jsonl":
        head, row, rows = "", json.dumps({f"x{i}": i for i in range(12)} | {"y": "a"}) + "\n", rows // 2
    data = (head + row * rows).encode()
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)
