"""Messages of a log as a stream of rows whose place is ours to keep."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import pyarrow as pa

from bayou.errors import DataError, OptionError, warn_user
from bayou.streams import limits
from bayou.streams.brokers.address import Address
from bayou.streams.brokers.decoding import Decoder, decoder_of, layout_of
from bayou.streams.brokers.inbox import Inbox, Turn
from bayou.streams.brokers.log import BrokerWarning, Log, Place, UnreachableError
from bayou.streams.chunked import quantity
from bayou.streams.layout import Layout
from bayou.streams.policy import Chunk, flush
from bayou.streams.read_options import ReadOptions
from bayou.streams.rejects import Reject, Rejects
from bayou.streams.source import ColumnType, Rows


@dataclass(frozen=True)
class _Spots:
    """Where the rows of a chunk come from."""

    turns: Sequence[Turn] = ()
    first: int = 0
    rejects: Sequence[Reject] = ()
    one_row: bool = True
    rows: int = 0

    def places(self, log: Log) -> list[Place]:
        places = [Place(turn.partition, log.name_of(end)) for turn in self.turns for end in turn.behind]
        if not self.one_row:
            return [Place(places[0].partition, places[0].offset, row) for row in range(self.rows)]
        left_out = {reject.record - self.first for reject in self.rejects if reject.raw is not None}
        return [place for i, place in enumerate(places) if i not in left_out]


class MessageSource:
    """A stream of messages, each decoded into a row (Arrow: rows) and learned in the order of its partition.

    The offsets of all partitions are its position: nothing is read from what a broker remembers. What is in the log
    already is read in a fixed order: 1,000 messages of each partition in turn. Behind that, messages are taken as they
    come. `read` returns no rows, rather than to wait, where nothing comes.
    """

    vocabulary = None
    classes = None

    def __init__(
        self,
        log: Log,
        address: Address,
        format: str,
        read_options: ReadOptions,
        *,
        delimiter: str = ",",
        names: Sequence[str] | None = None,
    ) -> None:
        self._log, self._address, self._read_options = log, address, read_options
        self._format, self._delimiter, self._names = format, delimiter, names
        self.rejects: Rejects = read_options.rejects()
        self._partitions = list(log.partitions)
        self._offsets = self._begin()
        self._firsts = dict(self._offsets)
        self._ends = {p: log.end(p) for p in self._partitions} if address.ends else None
        self._marks: dict[int, int] = {}  # checksums of the last messages, of a position gone to
        self._last: dict[int, bytes] = {}
        self._inbox = Inbox(log, address.shown(), self._offsets, self._ends, self._gone)
        self._row, self._record = 0, 0
        self._chunk: Chunk | None = None  # rows of a message that were not handed out yet
        self._taken = 0
        self._pending: list[Turn] = []  # the messages of the chunk
        self._fault: DataError | None = None
        self._spots, self._handed = _Spots(), (0, 0)
        self._asked = False
        self._layout: Layout | None = None
        self._decoder: Decoder | None = None

    # What is known about the stream ----------------------------------------------------------------------------

    @property
    def columns(self) -> Mapping[str, ColumnType]:
        """Kind of every column but the target."""
        return self._look().columns

    @property
    def target(self) -> str | None:
        """Name of the label."""
        return self._look().target

    @property
    def identity(self) -> Mapping[str, str | int]:
        """The log, and the columns that its first messages had: those messages may be gone one day."""
        return {
            "path": self._address.shown(),
            "format": self._format,
            "columns": self._look().text(),
            **self._log.identity(),
        }

    def recall(self, identity: Mapping[str, str | int]) -> None:
        """Take the columns from a checkpoint, rather than from messages."""
        self._know(Layout.of(identity.get("columns")))

    def wait_at_most(self, seconds: float) -> None:
        """How long `read` waits for a message before it returns no rows."""
        self._inbox.wait = seconds

    def line_of(self, row: int) -> int | None:
        """Messages have no lines."""
        return None

    def progress(self) -> float | None:
        """Share done, where the stream has an end and offsets count messages."""
        if self._ends is None or not self._log.counted:
            return None
        whole = sum(end - self._firsts[p] for p, end in self._ends.items())
        done = sum(self._offsets[p] - self._firsts[p] for p in self._partitions)
        return min(1.0, max(0.0, done / whole)) if whole > 0 else 1.0

    # Reading ---------------------------------------------------------------------------------------------------

    def read(self, n: int) -> Rows | None:
        """At most n rows: those that are there. No rows if none came in time, None at the end."""
        if n < 1:
            raise DataError("read needs a positive number of rows", value=n, remedy="read(1000)")
        self._look()
        while not self._left():
            if self._fault is not None:
                raise self._fault
            found = self._next(n)
            if found is None:
                return None
            if not found:
                return self._rows(Chunk(self._no_columns(), 0, 0), 0, 0)
        assert self._chunk is not None
        k = min(n, self._left())
        rows = self._rows(self._chunk, self._taken, k)
        self._handed = self._taken, k
        self._taken += k
        self._row += k
        if not self._left():
            self._finish()
        return rows

    def _next(self, n: int) -> bool | None:
        """Decode some messages into `_chunk`; False where none has come, None at the end."""
        assert self._decoder is not None
        turns = self._inbox.take(n if self._decoder.one_row else 1)
        if not turns:
            return None if self._inbox.ended else False
        values = turns[0].values if len(turns) == 1 else [value for turn in turns for value in turn.values]
        chunk = flush(self._decoder.draft(values), self._read_options.policy, self._record)
        if chunk.fault is not None:
            # Where a bad message stops the stream, the place is before it: it is met again, and nothing is passed over.
            whole = chunk.rows if self._decoder.one_row else 0
            bad, turns = self._inbox.give_back(turns, whole)
            self._fault = self._at(chunk.fault, bad.partition, bad.behind[0])
            chunk = Chunk(chunk.columns if whole else self._no_columns(), whole, whole)
        places = (
            [(turn.partition, offset) for turn in turns for offset in turn.behind] if chunk.rejects else []
        )
        chunk.rejects = [
            replace(
                reject,
                at=self._where(*places[reject.record - self._record if self._decoder.one_row else 0]),
            )
            for reject in chunk.rejects
        ]
        self._pending = turns
        self._spots = _Spots(turns, self._record, chunk.rejects, self._decoder.one_row, chunk.rows)
        self._chunk, self._taken = chunk, 0
        if not self._asked and chunk.rows and (target := self._look().target) is not None:
            self._asked, wrong = True, quantity(chunk.columns[target], target)
            if wrong is not None:
                raise wrong
        if not chunk.rows:
            self._finish()
        return True

    def _finish(self) -> None:
        """All rows of the chunk are handed out: what lies behind it is the place now."""
        chunk, self._chunk, self._taken = self._chunk, None, 0
        if chunk is None:
            return
        for reject in chunk.rejects:
            self.rejects.add(reject)
        self._record += chunk.records
        for turn in self._pending:
            self._offsets[turn.partition], self._last[turn.partition] = turn.behind[-1], turn.values[-1]
        self._pending = []

    def _gone(self, partition: int, here: int, first: int) -> None:
        """Messages that the broker dropped before they were read: an error, or counted and passed over."""
        many = f"{first - here:,} messages" if self._log.counted else "messages"
        problem = (
            f"{many} of partition {partition} of {self._address.shown()} are gone from the broker, unread"
        )
        if self._read_options.policy == "strict":
            raise DataError(
                problem, remedy='keep them longer; policy="skip" goes on with the oldest there is'
            )
        warn_user(problem, BrokerWarning)
        self.rejects.count("gone before it was read", first - here if self._log.counted else 1)
        if self._offsets[partition] == here:  # none of those before waits to be learned
            self._offsets[partition] = first
            self._marks.pop(partition, None)
            self._last.pop(partition, None)

    def offsets(self) -> dict[int, int]:
        """The offset behind the last message learned, by partition."""
        return dict(self._offsets)

    def lag(self) -> int | None:
        """Messages in the log that were not handed out yet; None where they are not counted, or nobody answers."""
        if not self._log.counted:
            return None
        try:
            return sum(max(0, self._log.end(p) - self._offsets[p]) for p in self._partitions)
        except UnreachableError:
            return None

    def places(self) -> list[Place]:
        """Where the rows handed out last stand in the log."""
        start, size = self._handed
        return self._spots.places(self._log)[start : start + size] if size else []

    # Places ----------------------------------------------------------------------------------------------------

    def position(self) -> Mapping[str, int]:
        """Where the next row comes from: an offset per partition, and how many rows of the next message are done."""
        here = {"row": self._row, "record": self._record, "taken": self._taken}
        here |= {"turn": self._inbox.turn, "taken in turn": self._inbox.taken_in_turn}
        here |= {f"offset {p}": offset for p, offset in self._offsets.items()}
        marks = self._marks | {p: zlib.crc32(value) for p, value in self._last.items()}
        here |= {f"mark {p}": mark for p, mark in marks.items()} if self._log.counted else {}
        here |= {f"end {p}": end for p, end in (self._ends or {}).items()}
        return here | self._log.facts(self._offsets) | self.rejects.position()

    def seek(self, position: Mapping[str, int]) -> None:
        """Go to a place that `position` gave, in this process or another."""
        known = [*("row", "record", "taken", "turn", "taken in turn")]
        known += ["rejected rows", "rejected cells", "dead letters"]
        known += [f"offset {p}" for p in self._partitions]
        known += [f"end {p}" for p in self._partitions if self._ends is not None]
        if any(not isinstance(position.get(key), int) or position[key] < 0 for key in known):
            raise DataError(
                "not a position of this stream", value=dict(position), remedy="pass what position() gave"
            )
        self._row, self._record = position["row"], position["record"]
        self._inbox.turn = position["turn"] % len(self._partitions)
        self._inbox.taken_in_turn = position["taken in turn"]
        self._offsets = {p: position[f"offset {p}"] for p in self._partitions}
        if self._ends is not None:
            self._ends = {p: position[f"end {p}"] for p in self._partitions}
        self._marks = {p: position[f"mark {p}"] for p in self._partitions if f"mark {p}" in position}
        self._last = {}
        self._chunk, self._taken, self._fault, self._pending = None, 0, None, []
        self._asked = self._asked or self._row > 0
        self._log.recall(position, self._offsets)
        self.rejects.seek(position)
        self._inbox.go_to(self._offsets, self._marks, self._ends)
        self._inbox.seek_log()
        if position["taken"]:
            self._skip(position["taken"])

    def commit(self) -> None:
        """Tell the broker how far the checkpoint just written has come. It is a hint: nothing is read from it."""
        self._log.commit(self._offsets)

    def close(self) -> None:
        """Let go of the connection."""
        self.rejects.close()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # Parts -----------------------------------------------------------------------------------------------------

    def _skip(self, taken: int) -> None:
        """Pass over rows of the next message that were handed out before."""
        self._look()
        while not self._left() and self._fault is None:
            before = self._inbox.taken_in_turn
            self._inbox.taken_in_turn = max(0, before - 1)  # the message was counted when it was taken
            if self._next(1) is None:
                break
            if not self._left():
                self._inbox.taken_in_turn = before
        if self._left() < taken:
            raise DataError("the stream does not reach this position", remedy="has it been replaced?")
        self._taken = taken

    def _left(self) -> int:
        return self._chunk.rows - self._taken if self._chunk is not None else 0

    def _rows(self, chunk: Chunk, start: int, k: int) -> Rows:
        columns = {name: column.slice(start, k) for name, column in chunk.columns.items()}
        target = self._look().target
        labels = columns.pop(target) if target is not None else None
        return Rows(self._row, columns, labels, None, k)

    def _no_columns(self) -> dict[str, pa.Array]:
        layout = self._look()
        names = [*layout.columns, *([layout.target] if layout.target is not None else [])]
        return {name: pa.array([], pa.string()) for name in names}

    def _where(self, partition: int, behind: int) -> str:
        return f"partition {partition}, offset {self._log.name_of(behind)}"

    def _at(self, fault: DataError, partition: int, behind: int) -> DataError:
        problem = f"{self._where(partition, behind)} of {self._address.shown()}: {fault.problem}"
        return DataError(problem, column=fault.column, value=fault.value, remedy=fault.remedy)

    def _begin(self) -> dict[int, int]:
        wish = self._address.options.get("from", "start")
        if wish == "start":
            return {p: self._log.first(p) for p in self._partitions}
        if wish == "end":
            return {p: self._log.end(p) for p in self._partitions}
        if not wish.isdigit() or not self._log.counted or len(self._partitions) != 1:
            raise OptionError("from= is start or end; or an offset, where one partition is read", value=wish)
        return dict.fromkeys(self._partitions, int(wish))

    def _know(self, layout: Layout) -> None:
        self._layout = layout
        self._decoder = decoder_of(self._format, layout, self._delimiter)

    def _look(self) -> Layout:
        """The columns: from a checkpoint, or else from the first messages there are, up to 1,000; waits for one."""
        if self._layout is not None:
            return self._layout
        share = -(-limits.SAMPLE // len(self._partitions))
        told = False
        while True:
            sample = self._inbox.sample(share)
            if sample:
                break
            if sample is not None:
                if self._ends is not None or self._log.over:
                    raise DataError(
                        f"{self._address.shown()} is empty", remedy="without until=end, it is waited for"
                    )
                if not told:
                    warn_user(
                        f"{self._address.shown()} is empty: waiting for its first message", BrokerWarning
                    )
                    told = True
            self._inbox.fetch()
        self._know(layout_of(self._format, sample, self._read_options, self._names, self._delimiter))
        return self._look()
