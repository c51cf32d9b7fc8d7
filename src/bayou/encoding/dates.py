"""Dates as a model learns them: seconds, which carry a trend, and hour, weekday and month, which are periodic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.dates import (
    DATE_TEXT,
    DAY,
    LIMIT,
    SECOND,
    Dates,
    Seconds,
    far_or_near,
    is_text,
    names_of_dates,
    parse_date,
    parse_dates,
    read_arrow,
)
from bayou.encoding.columns import NUMBERS, as_float
from bayou.encoding.forms import Coded, as_arrow, is_arrow, one_array, timeless, value_type
from bayou.encoding.table import Table
from bayou.errors import DataError, DateNote, listed, warn_user
from bayou.missing import is_missing
from bayou.schema import Kind, Schema

HOURS = [f"{hour:02}" for hour in range(24)]
WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
PARTS = ("hour", "weekday", "month")
_EPOCH = date(1970, 1, 1).toordinal()
_TIMES = (date, time, timedelta, np.datetime64, np.timedelta64)


def with_parts_of_dates(table: Table, schema: Schema, learn: bool, start: int = 0) -> Table:
    """The table with four columns for each of dates: `when` in seconds, `when.hour`, `when.weekday`, `when.month`.

    Hour, weekday and month are those of the clock the value was written by; seconds count from 1970 in UTC, and a value
    without a time zone is taken as UTC. Days without a time have no hour. Times of day and spans of time are seconds.
    Text is read as dates only if the stream or the schema declares it.
    A column that is declared nominal keeps its dates as names, a numeric one only its seconds. Columns that the table
    already has are not replaced.
    """
    dated = [j for j, c in enumerate(table.columns) if _is_dates(c, table.names[j] in schema.dates)]
    if not dated:
        return table
    names, columns = list(table.names), list(table.columns)
    expanded: list[str] = []
    for j in dated:
        name, kind = names[j], schema.kind(names[j])
        if kind in (Kind.NOMINAL, Kind.TEXT):
            columns[j] = _names(columns[j], name, start)
            continue
        dates, seconds = _read(columns[j], name, start)
        columns[j] = seconds.tolist()
        if dates is None or (kind is Kind.NUMERIC and name not in schema.dates):
            continue
        expanded.append(name)
        for part, values in zip(PARTS, _parts(dates), strict=True):
            part_name = f"{name}.{part}"
            if part_name not in table.names and schema.kind(part_name) in (None, Kind.NOMINAL):
                names.append(part_name)
                columns.append(values)
    if learn:
        _warn_of_dates([name for name in expanded if schema.kind(name) is None])
    return replace(table, names=names, columns=columns, dates=expanded)


def parts_of(name: str) -> list[str]:
    """The columns that a column of dates is learned as.

    >>> parts_of("when")
    ['when', 'when.hour', 'when.weekday', 'when.month']
    """
    return [name, *(f"{name}.{part}" for part in PARTS)]


def _warn_of_dates(new: Sequence[str]) -> None:
    if new:
        warn_user(
            f"dates in {listed(new)} are learned as seconds (a trend) and as .hour, .weekday and .month; leave the "
            "column out or convert it yourself if you want something else, or keep the dates as names with "
            f"schema=Declared(columns={{{new[0]!r}: 'nominal'}})",
            DateNote,
        )


def _is_dates(values: Any, declared: bool) -> bool:
    """Whether a column's type or else its first present value is a date, a time or a span of time.

    Strings are dates if they are `declared` to be.
    """
    if isinstance(values, Coded):
        return False
    if is_arrow(values):
        kind = value_type(values.type)
        if timeless(kind.id):
            return declared and is_text(kind)
        from pyarrow import types

        return types.is_temporal(kind) or getattr(kind, "extension_name", "") == DATE_TEXT
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind != "O":
        return dtype.kind in "mM" or (declared and dtype.kind in "UT")
    if not isinstance(values, list | tuple | np.ndarray):
        return False
    first = next((value for value in values if not is_missing(value)), None)
    return isinstance(first, _TIMES) or (declared and isinstance(first, str))


def _read(values: Any, name: str, start: int) -> tuple[Dates | None, Seconds]:
    """A column's dates, or None if they are times of day or spans; and seconds, NaN where missing.

    Seconds of dates beyond the range are infinite, which counts as missing.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        return _from_numpy(values)
    if is_arrow(values):
        values = one_array(values)
        if hasattr(values, "dictionary"):
            values = values.cast(values.type.value_type)
        if not hasattr(values.type, "extension_name") and not is_text(values.type):
            return read_arrow(values)
        text = getattr(values, "storage", values)
    else:
        text = as_arrow(values)
    if text is None or not is_text(text.type):
        return _from_objects(values, name, start)
    text = text.cast("large_string")
    dates = parse_dates(text)
    bad = text.is_valid().to_numpy(zero_copy_only=False) & ~dates.known
    if bad.any():
        row = int(np.argmax(bad))
        raise _no_date(text[row].as_py(), name, start + row)
    return dates, dates.seconds()


