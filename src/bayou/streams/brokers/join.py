"""Records and their labels, which come later: who waits for whom, within bounds of time and room."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayou.errors import DataError

MOST = 100_000  # records that wait for their label; and as many early labels, and keys that are done
MOST_BYTES = 256 << 20  # of the messages and keys of each of these
_ENTRY = 256  # bytes that an entry takes beside its message and its key

Entry = TypeVar("Entry", bound="Record | Early")


@dataclass(frozen=True)
class Record:
    """A record that waits for its label: its number, the time it was taken at, the message and where it stands."""

    ticket: int
    time: int
    message: bytes
    partition: int
    behind: int


@dataclass(frozen=True)
class Early:
    """A label that came before its record, as JSON; or, without one, a key that is done."""

    time: int
    message: bytes = b""


@dataclass(frozen=True)
class Event:
    """A record that has come (`label` None), or that is joined with its label."""

    record: Record
    label: Any = None


@dataclass
class JoinCounts:
    """What became of records and labels.

    Parameters
    ----------
    records, labels
        Messages taken from either log.
    joined
        Records that got their label.
    unlabelled
        Records whose label did not come in time.
    crowded_out
        Records given up, the oldest first, because too many waited.
    early
        Labels that came before their record and waited for it.
    without_record
        Labels whose record did not come in time, or that were given up because too many waited.
    repeated_records, repeated_labels
        Messages with a key that has a record, or a label, already. The first one counts.
    forgotten
        Keys that are done, given up before their time because there were too many: a repetition of such a key would not
        be noticed.
    behind
        Messages taken after one that comes later in the order of time, log and partition. Without any, the order was
        that one.
    """

    records: int = 0
    labels: int = 0
    joined: int = 0
    unlabelled: int = 0
    crowded_out: int = 0
    early: int = 0
    without_record: int = 0
    repeated_records: int = 0
    repeated_labels: int = 0
    forgotten: int = 0
    behind: int = 0

    @property
    def waiting(self) -> int:
        """Records that wait for their label."""
        return self.records - self.repeated_records - self.joined - self.unlabelled - self.crowded_out

    def position(self) -> dict[str, int]:
        """The counts as part of a source's position."""
        return {f"join {field.name}": getattr(self, field.name) for field in fields(self)}

    @staticmethod
    def of(position: Mapping[str, int]) -> JoinCounts:
        """The counts of a position."""
        found = {field.name: position.get(f"join {field.name}") for field in fields(JoinCounts)}
        if not all(type(count) is int and count >= 0 for count in found.values()):
            raise DataError("not a position of joined logs", remedy="pass what position() gave")
        return JoinCounts(**found)  # type: ignore[arg-type] # checked


