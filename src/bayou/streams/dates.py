"""Columns that hold dates: said, because as names each of them is a value of its own."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

from bayou.streams.read_options import listed

DATE = (
    r"^(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d{1,2} [A-Z][a-z]{2,8} \d{4})"
    r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?)?$"
)
_DATE = re.compile(DATE)


class DateWarning(UserWarning):
    """Columns of dates that are read as names: nearly every row has a value of its own, which tells nothing."""


def looks_like_date(text: str) -> bool:
    """Whether a cell is a date, perhaps with a time.

    >>> [looks_like_date(x) for x in ("2026-11-16", "16.11.2026 21:12", "2026-11-16T21:12:13.5Z", "1-2", "mon")]
    [True, True, True, False, False]
    """
    return _DATE.match(text) is not None


def tell_dates(names: Sequence[str]) -> None:
    """Warn of columns that look like dates."""
    if not names:
        return
    one = len(names) == 1
    warnings.warn(
        f"{'column' if one else 'columns'} {listed(names)} look{'s' * one} like dates, and {'is' if one else 'are'} "
        f"read as names: a date that is new tells nothing; turn {'it' if one else 'them'} into hour, weekday, month "
        f"or a number first, or leave {'it' if one else 'them'} out: ignore=[{', '.join(map(repr, names[:30]))}]; "
        f"nominal=[...] keeps {'it' if one else 'them'} without this warning",
        DateWarning,
        stacklevel=5,
    )
