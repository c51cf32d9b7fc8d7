"""One of the two logs of a join: its messages one by one, with key and time."""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from bayou.errors import DataError, OptionError, warn_user
from bayou.streams import limits
from bayou.streams.brokers.address import Address
from bayou.streams.brokers.decoding import Decoder, decoder_of, layout_of
from bayou.streams.brokers.inbox import Inbox
from bayou.streams.brokers.log import Batch, BrokerWarning, Log
from bayou.streams.layout import Layout
from bayou.streams.policy import REMEDY, Misfit, flush
from bayou.streams.read_options import ReadOptions
from bayou.streams.rejects import Reject
from bayou.streams.source import ColumnType, Kind

CHUNK = 1_000  # messages that are decoded at once
_STAMP = 8  # bytes of the time before a message
_NO_TIME = -(2**62)  # stands for the time of a message without a valid one, which is taken at once


@dataclass(frozen=True)
class OpenedLog:
    """An open log, and the format and columns of its messages as given by its address."""

    log: Log
    address: Address
    format: str
    delimiter: str = ","
    names: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A message: a record or a label, or the reason why it is rejected."""

    time: int
    key: str
    value: bytes
    behind: int
    label: Any = None
    reject: Reject | None = None  # if the message is left out
    cells: tuple[Reject, ...] = ()  # cells that were made missing


class Side:
    """The messages of a log, partition by partition, with decoded keys, times and labels.

    Parameters
    ----------
    opened
        The log.
    name
        The prefix of its entries in a position: "records" or "labels".
    read_options
        The options for its columns; with a target, its messages are labels.
    key, time
        The column that holds the key, and the one that holds the time (None: the time that the broker stores).
    """

    def __init__(
        self, opened: OpenedLog, name: str, read_options: ReadOptions, key: str, time: str | None
    ) -> None:
        self.name, self.address, self._opened = name, opened.address, opened
        self._read_options, self._key, self._time = read_options, key, time
        self._log: Log = opened.log if time is not None else _Stamped(opened.log)
        self.partitions = list(self._log.partitions)
        self.offsets = self._begin()
        self._firsts = dict(self.offsets)
        self.ends = {p: self._log.end(p) for p in self.partitions} if opened.address.ends else None
        self._last: dict[int, Message] = {}
        self._marks: dict[int, int] = {}
        self._inbox = Inbox(self._log, opened.address.shown(), self.offsets, self.ends, self._gone)
        self.ready: dict[int, deque[Message]] = {p: deque() for p in self.partitions}
        # reasons and numbers of messages that were deleted unread, still to be counted as rejects
        self.passed_over: list[tuple[str, int]] = []
        self._layout: Layout | None = None
        self._record = 0

    # Columns ---------------------------------------------------------------------------------------------------

    @property
    def layout(self) -> Layout:
        """The columns without key and time, from a checkpoint or else from the first messages; waits for one."""
        if self._layout is None:
            self.set_layout(self._layout_of_sample())
        assert self._layout is not None
        return self._layout

    def set_layout(self, layout: Layout) -> None:
        """Set the columns, and make the decoders for them."""
        self._layout = layout
        format, delimiter = self._opened.format, self._opened.delimiter
        self.decoder: Decoder = decoder_of(format, layout, delimiter)
        others: dict[str, Kind] = {n: c.kind for n, c in layout.columns.items()}
        if layout.target is not None:
            others[layout.target] = "numeric" if layout.label in ("int64", "float64") else "nominal"
        join_columns = [name for name in (self._key, self._time) if name is not None]
        left_out = {n: kind for n, kind in {**layout.left_out, **others}.items() if n not in join_columns}
        key_layout = Layout(
            dict.fromkeys(join_columns, ColumnType("nominal")), None, "string", left_out, layout.names
        )
        self._key_decoder: Decoder = decoder_of(format, key_layout, delimiter)

    def _layout_of_sample(self) -> Layout:
        """The layout from the first messages, without key and time; waits for a message."""
        warned = False
        while not (sample := self._inbox.sample(-(-limits.SAMPLE // len(self.partitions)))):
            if sample is not None and (self.ends is not None or self._log.over):
                raise DataError(
                    f"{self.address.shown()} is empty", remedy="without until=end, it is waited for"
                )
            if sample is not None and not warned:
                warned = True
                warn_user(f"{self.address.shown()} is empty: waiting for its first message", BrokerWarning)
            self._inbox.fetch()
        plain = [self._plain(value) for value in sample]
        opened, options = self._opened, self._read_options
        full = layout_of(opened.format, plain, replace(options, ignore=()), opened.names, opened.delimiter)
        for name in (self._key, self._time):
            if name is not None and name not in full.columns:
                raise OptionError(
                    f"the first messages of {self.address.shown()} have no column {name!r}",
                    remedy=f"they have {', '.join(full.columns)}; --join and --time name columns of both logs",
                )
        excluded = {self._key, self._time, *options.ignore}
        if options.target:  # of a label, nothing else is read
            excluded |= {*full.columns}
        kept = {name: column for name, column in full.columns.items() if name not in excluded}
        left_out = {name: column.kind for name, column in full.columns.items() if name in excluded}
        return replace(full, columns=kept, left_out={**left_out, **full.left_out})

    # Messages --------------------------------------------------------------------------------------------------

    def fetch(self, seconds: float) -> None:
        """Fetch messages; waits up to `seconds` for the first."""
        self._inbox.fetch(seconds)

    def fill(self, partition: int) -> bool:
        """Decode fetched messages of a partition if none are ready; returns whether there are any."""
        ready = self.ready[partition]
        if not ready:
            values, behind = self._inbox.take_of(partition, CHUNK)
            if values:
                self._decode(partition, values, behind)
        return bool(ready)

    def drained(self, partition: int) -> bool:
        """Whether no messages of a partition were left at the last fetch."""
        return self._inbox.drained(partition)

    def finished(self, partition: int) -> bool:
        """Whether no more messages of a partition will come."""
        return (self.ends is not None or self._log.over) and self._inbox.drained(partition)

    def advance(self, partition: int, message: Message) -> None:
        """Move the position of a partition past a message."""
        self.offsets[partition], self._last[partition] = message.behind, message
        self._record += 1

    def where(self, partition: int, behind: int) -> str:
        """The place of a message, for rejects and errors."""
        return f"{self.name}, partition {partition}, offset {self.offset(behind)}"

    def offset(self, behind: int) -> int | str:
        """The name of the message before an offset, as the broker's tools show it."""
        return self._log.name_of(behind)

    def _decode(self, partition: int, values: list[bytes], behind: list[int]) -> None:
        """Decode messages of a partition and add them to those that are ready, rejected ones included."""
        assert self._layout is not None
        plain = [self._plain(value) for value in values]
        draft = self.decoder.draft(plain)
        labels = draft.columns[self._layout.target].to_pylist() if self._layout.target is not None else None
        of_label = {} if labels is None else dict(zip(draft.records.tolist(), labels, strict=True))
        misfits: dict[int, list[Misfit]] = {}
        for misfit in draft.misfits:
            misfits.setdefault(misfit.record, []).append(misfit)
        key_draft = self._key_decoder.draft(plain)
        keys_and_times = dict(
            zip(key_draft.records.tolist(), self._keys_and_times(key_draft.columns), strict=True)
        )
        cells_may_be_missing = self._read_options.policy == "missing" and labels is None
        for i, (value, after) in enumerate(zip(plain, behind, strict=True)):
            key, text = keys_and_times.get(i, (None, None))
            time, bad = self._moment(values[i], text), misfits.get(i, ())
            cells = [m for m in bad if cells_may_be_missing and m.column is not None]
            misfit_of_row = next((m for m in bad if m not in cells), None)
            if misfit_of_row is None and key is None:
                misfit_of_row = Misfit(i, self._key, "no key to join by", None)
            if misfit_of_row is None and time is None:
                misfit_of_row = Misfit(i, self._time, "not a time", text)
            if misfit_of_row is None and labels is not None and of_label.get(i) is None:
                misfit_of_row = Misfit(i, self._layout.target, "no label", None)
            at = self.where(partition, after)
            reject = None if misfit_of_row is None else _reject(misfit_of_row, at, value)
            missing_cells = () if reject is not None else tuple(_reject(cell, at, None) for cell in cells)
            moment = _NO_TIME if time is None else time
            self.ready[partition].append(
                Message(moment, key or "", value, after, of_label.get(i), reject, missing_cells)
            )

    def _keys_and_times(self, columns: Mapping[str, Any]) -> list[tuple[str | None, str | None]]:
        """The text of key and time of each message."""
        keys = columns[self._key].to_pylist()
        times = [None] * len(keys) if self._time is None else columns[self._time].to_pylist()
        return list(zip(keys, times, strict=True))

    def _moment(self, value: bytes, text: str | None) -> int | None:
        """The time of a message in microseconds since 1970, from the broker or from the column; None if invalid."""
        if self._time is None:
            return int.from_bytes(value[:_STAMP], "big", signed=True)
        return None if text is None else microseconds(text)

    def fault(self, reject: Reject) -> DataError:
        """The error for a rejected message that stops the stream."""
        problem = f"{reject.at} of {self.address.shown()}: {reject.reason}"
        return DataError(problem, column=reject.column, value=reject.value, remedy=REMEDY)

    def columns_of(self, messages: Sequence[bytes]) -> Mapping[str, Any]:
        """The columns of messages that were accepted."""
        return flush(self.decoder.draft(messages), "missing", 0).columns

    def _plain(self, value: bytes) -> bytes:
        return value if self._time is not None else value[_STAMP:]

    def _with_stamp(self, message: Message) -> bytes:
        return message.value if self._time is not None else _stamp(message.time) + message.value

    # Positions -------------------------------------------------------------------------------------------------

    def identity(self) -> dict[str, str | int]:
        """The identity of the log and its columns, for checkpoints."""
        log_identity = {f"{self.name} {key}": value for key, value in self._log.identity().items()}
        return {
            **log_identity,
            f"{self.name} columns": self.layout.text(),
            f"{self.name} format": self._opened.format,
        }

    def position(self) -> dict[str, int]:
        """The position of the next message."""
        position = {f"offset {p}": offset for p, offset in self.offsets.items()} | {"record": self._record}
        marks = self._marks | {p: zlib.crc32(self._with_stamp(message)) for p, message in self._last.items()}
        position |= {f"mark {p}": mark for p, mark in marks.items()} if self._log.counted else {}
        position |= {f"end {p}": end for p, end in (self.ends or {}).items()}
        return {f"{self.name} {k}": v for k, v in (position | self._log.facts(self.offsets)).items()}

    def seek(self, position: Mapping[str, int]) -> None:
        """Go to a position that `position` returned."""
        prefix = f"{self.name} "
        values = {key.removeprefix(prefix): n for key, n in position.items() if key.startswith(prefix)}
        keys = ["record", *(f"offset {p}" for p in self.partitions)]
        keys += [f"end {p}" for p in self.partitions if self.ends is not None]
        if any(type(values.get(key)) is not int or values[key] < 0 for key in keys):
            raise DataError(
                "not a position of this stream", value=dict(position), remedy="pass what position() gave"
            )
        self._record, self._last = values["record"], {}
        self.offsets = {p: values[f"offset {p}"] for p in self.partitions}
        if self.ends is not None:
            self.ends = {p: values[f"end {p}"] for p in self.partitions}
        self._marks = {p: values[f"mark {p}"] for p in self.partitions if f"mark {p}" in values}
        self.ready = {p: deque() for p in self.partitions}
        self._log.recall(values, self.offsets)
        self._inbox.go_to(self.offsets, self._marks, self.ends)
        self._inbox.seek_log()

    def progress(self) -> tuple[int, int] | None:
        """Messages read and in all, if there is an end and offsets count messages."""
        if self.ends is None or not self._log.counted:
            return None
        done = sum(self.offsets[p] - self._firsts[p] for p in self.partitions)
        return done, sum(end - self._firsts[p] for p, end in self.ends.items())

    def commit(self) -> None:
        """Commit the offsets of the checkpoint just written, for the broker's tools."""
        self._log.commit(self.offsets)

    def close(self) -> None:
        """Close the connection."""
        self._log.close()

    def _begin(self) -> dict[int, int]:
        """The offsets to begin at, by the option `from`."""
        option = self.address.options.get("from", "start")
        if option not in ("start", "end"):
            raise OptionError("from= is start or end of logs that are joined", value=option)
        at = self._log.first if option == "start" else self._log.end
        return {p: at(p) for p in self.partitions}

    def _gone(self, partition: int, wanted: int, first: int) -> None:
        """Handle messages that the broker deleted unread: an error, or a warning, and they are skipped."""
        count = first - wanted if self._log.counted else 1
        where = f"partition {partition} of {self.address.shown()}"
        problem = f"{count:,} messages of {where} are gone from the broker, unread"
        if self._read_options.policy == "strict":
            raise DataError(
                problem, remedy='keep them longer; policy="skip" goes on with the oldest there is'
            )
        warn_user(problem, BrokerWarning)
        self.passed_over.append(("gone before it was read", count))
        if self.offsets[partition] == wanted:
            self.offsets[partition] = first
            self._marks.pop(partition, None)
            self._last.pop(partition, None)