class Join:
    """Who waits for whom: a record for its label, an early label for its record, and keys that are done.

    Time is that of the messages, never a clock's: what is given up, and when, depends on the messages and their order
    alone. It never goes back: a message with an earlier time than one before it is taken at the time of that one.

    Parameters
    ----------
    within
        Microseconds that a record, or an early label, waits; and that a key is remembered when it is done.
    most, most_bytes
        Bounds of the records that wait; of early labels; and of keys that are done.

    Examples
    --------
    >>> join = Join(within=10)
    >>> join.record("a", 0, b"{}", 0, 1).label, join.label("a", 10, "yes").label, join.counts.joined
    (None, 'yes', 1)
    >>> join.label("b", 11, "no"), join.record("b", 12, b"{}", 0, 2).label, join.completed().label
    (None, None, 'no')
    """

    def __init__(self, within: int, most: int = MOST, most_bytes: int = MOST_BYTES) -> None:
        self.within = within
        self.waiting: _Bounded[Record] = _Bounded(most, most_bytes)
        self.early: _Bounded[Early] = _Bounded(most, most_bytes)
        self.done: _Bounded[Early] = _Bounded(most, most_bytes)
        self.clock, self.tickets = -(2**62), 0
        self.last = 0, 0  # the log (0: records) and partition of the latest message
        self.half: tuple[str, Record] | None = (
            None  # a record that has come, whose label waits among the early ones
        )
        self.counts = JoinCounts()

    @property
    def size(self) -> int:
        """How many records wait for their label, labels for their record, and keys that are done are remembered."""
        return len(self.waiting) + len(self.early) + len(self.done) + (self.half is not None)

    @property
    def oldest(self) -> int:
        """The number of the oldest record that waits, or else of the next one: only older ones have been given up."""
        last = self.tickets if self.half is None else self.half[1].ticket
        first = self.waiting.first()
        return last if first is None else first.ticket

    def record(self, key: str, time: int, message: bytes, partition: int, behind: int) -> Event | None:
        """A record has come: it waits for its label, unless that is here already (see `completed`)."""
        self._now(time, 0, partition)
        self.counts.records += 1
        if key in self.waiting or key in self.done:
            self.counts.repeated_records += 1
            return None
        record = Record(self.tickets, self.clock, message, partition, behind)
        self.tickets += 1
        if key in self.early:
            self.half = key, record
        else:
            self.counts.crowded_out += self.waiting.add(key, record)
        return Event(record)

    def completed(self) -> Event | None:
        """The record that has come last with the label that was here before it; to be asked for after `record`."""
        if self.half is None:
            return None
        (key, record), self.half = self.half, None
        self.counts.early += 1
        return self._joined(key, record, json.loads(self.early.pop(key).message))

    def label(self, key: str, time: int, label: Any, partition: int = 0) -> Event | None:
        """A label has come: it is joined with its record, or waits for it."""
        self._now(time, 1, partition)
        self.counts.labels += 1
        if key in self.waiting:
            return self._joined(key, self.waiting.pop(key), label)
        if key in self.done or key in self.early:
            self.counts.repeated_labels += 1
            return None
        self.counts.without_record += self.early.add(key, Early(self.clock, json.dumps(label).encode()))
        return None

    def _joined(self, key: str, record: Record, label: Any) -> Event:
        self.counts.joined += 1
        self.counts.forgotten += self.done.add(key, Early(self.clock))
        return Event(record, label)

    def _now(self, time: int, log: int, partition: int) -> None:
        if (time, log, partition) < (self.clock, *self.last):
            self.counts.behind += 1
            return
        self.last = log, partition
        if time == self.clock:
            return
        self.clock = time
        self.counts.unlabelled += self.waiting.expire(time - self.within)
        self.counts.without_record += self.early.expire(time - self.within)
        self.done.expire(time - self.within)

    # What a checkpoint keeps -----------------------------------------------------------------------------------

    def position(self) -> dict[str, int]:
        """The counts and the clock, as part of a source's position."""
        here = {"clock": self.clock, "clock log": self.last[0], "clock partition": self.last[1]}
        return here | {"tickets": self.tickets} | self.counts.position()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that waits."""
        out = _records("waiting", list(self.waiting))
        out |= _records("half", [] if self.half is None else [self.half])
        for name, store in (("early", self.early), ("done", self.done)):
            found = list(store)
            out[f"{name}.times"] = np.array([entry.time for _, entry in found], np.int64)
            out |= _texts(f"{name}.keys", [key.encode() for key, _ in found])
            out |= _texts(f"{name}.messages", [entry.message for _, entry in found])
        return out

    def restore(self, position: Mapping[str, int], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take what `position` and `arrays` gave; refuses what cannot be."""
        names = ("clock", "clock log", "clock partition", "tickets")
        if any(type(position.get(name)) is not int for name in names):
            raise _wrong()
        clock, log, partition, tickets = (position[name] for name in names)
        self.counts, self.clock, self.tickets = JoinCounts.of(position), clock, tickets
        self.last = log, partition
        self.waiting.fill(*_recorded("waiting", arrays), clock)
        halves = _Bounded[Record](1, MOST_BYTES)
        halves.fill(*_recorded("half", arrays), clock)
        self.half = next(iter(halves), None)
        numbers = [record.ticket for _, record in (*self.waiting, *halves)]
        if any(b <= a for a, b in zip([-1, *numbers], [*numbers, tickets], strict=True)):
            raise _wrong()
        for name, store in (("early", self.early), ("done", self.done)):
            keys, messages = _listed(f"{name}.keys", arrays), _listed(f"{name}.messages", arrays)
            times = arrays.get(f"{name}.times")
            if times is None or times.dtype != np.int64 or times.shape != (len(keys),):
                raise _wrong()
            if len(messages) != len(keys):
                raise _wrong()
            found = [Early(time, message) for time, message in zip(times.tolist(), messages, strict=True)]
            store.fill(keys, found, clock)
        if any(key in self.early or key in self.done for key, _ in self.waiting):
            raise _wrong()
        if len(halves) > 1 or (self.half is not None and self.half[0] not in self.early):
            raise _wrong()
        try:
            for _, entry in self.early:
                json.loads(entry.message)
        except ValueError as problem:
            raise _wrong() from problem


