"""Files that grow: whole lines only, through rotation, and truncation is noticed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bayou.errors import DataError, OptionError
from bayou.streams import Source, open_stream
from bayou.streams.brokers.log import BrokerWarning

CSV = "amount,shop,fraud\n"


def lines(first: int, n: int) -> str:
    return "".join(f"{i}.5,{'ab'[i % 2]},{'yes' if i % 3 == 0 else 'no'}\n" for i in range(first, first + n))


def amounts(stream: Source, tries: int = 3) -> list[float]:
    """What there is, until nothing has come for a while."""
    out: list[float] = []
    while tries and (rows := stream.read(50)) is not None:
        tries -= not len(rows)
        out += rows.columns["amount"].to_pylist()
    return out


def wanted(first: int, n: int) -> list[float]:
    return [i + 0.5 for i in range(first, first + n)]


def reopened(address: str, stream: Source, **options: Any) -> Source:
    position, identity = stream.position(), stream.identity
    stream.close()
    again = open_stream(address, target="fraud", **options)
    again.recall(identity)  # type: ignore[attr-defined]
    again.seek(position)
    return again


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(CSV + lines(0, 10))
    return path


def test_half_a_line_waits_for_its_end(path: Path) -> None:
    with open_stream(f"tail://{path}", target="fraud") as stream:
        assert amounts(stream) == wanted(0, 10)
        with path.open("a") as file:
            file.write("10.5,a")
            file.flush()
            assert amounts(stream, 1) == []
            file.write(",no\n11.5,")
            file.flush()
            assert amounts(stream, 1) == wanted(10, 1)
            file.write('"a\n' + 'b",no\n')  # a line end inside quotes ends no record
            file.flush()
            assert amounts(stream, 1) == wanted(11, 1)


def test_rotation_is_followed_and_nothing_of_the_old_file_is_lost(path: Path) -> None:
    with open_stream(f"tail://{path}", target="fraud") as stream:
        assert amounts(stream) == wanted(0, 10)
        old = path.open("a")
        path.rename(path.with_name("log.csv.1"))
        assert amounts(stream, 1) == []
        path.write_text(CSV + lines(12, 3))
        old.write(lines(10, 2))  # written by someone who still has the old file open
        old.close()
        assert amounts(stream) == wanted(10, 5)


def test_a_process_that_was_away_finds_the_rotated_files(path: Path) -> None:
    address = f"tail://{path}"
    stream = open_stream(address, target="fraud")
    rows = stream.read(4)
    assert rows is not None
    with path.open("a") as file:
        file.write(lines(10, 2))
    path.rename(path.with_name("log.csv.2"))
    middle = path.with_name("log.csv.1")
    middle.write_text(CSV + lines(12, 2))
    path.write_text(CSV + lines(14, 2))
    for name, second in ((path.with_name("log.csv.2"), 1), (middle, 2), (path, 3)):
        os.utime(name, (second, second))
    with reopened(address, stream) as again:
        assert amounts(again) == wanted(4, 12)
        # and from the last of them, too
        with reopened(address, again) as last:
            assert amounts(last, 1) == []
    gone = open_stream(address, target="fraud")
    assert amounts(gone, 1)
    path.write_text(CSV + lines(50, 1))
    with pytest.raises(DataError, match="is gone, shorter or rewritten"):
        reopened(address, gone)


def test_truncation_is_noticed(path: Path) -> None:
    address = f"tail://{path}"
    with open_stream(address, target="fraud") as stream:
        assert amounts(stream) == wanted(0, 10)
        path.write_text(CSV + lines(20, 1))
        with pytest.raises(DataError, match="it was truncated"):
            amounts(stream)
    path.write_text(CSV + lines(0, 3))
    with open_stream(address, target="fraud", policy="skip") as stream:
        assert amounts(stream) == wanted(0, 3)
        path.write_text(CSV + lines(20, 30))  # longer than before, but not the same
        with pytest.warns(BrokerWarning, match="it was truncated"):
            assert amounts(stream) == wanted(20, 30)


def test_files_of_a_pattern_are_read_in_order_of_their_names(tmp_path: Path) -> None:
    def line(i: int) -> str:
        return f'{{"amount": {i}.5, "fraud": "no"}}\n'

    address = f"tail://{tmp_path}/*.jsonl"
    (tmp_path / "2.jsonl").write_text(line(1) + line(2)[:-1])  # its last line has no end, and never will
    (tmp_path / "1.jsonl").write_text(line(0))
    stream = open_stream(address, target="fraud")
    assert amounts(stream, 1) == wanted(0, 2)
    (tmp_path / "3.jsonl").write_text(line(3))
    with reopened(address, stream) as again:
        assert amounts(again) == wanted(2, 2)
        with (tmp_path / "3.jsonl").open("a") as file:
            file.write(line(4))
        assert amounts(again) == wanted(4, 1)
    with open_stream(address + "?until=end", target="fraud") as ended:
        assert amounts(ended) == wanted(0, 5)
        assert ended.read(1) is None


def test_a_file_with_another_header_is_refused(path: Path) -> None:
    with open_stream(f"tail://{path}", target="fraud") as stream:
        assert amounts(stream, 1) == wanted(0, 10)
        path.rename(path.with_name("log.csv.1"))
        path.write_text("amount,shop,place,fraud\n1,a,b,no\n")
        with pytest.raises(DataError, match="header"):
            amounts(stream)


def test_standard_input_line_by_line(tmp_path: Path) -> None:
    program = (
        "from bayou.streams import open_stream\n"
        "with open_stream('tail://-?format=csv', target='fraud') as s:\n"
        "    while (rows := s.read(9)) is not None:\n"
        "        if len(rows): print(rows.columns['amount'].to_pylist(), flush=True)\n"
        "    print(s.position()['row'])\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(CSV + lines(0, 1))
        child.stdin.flush()
        assert child.stdout.readline() == "[0.5]\n"  # before standard input ends
        child.stdin.write(lines(1, 1)[:-1])
        child.stdin.close()
        assert child.stdout.read() == "[1.5]\n2\n"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tail:///nowhere/x.csv", "there is no folder /nowhere"),
        ("tail://x.log", "cannot tell the format"),
        ("kafka://host", "kafka://HOST:9092/TOPIC"),
        ("redis://me:secret@host/key", "would be kept in checkpoints"),
        ("nats://host/a?speed=9", "knows no speed="),
        ("nats://host/a?until=noon", "until= is end"),
        ("http://host/a.csv", "kafka:// nats:// redis:// tail://"),
    ],
)
def test_addresses_that_cannot_be_meant(address: str, said: str) -> None:
    with pytest.raises((OptionError, DataError), match=said):
        open_stream(address, target="fraud")
