"""The layout of a stream's records, which checkpoints keep, since the first records may be gone later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

from bayou.errors import DataError
from bayou.streams.cells import Label
from bayou.streams.source import ColumnType, Kind


@dataclass(frozen=True)
class Layout:
    """The columns that are read, the target, the type of its labels, and the kinds of columns that are left out.

    `names` are the names of all cells of a record in order (CSV), or of all keys (JSON).

    Examples
    --------
    >>> layout = Layout({"x": ColumnType("numeric")}, "y", "int64", {}, ("x", "y"))
    >>> Layout.of(layout.text()) == layout
    True
    """

    columns: Mapping[str, ColumnType]
    target: str | None
    label: Label
    left_out: Mapping[str, Kind]
    names: tuple[str, ...]

    def text(self) -> str:
        """The layout as JSON, the same text for the same layout."""
        kinds = {name: column.kind for name, column in self.columns.items()}
        return json.dumps([kinds, self.target, self.label, dict(self.left_out), self.names])

    @staticmethod
    def of(text: object) -> Layout:
        """The layout from the JSON that `text` returned; raises DataError for anything else."""
        try:
            kinds, target, label, left_out, names = json.loads(cast(str, text))
            layout = Layout(
                {name: ColumnType(_kind(kind)) for name, kind in kinds.items()},
                target,
                label,
                {name: _kind(kind) for name, kind in left_out.items()},
                tuple(names),
            )
        except (ValueError, TypeError, AttributeError) as problem:
            raise _wrong() from problem
        valid = all(isinstance(name, str) for name in layout.names)
        if not (valid and isinstance(target, str | None) and label in get_args(Label)):
            raise _wrong()
        return layout


def _kind(kind: Any) -> Kind:
    if kind not in get_args(Kind):
        raise ValueError(kind)
    return cast(Kind, kind)


def _wrong() -> DataError:
    return DataError("this is not how a stream keeps its columns", remedy="start again in an empty folder")
