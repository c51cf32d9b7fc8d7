"""Every error bayou raises on purpose. Each also inherits the built-in type users expect."""

from __future__ import annotations


class BayouError(Exception):
    """Root of the family: catch this to catch whatever bayou raises on purpose."""


class DataError(BayouError, ValueError):
    """A value that does not fit: names the row, the column, the value and the way out.

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
    ) -> None:
        self.problem, self.row, self.column, self.value, self.remedy = problem, row, column, value, remedy
        place = ", ".join(
            ([f"row {row}"] if row is not None else [])
            + ([f"column {column!r}"] if column is not None else [])
        )
        shown = f": {_short(value)}" if value is not None else ""
        super().__init__(f"{place + ': ' if place else ''}{problem}{shown}{f' ({remedy})' if remedy else ''}")

    def in_row(self, row: int) -> DataError:
        """The same problem, found in another row."""
        return DataError(self.problem, row=row, column=self.column, value=self.value, remedy=self.remedy)


class SchemaError(BayouError, ValueError):
    """Columns, kinds or classes that contradict what the model was told or has seen."""


class MergeError(BayouError, ValueError):
    """Two states that cannot be added up; the message says why and what to do instead."""


class UnsupportedError(BayouError, NotImplementedError):
    """Something this model's law or capabilities do not allow; the message gives the reason."""


class ModelFileError(BayouError, ValueError):
    """A model file that is damaged, hostile, or from another version."""


class NotFittedError(BayouError, ValueError, AttributeError):
    """Asked for a prediction before anything was learned."""


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