def _no_date(value: Any, name: str, row: int) -> DataError:
    return DataError(
        "not a date",
        row=row,
        column=name,
        value=value,
        remedy="write it as 2026-11-16 or 2026-11-16T21:12:13+01:00, leave it out as missing, or declare the column "
        f"nominal with schema=Declared(columns={{{name!r}: 'nominal'}})",
    )


def _from_numpy(values: NDArray[Any]) -> tuple[Dates | None, Seconds]:
    known = ~np.isnat(values)
    if values.dtype.kind == "m":
        return None, np.where(known, values.astype("m8[us]").astype(np.int64) / SECOND, np.nan)
    years = np.where(known, values.astype("M8[Y]").astype(np.int64), 0)
    clock = np.where(
        known & (np.abs(years) < 20_000),
        values.astype("M8[us]").astype(np.int64),
        np.sign(years) * (LIMIT + 1),
    )
    far = np.where(np.abs(clock) > LIMIT, np.sign(years), 0)
    timed = np.datetime_data(values.dtype)[0] not in ("Y", "M", "W", "D")
    return far_or_near(np.where(far == 0, clock, 0), np.zeros_like(clock), timed, known, far)


def _from_objects(values: Sequence[Any], name: str, start: int) -> tuple[Dates | None, Seconds]:
    n = len(values)
    clock, ahead = np.zeros(n, np.int64), np.zeros(n, np.int64)
    timed, known = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    spans = np.full(n, np.nan)
    for i, value in enumerate(values):
        if is_missing(value) or (isinstance(value, np.generic) and np.isnat(value)):
            continue
        if isinstance(value, np.datetime64 | np.timedelta64):
            dates, seconds = _from_numpy(np.array([value]))
            spans[i] = seconds[0]
            moment = None if dates is None or not dates.known[0] else (dates.clock[0], 0, dates.timed[0])
        else:
            moment = parse_date(value) if isinstance(value, str) else _date(value)
            if moment is None:
                spans[i] = _span(value, name, start + i)
        if moment is not None:
            (clock[i], ahead[i], timed[i]), known[i] = moment, True
    dates = Dates(clock, ahead, timed, known)
    return dates if known.any() else None, np.where(known, dates.seconds(), spans)


def _date(value: Any) -> tuple[int, int, bool] | None:
    """The local time in microseconds, its offset from UTC, and whether it has a time of day; None if it is no date."""
    if not isinstance(value, date):
        return None
    day = (value.toordinal() - _EPOCH) * DAY
    if not isinstance(value, datetime):
        return day, 0, False
    offset = value.utcoffset()
    micros = (value.hour * 3600 + value.minute * 60 + value.second) * SECOND + value.microsecond
    return day + micros, 0 if offset is None else offset // timedelta(microseconds=1), True


def _span(value: Any, name: str, row: int) -> float:
    """Seconds of a time of day or a span of time; a number is taken as seconds."""
    if isinstance(value, time):
        micros = (value.hour * 3600 + value.minute * 60 + value.second) * SECOND + value.microsecond
        return micros / SECOND
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1) / SECOND
    if isinstance(value, NUMBERS) and not isinstance(value, bool | np.bool_):
        return as_float(value)
    raise _no_date(value, name, row)


def _parts(dates: Dates) -> list[NDArray[Any]]:
    """Hour, weekday and month as names, None where missing."""
    hours = np.where(dates.timed, dates.clock // (3600 * SECOND) % 24, 24)
    days = np.where(dates.known, (dates.clock // DAY + 3) % 7, 7)
    months = dates.clock.view("M8[us]").astype("M8[M]").astype(np.int64) % 12
    months = np.where(dates.known, months, 12)
    named = ((HOURS, hours), (WEEKDAYS, days), (MONTHS, months))
    return [np.array([*names, None], dtype=object)[index] for names, index in named]


def _names(values: Any, name: str, start: int) -> Any:
    """Dates as names; text as it stands in the file."""
    text = getattr(getattr(values, "type", None), "extension_name", "") == DATE_TEXT
    return values.storage if text else names_of_dates(*_read(values, name, start))
