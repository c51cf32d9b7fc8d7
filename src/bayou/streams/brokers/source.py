"""The messages of a log as a stream of rows, whose position is kept in checkpoints, not by the broker."""

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
from bayou.streams.chunked import quantity_error
from bayou.streams.layout import Layout
from bayou.streams.policy import Chunk, flush
from bayou.streams.read_options import ReadOptions
from bayou.streams.rejects import Reject, Rejects
from bayou.streams.source import ColumnType, Rows


@dataclass(frozen=True)
class _Origins:
    """The messages that the rows of a chunk come from."""

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
    """A stream of messages, each decoded into a row (Arrow: rows), in the order of its partition.

    The offsets of all partitions are its position; offsets that a broker stores are not used. Messages that are already
    in the log are read in a fixed order: 1,000 of each partition in turn. After that, messages are taken as they
    arrive. `read` returns no rows, instead of waiting, if none arrive.
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
        self._marks: dict[int, int] = {}  # checksums of the last messages, from a position
        self._last: dict[int, bytes] = {}
        self._inbox = Inbox(log, address.shown(), self._offsets, self._ends, self._gone)
        self._row, self._record = 0, 0
        self._chunk: Chunk | None = None  # decoded rows, of which `_taken` have been returned
        self._taken = 0
        self._pending: list[Turn] = []  # the messages of the chunk
        self._fault: DataError | None = None
        self._origins, self._last_slice = _Origins(), (0, 0)
        self._target_checked = False
        self._layout: Layout | None = None
        self._decoder: Decoder | None = None

    # Columns and identity --------------------------------------------------------------------------------------

    @property
    def columns(self) -> Mapping[str, ColumnType]:
        """Kind of every column but the target."""
        return self._known_layout().columns

    @property
    def target(self) -> str | None:
        """Name of the label."""
        return self._known_layout().target

    @property
    def identity(self) -> Mapping[str, str | int]:
        """The identity of the log, and its columns, since the first messages may be deleted later."""
        return {
            "path": self._address.shown(),
            "format": self._format,
            "columns": self._known_layout().text(),
            **self._log.identity(),
        }

    def recall(self, identity: Mapping[str, str | int]) -> None:
        """Take the columns from a checkpoint's identity, instead of from the first messages."""
        self._set_layout(Layout.of(identity.get("columns")))

    def wait_at_most(self, seconds: float) -> None:
        """Set how long `read` waits for a message before it returns no rows."""
        self._inbox.wait = seconds

    def line_of(self, row: int) -> int | None:
        """None: messages have no lines."""
        return None

    def progress(self) -> float | None:
        """Share of the messages that have been read, if the stream has an end and offsets count messages."""
        if self._ends is None or not self._log.counted:
            return None
        total = sum(end - self._firsts[p] for p, end in self._ends.items())
        done = sum(self._offsets[p] - self._firsts[p] for p in self._partitions)
        return min(1.0, max(0.0, done / total)) if total > 0 else 1.0

    # Reading ---------------------------------------------------------------------------------------------------

    def read(self, n: int) -> Rows | None:
        """At most n rows, those that are available. No rows if none arrive in time, None at the end."""
        if n < 1:
            raise DataError("read needs a positive number of rows", value=n, remedy="read(1000)")
        self._known_layout()
        while not self._left():
            if self._fault is not None:
                raise self._fault
            decoded = self._next(n)
            if decoded is None:
                return None
            if not decoded:
                return self._rows(Chunk(self._no_columns(), 0, 0), 0, 0)
        assert self._chunk is not None
        k = min(n, self._left())
        rows = self._rows(self._chunk, self._taken, k)
        self._last_slice = self._taken, k
        self._taken += k
        self._row += k
        if not self._left():
            self._finish()
        return rows

    def _next(self, n: int) -> bool | None:
        """Decode up to n messages into `_chunk`; returns False if none arrive, None at the end."""
        assert self._decoder is not None
        turns = self._inbox.take(n if self._decoder.one_row else 1)
        if not turns:
            return None if self._inbox.ended else False
        values = turns[0].values if len(turns) == 1 else [value for turn in turns for value in turn.values]
        chunk = flush(self._decoder.draft(values), self._read_options.policy, self._record)
        if chunk.fault is not None:
            # A bad message that stops the stream is not passed: the position is before it, and nothing is skipped.
            accepted = chunk.rows if self._decoder.one_row else 0
            bad, turns = self._inbox.give_back(turns, accepted)
            self._fault = self._at(chunk.fault, bad.partition, bad.behind[0])
            chunk = Chunk(chunk.columns if accepted else self._no_columns(), accepted, accepted)
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
        self._origins = _Origins(turns, self._record, chunk.rejects, self._decoder.one_row, chunk.rows)
        self._chunk, self._taken = chunk, 0
        if not self._target_checked and chunk.rows and (target := self._known_layout().target) is not None:
            self._target_checked, error = True, quantity_error(chunk.columns[target], target)
            if error is not None:
                raise error
        if not chunk.rows:
            self._finish()
        return True

    def _finish(self) -> None:
        """Move the position past the chunk, whose rows have all been returned, and count its rejects."""
        chunk, self._chunk, self._taken = self._chunk, None, 0
        if chunk is None:
            return
        for reject in chunk.rejects:
            self.rejects.add(reject)
        self._record += chunk.records
        for turn in self._pending:
            self._offsets[turn.partition], self._last[turn.partition] = turn.behind[-1], turn.values[-1]
        self._pending = []

    def _gone(self, partition: int, wanted: int, first: int) -> None:
        """Handle messages that the broker deleted unread: an error, or a warning, and they are counted as rejects."""
        count = f"{first - wanted:,} messages" if self._log.counted else "messages"
        problem = (
            f"{count} of partition {partition} of {self._address.shown()} are gone from the broker, unread"
        )
        if self._read_options.policy == "strict":
            raise DataError(
                problem, remedy='keep them longer; policy="skip" goes on with the oldest there is'
            )
        warn_user(problem, BrokerWarning)
        self.rejects.count("gone before it was read", first - wanted if self._log.counted else 1)
        if self._offsets[partition] == wanted:  # no message before them waits to be decoded
            self._offsets[partition] = first
            self._marks.pop(partition, None)
            self._last.pop(partition, None)

    def offsets(self) -> dict[int, int]:
        """The offset after the last message that was read, by partition."""
        return dict(self._offsets)

    def lag(self) -> int | None:
        """Messages in the log that have not been read yet; None if not counted, or if the broker is unreachable."""
        if not self._log.counted:
            return None
        try:
            return sum(max(0, self._log.end(p) - self._offsets[p]) for p in self._partitions)
        except UnreachableError:
            return None

    def places(self) -> list[Place]:
        """The places in the log of the rows returned last."""
        start, size = self._last_slice
        return self._origins.places(self._log)[start : start + size] if size else []

    # Positions -------------------------------------------------------------------------------------------------

    def position(self) -> Mapping[str, int]:
        """The position of the next row: an offset per partition, and how many rows of the next message were read."""
        position = {"row": self._row, "record": self._record, "taken": self._taken}
        position |= {"turn": self._inbox.turn, "taken in turn": self._inbox.taken_in_turn}
        position |= {f"offset {p}": offset for p, offset in self._offsets.items()}
        marks = self._marks | {p: zlib.crc32(value) for p, value in self._last.items()}
        position |= {f"mark {p}": mark for p, mark in marks.items()} if self._log.counted else {}
        position |= {f"end {p}": end for p, end in (self._ends or {}).items()}
        return position | self._log.facts(self._offsets) | self.rejects.position()

    def seek(self, position: Mapping[str, int]) -> None:
        """Go to a position that `position` returned, in this process or another."""
        keys = [*("row", "record", "taken", "turn", "taken in turn")]
        keys += ["rejected rows", "rejected cells", "dead letters"]
        keys += [f"offset {p}" for p in self._partitions]
        keys += [f"end {p}" for p in self._partitions if self._ends is not None]
        if any(not isinstance(position.get(key), int) or position[key] < 0 for key in keys):
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
        self._target_checked = self._target_checked or self._row > 0
        self._log.recall(position, self._offsets)
        self.rejects.seek(position)
        self._inbox.go_to(self._offsets, self._marks, self._ends)
        self._inbox.seek_log()
        if position["taken"]:
            self._skip(position["taken"])

    def commit(self) -> None:
        """Commit the offsets of the checkpoint just written to the broker, for its tools; they are never read."""
        self._log.commit(self._offsets)

    def close(self) -> None:
        """Close the connection."""
        self.rejects.close()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # Helpers ---------------------------------------------------------------------------------------------------

    def _skip(self, taken: int) -> None:
        """Skip rows of the next message that were returned before."""
        self._known_layout()
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
        target = self._known_layout().target
        labels = columns.pop(target) if target is not None else None
        return Rows(self._row, columns, labels, None, k)

    def _no_columns(self) -> dict[str, pa.Array]:
        layout = self._known_layout()
        names = [*layout.columns, *([layout.target] if layout.target is not None else [])]
        return {name: pa.array([], pa.string()) for name in names}

    def _where(self, partition: int, behind: int) -> str:
        return f"partition {partition}, offset {self._log.name_of(behind)}"

    def _at(self, fault: DataError, partition: int, behind: int) -> DataError:
        problem = f"{self._where(partition, behind)} of {self._address.shown()}: {fault.problem}"
        return DataError(problem, column=fault.column, value=fault.value, remedy=fault.remedy)

    def _begin(self) -> dict[int, int]:
        option = self._address.options.get("from", "start")
        if option == "start":
            return {p: self._log.first(p) for p in self._partitions}
        if option == "end":
            return {p: self._log.end(p) for p in self._partitions}
        if not option.isdigit() or not self._log.counted or len(self._partitions) != 1:
            raise OptionError(
                "from= is start or end; or an offset, where one partition is read", value=option
            )
        return dict.fromkeys(self._partitions, int(option))

    def _set_layout(self, layout: Layout) -> None:
        self._layout = layout
        self._decoder = decoder_of(self._format, layout, self._delimiter)

    def _known_layout(self) -> Layout:
        """The layout, from a checkpoint or else from the first messages, up to 1,000; waits for a message."""
        if self._layout is not None:
            return self._layout
        share = -(-limits.SAMPLE // len(self._partitions))
        warned = False
        while True:
            sample = self._inbox.sample(share)
            if sample:
                break
            if sample is not None:
                if self._ends is not None or self._log.over:
                    raise DataError(
                        f"{self._address.shown()} is empty", remedy="without until=end, it is waited for"
                    )
                if not warned:
                    warn_user(
                        f"{self._address.shown()} is empty: waiting for its first message", BrokerWarning
                    )
                    warned = True
            self._inbox.fetch()
        self._set_layout(layout_of(self._format, sample, self._read_options, self._names, self._delimiter))
        return self._known_layout()
