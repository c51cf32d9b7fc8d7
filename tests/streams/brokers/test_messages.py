"""Messages as rows: formats, what does not fit, and what a person sees on the command line."""

from __future__ import annotations

import json
import signal
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pytest
from tests.cli.invoke import bayou

from bayou.cli import meter
from bayou.errors import DataError, OptionError
from bayou.streams.brokers.address import Address
from bayou.streams.brokers.log import Batch, BrokerWarning, Log, UnreachableError
from bayou.streams.brokers.source import MessageSource
from bayou.streams.read_options import ReadOptions


class Memory(Log):
    """A log in memory whose broker can be gone."""

    counted = True

    def __init__(self, logs: list[list[bytes]], dropped: int = 0) -> None:
        self.logs, self.partitions, self.dropped, self.gone = logs, range(len(logs)), dropped, 0
        self.committed: list[Mapping[int, int]] = []
        self.places = dict.fromkeys(self.partitions, 0)
        self.tried = 0

    def identity(self) -> Mapping[str, str | int]:
        return {}

    def first(self, partition: int) -> int:
        return self.dropped

    def end(self, partition: int) -> int:
        return len(self.logs[partition])

    def seek(self, offsets: Mapping[int, int]) -> None:
        self.places = dict(offsets)

    def fetch(self, most: int, seconds: float, only: Collection[int]) -> list[Batch]:
        if self.gone:
            self.gone -= 1
            self.tried += 1
            raise UnreachableError("connection refused")
        found = []
        for p in only:
            here = self.places[p]
            values = self.logs[p][here : here + 7]
            self.places[p] += len(values)
            if values:
                found.append(Batch(p, values, [here + i + 1 for i in range(len(values))]))
        return found

    def at_end(self, partition: int) -> bool:
        return self.places[partition] >= len(self.logs[partition])

    def facts(self, offsets: Mapping[int, int]) -> dict[str, int]:
        return {}

    def recall(self, facts: Mapping[str, int], offsets: Mapping[int, int]) -> None:
        pass

    def commit(self, offsets: Mapping[int, int]) -> None:
        self.committed.append(dict(offsets))

    def close(self) -> None:
        pass


def opened(
    log: Memory, format: str = "json", names: Sequence[str] | None = None, **options: Any
) -> MessageSource:
    address = Address.of("kafka://host/topic?until=end")
    return MessageSource(log, address, format, ReadOptions(target="y", **options), names=names)


def drained(stream: MessageSource, size: int = 3) -> list[Any]:
    out: list[Any] = []
    while (rows := stream.read(size)) is not None:
        assert len(rows) <= size
        columns = [column.to_pylist() for column in rows.columns.values()]
        assert rows.labels is not None
        out += zip(*columns, rows.labels.to_pylist(), strict=True)
    return out


def arrow(rows: list[dict[str, Any]]) -> bytes:
    batch = pa.RecordBatch.from_pylist(rows)
    sink = pa.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


ROWS = [(float(i), "ab"[i % 2], "yn"[i % 3 == 0]) for i in range(20)]
FORMATS: dict[str, list[bytes]] = {
    "json": [json.dumps({"x": x, "s": s, "y": y}, indent=i % 2 or None).encode() for i, (x, s, y) in enumerate(ROWS)],
    "csv": [f'{x},"{s}",{y}\r\n'.encode() if i % 4 else f"{x},{s},{y}".encode() for i, (x, s, y) in enumerate(ROWS)],
    "arrow": [arrow([{"x": x, "s": s, "y": y} for x, s, y in ROWS[lo : lo + 5]]) for lo in range(0, 20, 5)],
}  # fmt: skip


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("size", [1, 3, 100])
def test_formats_give_the_same_rows(format: str, size: int) -> None:
    with opened(Memory([FORMATS[format]]), format, ["x", "s", "y"]) as stream:
        assert drained(stream, size) == ROWS


@pytest.mark.parametrize("taken", range(0, 20, 3))
def test_a_position_may_lie_inside_a_message(taken: int) -> None:
    log = Memory([FORMATS["arrow"][:2], FORMATS["arrow"][2:]])
    with opened(log, "arrow") as stream:
        whole = drained(stream)
    with opened(log, "arrow") as stream:
        before = 0
        while before < taken:
            rows = stream.read(taken - before)
            assert rows is not None
            before += len(rows)
        position = stream.position()
    with opened(log, "arrow") as again:
        again.seek(position)
        assert drained(again) == whole[taken:]
        assert sorted(whole) == sorted(ROWS)


