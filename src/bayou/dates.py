"""Dates as numbers: the local time, and its offset from UTC; and parsing of dates in text.

All are in microseconds since 1970, and finer parts are cut off, so that every form of a date gives the same bits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

DATE_TEXT = "bayou.date"  # the name of the Arrow type of text that is known to be dates
SECOND = 1_000_000
DAY = 86_400 * SECOND
LIMIT = 1 << 59  # microseconds, 18,000 years: dates further off have no parts, nor do time zones reach there
Seconds = NDArray[np.float64]
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_EPOCH = date(1970, 1, 1).toordinal()
_LONGEST = 48  # characters of a time of day with its zone
_CACHED = 1 << 16  # distinct texts whose parsed form is cached
_DAY = re.compile(r"(\d{4})([-/])(\d\d)\2(\d\d)", re.ASCII)
_TIME = re.compile(
    r"[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?: ?(?:Z|UTC|GMT|([+-])(\d\d)(?::?(\d\d))?))?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Dates:
    """A column of dates.

    Parameters
    ----------
    clock
        The local time.
    ahead
        The offset of the local time from UTC; 0 where the date has none.
    timed
        Whether it has a time of day, rather than a day alone.
    known
        False where the date is missing.
    """

    clock: NDArray[np.int64]
    ahead: NDArray[np.int64]
    timed: NDArray[np.bool_]
    known: NDArray[np.bool_]

    def seconds(self) -> Seconds:
        """Seconds since 1970 in UTC; NaN where missing."""
        return np.where(self.known, (self.clock - self.ahead) / SECOND, np.nan)


def read_arrow(values: Any) -> tuple[Dates | None, Seconds]:
    """Dates and seconds of an Arrow array of days or timestamps; None and seconds of times of day and spans."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, known = values.type, values.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_date(kind):
        wide = pa.types.is_date64(kind)
        days = _integers(values.cast(pa.int64() if wide else pa.int32())) // (86_400_000 if wide else 1)
        far = np.where(np.abs(days) > LIMIT // DAY, np.sign(days), 0)
        return far_or_near(np.where(far == 0, days, 0) * DAY, np.zeros_like(days), False, known, far)
    unit = _PER_SECOND[kind.unit]
    ticks = _integers(values.cast(pa.int32() if pa.types.is_time32(kind) else pa.int64()))
    if not pa.types.is_timestamp(kind):
        return None, np.where(known, _microseconds(ticks, unit) / SECOND, np.nan)
    far = np.where(np.abs(ticks // unit) > LIMIT // SECOND, np.sign(ticks), 0)
    utc = _microseconds(np.where(far == 0, ticks, 0), unit)
    clock = utc
    if kind.tz is not None:
        near = pa.array(utc, pa.timestamp("us", kind.tz))
        clock = _integers(pc.local_timestamp(near).cast(pa.int64()))
    return far_or_near(clock, clock - utc, True, known, far)


def _integers(values: Any) -> NDArray[np.int64]:
    """Integers of Arrow's, 0 where missing."""
    return np.asarray(values.fill_null(0).to_numpy(zero_copy_only=False), dtype=np.int64)


def _microseconds(values: NDArray[np.int64], per_second: int) -> NDArray[np.int64]:
    return values // (per_second // SECOND) if per_second > SECOND else values * (SECOND // per_second)


def far_or_near(
    clock: NDArray[np.int64],
    ahead: NDArray[np.int64],
    timed: bool,
    known: NDArray[np.bool_],
    far: NDArray[np.int64],
) -> tuple[Dates, Seconds]:
    """Dates and their seconds; dates beyond the range (`far` is -1 or 1, else 0) are unknown, with infinite seconds."""
    near = known & (far == 0)
    dates = Dates(clock, ahead, near & timed, near)
    return dates, np.where(known & (far != 0), np.copysign(np.inf, far), dates.seconds())


def names_of_dates(dates: Dates | None, seconds: Seconds) -> list[str | None]:
    """Dates as Python writes them; times of day and spans as Python writes spans; None where missing.

    >>> names_of_dates(Dates(np.array([0]), np.array([0]), np.array([True]), np.array([True])), np.zeros(1))
    ['1970-01-01 00:00:00']
    """
    if dates is None:
        return [None if s != s else _span_name(s) for s in seconds.tolist()]
    clock = dates.clock.view("M8[us]")
    days, times = np.datetime_as_string(clock, unit="D"), np.datetime_as_string(clock, unit="us")
    rows = zip(days, times, dates.ahead.tolist(), dates.timed, dates.known, strict=True)
    return [_name(*row) if known else None for *row, known in rows]


def _name(day: str, time: str, ahead: int, timed: bool) -> str:
    if not timed:
        return str(day)
    hours, minutes = divmod(abs(ahead) // (60 * SECOND), 60)
    zone = f"{'-' if ahead < 0 else '+'}{hours:02}:{minutes:02}" if ahead else ""
    return str(time).replace("T", " ").removesuffix(".000000") + zone


def _span_name(seconds: float) -> str:
    return str(timedelta(seconds=seconds)) if abs(seconds) < LIMIT / SECOND else repr(seconds)


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of strings."""
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def parse_dates(cells: Any) -> Dates:
    """Parse an Arrow array of strings as dates in the extended form of ISO 8601.

    Examples
    --------
    >>> import pyarrow as pa
    >>> found = parse_dates(pa.array(["1970-01-02", "1970/01/01 02:00:00.5+02:00", "1970-02-30", "mon", None]))
    >>> found.seconds().tolist(), found.timed.tolist()
    ([86400.0, 0.5, nan, nan, nan], [False, True, False, False, False])
    """
    import pyarrow.compute as pc

    text = pc.ascii_trim(cells, " \t")
    days = _parse_distinct(pc.utf8_slice_codeunits(text, 0, 10), _day, 2)
    times = _parse_distinct(pc.utf8_slice_codeunits(text, 10, 11 + _LONGEST), _time, 4)
    known = (days[1] & times[3]).astype(np.bool_)
    clock = np.where(known, days[0] * DAY + times[0], 0)
    return Dates(clock, np.where(known, times[1], 0), known & (times[2] > 0), known)


def parse_date(text: str) -> tuple[int, int, bool] | None:
    """The local time, its offset from UTC, and whether it has a time of day; None if the text is not a date.

    >>> parse_date("1970-01-01T00:00:01Z"), parse_date("16.11.2026")
    ((1000000, 0, True), None)
    """
    text = text.strip(" \t")
    day, known = _day(text[:10])
    micros, ahead, timed, valid = _time(text[10 : 11 + _LONGEST])
    return (day * DAY + micros, ahead, timed > 0) if known and valid else None


def _parse_distinct(cells: Any, parse: Any, width: int) -> NDArray[np.int64]:
    """The parsed cells, int64[width, n], with each distinct text parsed once; zeros where one is missing."""
    coded = cells.dictionary_encode()
    parsed = np.zeros((len(coded.dictionary) + 1, width), np.int64)
    for i, text in enumerate(coded.dictionary.to_pylist()):
        parsed[i] = parse(text)
    rows: NDArray[np.int64] = parsed[
        coded.indices.fill_null(len(coded.dictionary)).to_numpy(zero_copy_only=False)
    ].T
    return rows


@lru_cache(maxsize=_CACHED)
def _day(text: str) -> tuple[int, int]:
    """Days since 1970, and 1 if the text is a day that exists, else 0."""
    parts = _DAY.fullmatch(text)
    try:
        return (
            (date(int(parts[1]), int(parts[3]), int(parts[4])).toordinal() - _EPOCH, 1) if parts else (0, 0)
        )
    except ValueError:  # the thirtieth of February
        return 0, 0


@lru_cache(maxsize=_CACHED)
def _time(text: str) -> tuple[int, int, int, int]:
    """Microseconds of the day, offset from UTC, whether there is a time, and whether the text is a time or empty."""
    if not text:
        return 0, 0, 0, 1
    parts = _TIME.fullmatch(text)
    if parts is None or len(text) > _LONGEST:
        return 0, 0, 0, 0
    hour, minute, second = int(parts[1]), int(parts[2]), int(parts[3] or 0)
    hours, minutes = int(parts[6] or 0), int(parts[7] or 0)
    if hour > 23 or minute > 59 or second > 59 or hours > 23 or minutes > 59:
        return 0, 0, 0, 0
    micros = (hour * 3600 + minute * 60 + second) * SECOND + int((parts[4] or "")[:6].ljust(6, "0"))
    ahead = (hours * 3600 + minutes * 60) * SECOND
    return micros, -ahead if parts[5] == "-" else ahead, 1, 1
