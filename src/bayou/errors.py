"""The errors and warnings of bayou. Each also inherits the built-in type that users expect."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable


class BayouError(Exception):
    """Root of all errors: catch this to catch whatever bayou raises on purpose."""


class DataError(BayouError, ValueError):
    """A value that cannot be used: the message names the row, the column, the value and a remedy.

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
        self.index: int | None = None  # of the row within its batch, set by the encoder
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
    """Columns, kinds or classes that contradict the declarations or what the model has learned."""


class OptionError(DataError, SchemaError):
    """An option that is not possible, whatever the data: an unknown format, a column that does not exist."""


class MergeError(BayouError, ValueError):
    """Two models or summaries that cannot be merged; the message says why and what to do instead."""


class UnsupportedError(BayouError, NotImplementedError):
    """An operation that the model does not support, such as merging; the message gives the reason."""


class ModelFileError(BayouError, ValueError):
    """A model file that is damaged, hostile, or from another version."""


class NotFittedError(BayouError, ValueError, AttributeError):
    """A prediction was requested before anything was learned."""


class BayouWarning(UserWarning):
    """Root of the warnings: there is a result, but probably not the intended one."""


class ColumnWarning(BayouWarning):
    """Rows to predict have none, or few, of the columns the model learned: the prediction is mostly the prior."""


class MergeWarning(BayouWarning):
    """Models were merged that have no column, or no class, in common."""


class TargetWarning(BayouWarning):
    """The labels look like measurements: they are more distinct numbers than there are usually classes."""


class TextWarning(BayouWarning):
    """A nominal column holds sentences, which do not repeat: it is of no use unless it is declared as text."""


class NumberWarning(BayouWarning):
    """Columns of numbers in an unusual format are read as names: from a number that is new, nothing is learned."""


class RoundingWarning(BayouWarning):
    """Values far larger than the others were unlearned, and took the digits of the others with them."""


class DateNote(BayouWarning):
    """Columns of dates are learned as seconds, hour, weekday and month."""


def warn_user(text: str, category: type[Warning]) -> None:
    """Issue a warning that points to the line of the user's code that called bayou."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("bayou."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def listed(names: Iterable[object], most: int = 10) -> str:
    """The first names, and how many more there are, as text.

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