class _Bounded(Generic[Entry]):
    """Entries by key in the order they came, of which the oldest are given up where time or room runs out."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most, self._most_bytes, self.bytes = most, most_bytes, 0
        self._entries: OrderedDict[str, Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[tuple[str, Entry]]:
        return iter(self._entries.items())

    def first(self) -> Entry | None:
        """The oldest entry."""
        return next(iter(self._entries.values()), None)

    def add(self, key: str, entry: Entry) -> int:
        """Take in an entry; how many older ones had to go. The newest stays, however large."""
        self._entries[key] = entry
        self.bytes += _size(key, entry)
        gone = 0
        while len(self._entries) > self._most or (self.bytes > self._most_bytes and len(self._entries) > 1):
            self._drop()
            gone += 1
        return gone

    def pop(self, key: str) -> Entry:
        """Take out an entry."""
        entry = self._entries.pop(key)
        self.bytes -= _size(key, entry)
        return entry

    def expire(self, before: int) -> int:
        """Give up entries older than a time; how many."""
        gone = 0
        while self._entries and next(iter(self._entries.values())).time < before:
            self._drop()
            gone += 1
        return gone

    def fill(self, keys: list[bytes], entries: list[Entry], clock: int) -> None:
        """Take these entries, and no others; refuses what cannot be."""
        try:
            names = [key.decode() for key in keys]
        except UnicodeDecodeError as problem:
            raise _wrong() from problem
        times = [entry.time for entry in entries]
        if len({*names}) < len(names) or times != sorted(times) or (times and times[-1] > clock):
            raise _wrong()
        self._entries = OrderedDict(zip(names, entries, strict=True))
        self.bytes = sum(map(_size, names, entries))

    def _drop(self) -> None:
        key, entry = self._entries.popitem(last=False)
        self.bytes -= _size(key, entry)


def _size(key: str, entry: Record | Early) -> int:
    return len(key) + len(entry.message) + _ENTRY


def _records(name: str, records: list[tuple[str, Record]]) -> dict[str, NDArray[Any]]:
    low = (1 << 63) - 1  # offsets of Redis do not fit into 64 bits
    numbers = [(r.ticket, r.time, r.partition, r.behind >> 63, r.behind & low) for _, r in records]
    return {
        f"{name}.numbers": np.array(numbers, np.int64).reshape(-1, 5),
        **_texts(f"{name}.keys", [key.encode() for key, _ in records]),
        **_texts(f"{name}.messages", [record.message for _, record in records]),
    }


def _recorded(name: str, arrays: Mapping[str, NDArray[Any]]) -> tuple[list[bytes], list[Record]]:
    keys, messages = _listed(f"{name}.keys", arrays), _listed(f"{name}.messages", arrays)
    numbers = arrays.get(f"{name}.numbers")
    if numbers is None or numbers.dtype != np.int64 or numbers.shape != (len(keys), 5):
        raise _wrong()
    if len(messages) != len(keys) or (numbers[:, 2:] < 0).any():
        raise _wrong()
    return keys, [
        Record(ticket, time, message, partition, (high << 63) + low)
        for (ticket, time, partition, high, low), message in zip(numbers.tolist(), messages, strict=True)
    ]


def _texts(name: str, texts: list[bytes]) -> dict[str, NDArray[Any]]:
    """Strings of bytes as two arrays: all of them, and where each ends."""
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    return {name: np.frombuffer(b"".join(texts), np.uint8), f"{name}.ends": ends}


def _listed(name: str, arrays: Mapping[str, NDArray[Any]]) -> list[bytes]:
    whole, ends = arrays.get(name), arrays.get(f"{name}.ends")
    if whole is None or ends is None or whole.dtype != np.uint8 or ends.dtype != np.int64:
        raise _wrong()
    if whole.ndim != 1 or ends.ndim != 1 or (np.diff(ends, prepend=0) < 0).any():
        raise _wrong()
    places = [0, *ends.tolist()]
    if places[-1] != len(whole):
        raise _wrong()
    data = whole.tobytes()
    return [data[a:b] for a, b in pairwise(places)]


def _wrong() -> DataError:
    return DataError("this is not how joined logs keep what waits", remedy="start again in an empty folder")