BAD = {
    "json": (b'{"x": "word", "s": "a", "y": "y"}', "not a number"),
    "csv": (b"1,2\n3,4", "not one row"),
    "arrow": (b"junk", "not an Arrow IPC stream"),
}


@pytest.mark.parametrize("format", FORMATS)
def test_a_bad_message_stops_the_stream_or_is_put_aside(format: str, tmp_path: Path) -> None:
    bad, reason = BAD[format]
    messages = [*FORMATS[format][:3], bad, *FORMATS[format][3:]]
    names = ["x", "s", "y"]
    with opened(Memory([messages]), format, names) as stream:
        with pytest.raises(DataError, match=f"offset 3 of kafka://host:9092/topic: {reason}"):
            drained(stream)
        assert stream.position()["offset 0"] == 3, "it is met again, not passed over"
    letters = tmp_path / "letters.jsonl"
    with opened(Memory([messages]), format, names, policy="skip", dead_letters=letters) as stream:
        assert drained(stream) == ROWS
        assert stream.rejects.rows == 1
        stream.position()
        (letter,) = map(json.loads, letters.read_text().splitlines())
        assert letter["at"] == "partition 0, offset 3"
        assert letter["reason"].startswith(reason)


def test_a_broker_that_is_gone_is_told_about_once_and_tried_again_after_growing_pauses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("bayou.streams.brokers.inbox.PAUSES", (0.01, 0.04))
    monkeypatch.setattr("bayou.streams.brokers.inbox.time.sleep", slept.append)
    log = Memory([FORMATS["json"]])
    with opened(log) as stream:
        rows = stream.read(7)
        assert rows is not None
        log.gone = 4
        with pytest.warns(BrokerWarning) as said:
            assert drained(stream) == ROWS[7:]
    assert log.tried == 4
    gone, back = (str(each.message) for each in said)
    assert gone.startswith("kafka://host:9092/topic does not answer since ")
    assert back.startswith("kafka://host:9092/topic answers again, at ")
    assert slept
    assert max(slept) > 0.02, "pauses do not grow"


def test_messages_gone_before_they_were_read_are_counted_or_refused() -> None:
    log = Memory([FORMATS["json"]])
    with opened(log) as stream:
        stream.read(2)
        position = stream.position()
    log.dropped = 5
    with (
        opened(log) as strict,
        pytest.raises(DataError, match=r"3 messages .* are gone from the broker, unread"),
    ):
        strict.seek(position)
    with opened(log, policy="skip") as lax:
        with pytest.warns(BrokerWarning, match="are gone"):
            lax.seek(position)
        assert drained(lax) == ROWS[5:]
        assert lax.rejects.counts == {"gone before it was read": 3}


def test_csv_needs_names_and_an_empty_log_with_an_end_is_refused() -> None:
    with opened(Memory([[b"1,2"]]), "csv") as stream, pytest.raises(OptionError, match="columns=a,b,c"):
        stream.read(1)
    with opened(Memory([[]])) as stream, pytest.raises(DataError, match="is empty"):
        stream.read(1)


def test_commands_take_an_address_where_they_take_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    rows = [json.dumps({"x": x, "s": s, "y": y}) for x, s, y in ROWS * 20]
    path.write_text("\n".join(rows) + "\n")
    bayou("learn", path, "-t", "y", "-o", tmp_path / "file.bayou")
    address = f"tail://{path}?until=end"
    bayou("learn", address, "-t", "y", "-o", tmp_path / "log.bayou")
    assert (tmp_path / "log.bayou").read_bytes() == (tmp_path / "file.bayou").read_bytes()
    assert "tail:///" in bayou("evaluate", address, "-t", "y").stdout
    assert "majority" in bayou("compare", f"tail://{path}", "-t", "y", "-m", "nb,majority").stdout
    assert (
        "400 rows scored"
        in bayou("predict", tmp_path / "log.bayou", address, "-o", tmp_path / "p.csv").stderr
    )
    said = bayou("learn", address, "-t", "y", "-o", tmp_path / "x", "--jobs", 2, code=2).stderr
    assert "a stream of messages is learned alone" in said
    with monkeypatch.context() as patched:
        patched.setattr(meter.Meter, "update", lambda *a, **k: signal.raise_signal(signal.SIGTERM))
        live = [
            "learn",
            f"tail://{path}",
            "-t",
            "y",
            "-o",
            tmp_path / "live.bayou",
            "--checkpoint",
            tmp_path / "ck",
        ]
        stopped = bayou(*live)  # being stopped is how it ends
        assert "going on after 400 rows" in bayou("resume", tmp_path / "ck").stderr
    assert "goes on" in stopped.stderr
    assert (tmp_path / "live.bayou").exists()
