"""Dates as a model learns them: a trend in seconds, and hour, weekday and month, which come again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import numpy as np

from bayou.encoding.forms import is_arrow
from bayou.encoding.missing import is_missing
from bayou.encoding.table import Table
from bayou.errors import DateNote, listed, warn_user
from bayou.schema import Kind, Schema

HOURS = [f"{hour:02}" for hour in range(24)]
WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
PARTS = {"hour": HOURS, "weekday": WEEKDAYS, "month": MONTHS}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def with_parts_of_dates(table: Table, schema: Schema, learn: bool) -> Table:
    """The table with four columns for each of dates: `when` in seconds, `when.hour`, `when.weekday`, `when.month`.

    Hour, weekday and month are those of the clock a value was written by; seconds count from 1970 in UTC, and a value
    without a time zone is taken as UTC. Days without a time have no hour. Times of day and spans of time are seconds.
    A column that is declared nominal keeps its dates as names; one that the table itself has is left alone.
    """
    dated = {j: column for j, column in enumerate(table.columns) if _is_dates(column)}
    if not dated:
        return table
    names, columns = list(table.names), list(table.columns)
    for j, column in dated.items():
        if schema.kind(names[j]) in (Kind.NOMINAL, Kind.TEXT):
            columns[j] = [None if is_missing(value) else str(value) for value in _objects(column)]
            continue
        columns[j], parts = _taken_apart(_objects(column))
        for part, values in parts.items():
            if f"{names[j]}.{part}" not in table.names:
                names.append(f"{names[j]}.{part}")
                columns.append(values)
    if learn:
        _tell([table.names[j] for j in dated if schema.kind(table.names[j]) is None])
    return replace(table, names=names, columns=columns)


def _tell(new: Sequence[str]) -> None:
    if new:
        warn_user(
            f"dates in {listed(new)} are learned as seconds (a trend) and as .hour, .weekday and .month; leave the "
            "column out or convert it yourself if you want something else, or keep the dates as names with "
            f"schema=Declared(columns={{{new[0]!r}: 'nominal'}})",
            DateNote,
        )


def _is_dates(values: Any) -> bool:
    """Whether a column's type or else its first present value is a date, a time or a span of time."""
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind != "O":
        return dtype.kind in "mM"
    if is_arrow(values):
        from pyarrow import types

        return bool(types.is_temporal(values.type))
    if not isinstance(values, list | tuple | np.ndarray):
        return False
    first = next((value for value in values if not is_missing(value)), None)
    return isinstance(first, date | time | timedelta | np.datetime64 | np.timedelta64)


def _objects(values: Any) -> Iterable[Any]:
    """The cells as Python's dates, to the microsecond."""
    if is_arrow(values):
        import pyarrow as pa

        t = values.type
        if pa.types.is_timestamp(t):
            values = values.cast(pa.timestamp("us", t.tz), safe=False)
        elif pa.types.is_duration(t):
            values = values.cast(pa.duration("us"), safe=False)
        elif pa.types.is_time64(t):
            values = values.cast(pa.time64("us"), safe=False)
        return list(values.to_pylist())
    return [_object(value) for value in values]


def _object(value: Any) -> Any:
    if isinstance(value, np.datetime64):
        days = np.datetime_data(value.dtype)[0] in ("Y", "M", "W", "D")
        return value.astype("M8[D]" if days else "M8[us]").item()
    return value.astype("m8[us]").item() if isinstance(value, np.timedelta64) else value


def _taken_apart(values: Iterable[Any]) -> tuple[Any, dict[str, list[str | None]]]:
    seconds: list[Any] = []
    parts: dict[str, list[str | None]] = {part: [] for part in PARTS}
    for value in values:
        missing = is_missing(value)
        day = not missing and isinstance(value, date)
        seconds.append(None if missing else _seconds(value))
        parts["hour"].append(HOURS[value.hour] if day and isinstance(value, datetime) else None)
        parts["weekday"].append(WEEKDAYS[value.weekday()] if day else None)
        parts["month"].append(MONTHS[value.month - 1] if day else None)
    return seconds, parts


def _seconds(value: Any) -> Any:
    """Seconds since 1970, of a day, or of a span; what is none of these stays, for the encoder to refuse."""
    if isinstance(value, datetime):
        plain = datetime(  # a Timestamp of pandas has nanoseconds, which would round otherwise
            value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond,
            value.tzinfo, fold=value.fold,
        )  # fmt: skip
        return ((plain if plain.tzinfo else plain.replace(tzinfo=UTC)) - _EPOCH).total_seconds()
    if isinstance(value, date):
        return float((value - _EPOCH.date()).days * 86_400)
    if isinstance(value, time):
        return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
    return value.total_seconds() if isinstance(value, timedelta) else value
