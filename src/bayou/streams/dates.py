"""Columns of dates: text in ISO 8601 is read as dates; other formats are warned of, and read as names."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayou.dates import DATE_TEXT, parse_dates
from bayou.streams import compute as pc
from bayou.streams.read_options import listed

MISSING = ("", "?", "NA", "NaN", "nan", "NaT")
NO_DATE = "not a date"
_DATE = re.compile(
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,2} [A-Z][a-z]{2,8} \d{4})"
    r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?)?",
    re.ASCII,
)


class DateText(pa.ExtensionType):  # type: ignore[misc] # pyarrow has no types
    """The Arrow type of dates as text, of which every cell is a date or null."""

    def __init__(self) -> None:
        super().__init__(pa.string(), DATE_TEXT)

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> DateText:
        return cls()


class DateWarning(UserWarning):
    """Columns of dates are read as names: nearly every row has another value, from which nothing is learned."""


def dates(cells: pa.Array, missing: Sequence[str] = MISSING) -> tuple[pa.Array, NDArray[np.bool_]]:
    """String cells as dates, null where missing, and a mark where a cell is not a date.

    Examples
    --------
    >>> found, bad = dates(pa.array([" 2026-11-16", "2026-11-16T21:12Z", "?", "never"]))
    >>> found.to_pylist(), bad.tolist()
    (['2026-11-16', '2026-11-16T21:12Z', None, None], [False, False, False, True])
    """
    text = pc.ascii_trim(cells, " \t")
    known = parse_dates(text).known
    absent = pc.or_(text.is_null(), pc.is_in(text, pa.array(missing, pa.string())))
    bad = ~known & ~absent.to_numpy(zero_copy_only=False)
    if not known.all():
        text = pc.if_else(pa.array(known), text, pa.scalar(None, pa.string()))
    return pa.ExtensionArray.from_storage(DateText(), text), bad


def count_dates(cells: pa.Array) -> int:
    """How many of the string cells are dates.

    >>> count_dates(pa.array(["2026-11-16", "16.11.2026", None]))
    1
    """
    return int(parse_dates(cells).known.sum())


def remedy(name: str) -> str:
    """The remedy in the error message about a cell that is not a date."""
    return (
        f'write it as 2026-11-16 or 2026-11-16T21:12:13+01:00, declare nominal=[{name!r}]; or policy="skip" or '
        'policy="missing"'
    )


def looks_like_date(text: str) -> bool:
    """Whether a cell is a date in any common format, with or without a time.

    >>> [looks_like_date(x) for x in ("2026-11-16", "16.11.2026 21:12", "2026-11-16T21:12:13.5Z", "1-2", "mon")]
    [True, True, True, False, False]
    """
    return _DATE.fullmatch(text.strip(" \t")) is not None


def warn_of_dates(names: Sequence[str]) -> None:
    """Warn of columns that look like dates in other formats than ISO 8601."""
    if not names:
        return
    one = len(names) == 1
    warnings.warn(
        f"{'column' if one else 'columns'} {listed(names)} look{'s' * one} like dates, and {'is' if one else 'are'} "
        "read as names: a date that is new tells nothing; dates are learned as hour, weekday, month and trend if they "
        "are written as 2026-11-16 or 2026-11-16T21:12:13; or leave "
        f"{'it' if one else 'them'} out: ignore=[{', '.join(map(repr, names[:30]))}]; "
        f"nominal=[...] keeps {'it' if one else 'them'} without this warning",
        DateWarning,
        stacklevel=5,
    )