class _Stamped:
    """A log whose messages are prefixed with the time that the broker stores, in microseconds since 1970."""

    def __init__(self, log: Log) -> None:
        self._log = log
        log.timed = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._log, name)

    def fetch(self, most: int, seconds: float, only: Collection[int]) -> list[Batch]:
        """The log's batches, with the times put before the messages."""
        return [
            replace(batch, values=[_stamp(t) + v for t, v in zip(batch.times, batch.values, strict=True)])
            for batch in self._log.fetch(most, seconds, only)
        ]


def _reject(misfit: Misfit, at: str, raw: bytes | None) -> Reject:
    return Reject(0, 0, misfit.column, misfit.reason, misfit.value, raw, at)


def _stamp(time: int) -> bytes:
    return time.to_bytes(_STAMP, "big", signed=True)


def microseconds(text: str) -> int | None:
    """A time as microseconds since 1970: from a number of seconds, or ISO 8601 (without a zone: UTC).

    >>> microseconds("1.5"), microseconds("1970-01-01T00:00:02Z"), microseconds("1970-01-02"), microseconds("soon")
    (1500000, 2000000, 86400000000, None)
    """
    try:
        total = round(float(text) * 1e6)
    except OverflowError:
        return None
    except ValueError:
        try:
            date = datetime.fromisoformat(text)
        except ValueError:
            return None
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        since = date - datetime(1970, 1, 1, tzinfo=UTC)
        total = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    return total if abs(total) < 2**60 else None
