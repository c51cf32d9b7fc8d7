"""What every broker must do: the same rows in the same order, from any place, however they are read."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.seeds import LONG
from tests.streams.brokers.parts import PARTS, messages, records, started

from bayou.errors import DataError
from bayou.persist.checkpoint import SourceChangedError, check_same_source
from bayou.streams import Source, open_stream
from bayou.streams.brokers import inbox, kafka, nats
from bayou.streams.brokers.address import Address
from bayou.streams.brokers.log import UnreachableError, no_collection

ROWS = 1_300


class Tail:
    """A file, as if it were a broker."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "payments.jsonl"
        self.path.touch()
        self.address = f"tail://{self.path}"

    def send(self, values: list[bytes]) -> None:
        with self.path.open("ab") as file:
            file.write(b"".join(value + b"\n" for value in values))

    def stop(self) -> None:
        pass


@pytest.fixture(scope="module", params=["tail", *PARTS])
def part(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("log")
    if request.param == "tail":
        tail = Tail(folder)
        tail.send(messages(ROWS))
        yield tail
        return
    with started(request.param, folder) as broker:
        broker.send(messages(ROWS))
        yield broker


@pytest.fixture(autouse=True)
def _short_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox, "TURN", 70)


def in_turns(rows: list[Any], partitions: int, turn: int) -> list[Any]:
    """Rows sent to partitions one after the other, as they are to be read: so many of each in turn."""
    logs = [rows[p::partitions] for p in range(partitions)]
    out: list[Any] = []
    while any(logs):
        for p in range(partitions):
            out += logs[p][:turn]
            logs[p] = logs[p][turn:]
    return out


def expected(part: Any) -> list[Any]:
    partitions = getattr(part, "partitions", 1)
    return in_turns(records(ROWS), partitions, 70) if partitions > 1 else records(ROWS)


def drained(stream: Source, size: int, most: int = 10**9) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    while len(out) < most and (rows := stream.read(min(size, most - len(out)))) is not None:
        assert rows.start == stream.position()["row"] - len(rows)
        columns = {name: column.to_pylist() for name, column in rows.columns.items()}
        assert rows.labels is not None
        columns["fraud"] = rows.labels.to_pylist()
        out += [{name: column[i] for name, column in columns.items()} for i in range(len(rows))]
    return out


@pytest.mark.parametrize("size", [1, 64, 10_000])
def test_rows_come_once_in_the_order_of_the_log(part: Any, size: int) -> None:
    with open_stream(part.address + "?until=end", target="fraud") as stream:
        assert drained(stream, size, ROWS if size > 1 else 90) == expected(part)[: ROWS if size > 1 else 90]


@pytest.mark.parametrize("place", [0, 1, 69, 70, 71, 999, ROWS - 1, ROWS] if LONG else [0, 70, 999, ROWS])
def test_another_process_goes_on_from_a_position(part: Any, place: int) -> None:
    with open_stream(part.address + "?until=end", target="fraud") as stream:
        assert len(drained(stream, 50, place)) == place
        position, identity = stream.position(), stream.identity
    assert all(type(number) is int for number in position.values())
    position = json.loads(json.dumps(position))
    with open_stream(part.address + "?until=end", target="fraud") as again:
        again.recall(identity)  # type: ignore[attr-defined] # a stream of messages
        check_same_source(identity, again.identity)
        again.seek(position)
        assert drained(again, 64) == expected(part)[place:]


def test_a_stream_that_is_followed_waits_without_an_end(part: Any) -> None:
    """What comes in later is read; where nothing comes, `read` returns no rows, so that signals are heard."""
    with open_stream(part.address, target="fraud") as stream:
        assert drained(stream, 500, ROWS) == expected(part)
        nothing = stream.read(10)
        assert nothing is not None
        assert len(nothing) == 0
        assert stream.progress() is None


def test_what_is_delivered_again_is_dropped_by_its_offset(part: Any) -> None:
    """A broker that repeats itself: every batch comes twice."""
    with open_stream(part.address + "?until=end", target="fraud") as stream:
        log = stream._log  # type: ignore[attr-defined]
        fetch, repeated = log.fetch, 0

        def twice(*args: Any) -> list[Any]:
            nonlocal repeated
            batches = fetch(*args)
            repeated += len(batches)
            return batches + batches

        log.fetch = twice
        assert drained(stream, 100) == expected(part)
        assert repeated > 0


