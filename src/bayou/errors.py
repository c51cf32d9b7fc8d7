"""Every error and warning bayou gives on purpose. Each also inherits the built-in type users expect."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable


class BayouError(Exception):
    """Root of all errors: catch this to catch whatever bayou raises on purpose."""


class DataError(BayouError, ValueError):
    """A value that does not fit: names the row, the column, the value and the way out.

    `row` counts rows from 0; `line` lines of a file from 1, its header and blank lines included.

    Examples
    --------
    >>> print(DataError("not a number", column="price", row=3, value="abc", remedy="declare it nominal"))
    row 3, column 'price': not a number: 'abc' (declare it nominal)
    """

    def __init__(
        self,
        problem: str,
        *,
        row: int | None = None,
        column: object = None,
        value: object = None,
        remedy: str = "",
        line: int | None = None,
    ) -> None:
        self.problem, self.row, self.column, self.value, self.remedy = problem, row, column, value, remedy
        self.line = line
        self.index: int | None = None  # of the row within its batch, where an encoder found it
        place = ", ".join(
            ([f"line {line}"] if line is not None else [])
            + ([f"row {row}"] if row is not None else [])
            + ([f"column {column!r}"] if column is not None else [])
        )
        shown = f": {_short(value)}" if value is not None else ""
        super().__init__(f"{place + ': ' if place else ''}{problem}{shown}{f' ({remedy})' if remedy else ''}")

    def in_row(self, row: int, line: int | None = None) -> DataError:
        """This error as it would have been raised for another row, or for a line of a file."""
        return DataError(
            self.problem, row=row, column=self.column, value=self.value, remedy=self.remedy, line=line
        )


class SchemaError(BayouError, ValueError):
    """Columns, kinds or classes that contradict what the model was told or has seen."""


class OptionError(DataError, SchemaError):
    """What was asked for cannot be, whatever the data hold: an unknown format, a column that does not exist."""


class MergeError(BayouError, ValueError):
    """Two states that cannot be added up; the message says why and what to do instead."""


class UnsupportedError(BayouError, NotImplementedError):
    """Something this model's law or capabilities do not allow; the message gives the reason."""


class ModelFileError(BayouError, ValueError):
    """A model file that is damaged, hostile, or from another version."""


class NotFittedError(BayouError, ValueError, AttributeError):
    """Asked for a prediction before anything was learned."""


class BayouWarning(UserWarning):
    """Root of the warnings: an answer is given, but probably not to the question that was meant."""


class ColumnWarning(BayouWarning):
    """Rows to predict have none, or few, of the columns the model learned: the answer is the prior, or nearly."""


class MergeWarning(BayouWarning):
    """Models were merged that have no column, or no class, in common."""


class TargetWarning(BayouWarning):
    """The labels look like measurements: numbers of which there are more than classes ever are."""


class TextWarning(BayouWarning):
    """A column of names holds sentences: no new row will have the same, so it tells nothing unless declared as text."""


class DateNote(BayouWarning):
    """Columns of dates are learned as seconds, hour, weekday and month."""


def warn_user(text: str, category: type[Warning]) -> None:
    """Warn at the line of the caller's own code that called into bayou."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("bayou."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def listed(names: Iterable[object], most: int = 10) -> str:
    """A few names in words.

    >>> listed(["a", 1, "b"], most=2)
    "'a', 1 and 1 more"
    """
    shown = list(names)
    if not shown:
        return "none"
    more = f" and {len(shown) - most:,} more" if len(shown) > most else ""
    return ", ".join(map(repr, shown[:most])) + more


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