def test_a_log_made_anew_is_noticed(part: Any, tmp_path: Path) -> None:
    with open_stream(part.address + "?until=end", target="fraud") as stream:
        drained(stream, 100, 300)
        position, identity = dict(stream.position()), stream.identity
    with open_stream(part.address + "?until=end", target="fraud") as other:
        other.recall(identity)  # type: ignore[attr-defined]
        if any(name.startswith("mark") for name in position):
            other.seek(position | {name: 7 for name in position if name.startswith("mark")})
            with pytest.raises(DataError, match="is not the one that was learned"):
                drained(other, 100)
            beyond = {name: 10**6 for name in position if name.startswith("offset")}
            with pytest.raises(DataError, match="ends before the offset"):
                other.seek(position | beyond)
        elif "inode" in position:
            with pytest.raises(DataError, match="is gone, shorter or rewritten"):
                other.seek(position | {"head": 7, "offset 0": position["offset 0"] + 1})
        else:
            with pytest.raises(DataError, match="ends before the entry"):
                other.seek(position | {"offset 0": position["offset 0"] << 4})
    with pytest.raises(SourceChangedError, match="columns"):
        check_same_source(identity, {**identity, "columns": ""})


def test_where_to_begin_and_what_a_group_is_told(tmp_path: Path) -> None:
    """Offsets are committed as a hint that tools see; a stream begins where its own address says, whatever they are."""
    with started("kafka", tmp_path) as broker:
        broker.send(messages(400))
        address = broker.address + "?until=end&group=fraud&partitions=2"
        with open_stream(address, target="fraud") as stream:
            assert drained(stream, 30, 30) == records(400)[2::4][:30]
            stream.commit()  # type: ignore[attr-defined]
            kafka = stream._log._consumer  # type: ignore[attr-defined]
            place = stream._log._place(2, 0)  # type: ignore[attr-defined]
            assert _eventually(lambda: kafka.committed([place], timeout=5)[0].offset == 30)
        with open_stream(address, target="fraud") as again:
            assert len(drained(again, 100)) == 100, "the hint was taken for a place"
        with open_stream(address + "&from=90", target="fraud") as later:
            assert drained(later, 100) == records(400)[2::4][90:]
    with pytest.raises(UnreachableError, match="Connection refused"):
        open_stream("redis://127.0.0.1:1/payments", target="fraud")


def _eventually(condition: Any) -> bool:
    until = time.monotonic() + 120
    while not condition() and time.monotonic() < until:
        time.sleep(0.05)
    return bool(condition())


@pytest.mark.parametrize("lost", [False, True])
def test_messages_of_nats_that_are_on_the_way_are_not_the_end(tmp_path: Path, lost: bool) -> None:
    """The server has sent all there is, and nothing has arrived in time: it comes later, or has to be sent again."""
    with started("nats", tmp_path) as broker:
        broker.send(messages(ROWS))
        with open_stream(broker.address + "?until=end", target="fraud") as stream:
            log = stream._log  # type: ignore[attr-defined]
            pull, held = log._pull, []

            async def late(most: int, seconds: float) -> list[Any]:
                if not held:
                    while len(held) < ROWS:
                        held.extend(await pull(most, seconds))
                    return []
                log._pull = pull
                return await pull(most, seconds) if lost else held

            log._pull = late
            assert drained(stream, 500) == records(ROWS)
            assert held


@dataclass
class _At:
    """A message of Kafka, as far as its offset goes."""

    place: int

    def offset(self) -> int:
        return self.place


@pytest.mark.parametrize("offsets", [[7], [7, 8, 9], [7, 9], [7, 8, 11, 12]])
def test_offsets_behind_messages_of_kafka(offsets: list[int]) -> None:
    """Where a topic was compacted or a transaction aborted, some are missing."""
    assert list(kafka._behind([_At(offset) for offset in offsets])) == [offset + 1 for offset in offsets]


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_left_as_it_was(enabled: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with no_collection():
            assert not gc.isenabled()
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_a_client_of_nats_that_waits_for_ever_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its queue may be full of messages for a server that died; then neither an answer nor an error comes."""
    with started("nats", tmp_path) as part:
        part.send(messages(5))
        log = nats.NatsLog(Address.of(part.address))
        log.seek({0: 1})
        before = log._client
        with monkeypatch.context() as patched:
            patched.setattr(nats, "LONGEST", 0.1)
            with pytest.raises(UnreachableError, match="TimeoutError"):
                log._request(asyncio.sleep(3_600))
        assert log.end(0) == 6
        assert log._client is not before, "it stays with a connection that does not answer"
        assert [value for batch in log.fetch(10, 1.0, [0]) for value in batch.values] == messages(5)
        log.close()
