"""Labels to class codes, the short way: integer classes by table."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayou.block import Codes
from bayou.encoding.columns import SPAN
from bayou.kernels.labels import code_labels
from bayou.schema import Vocabulary


class IntegerClasses:
    """Codes of integer labels by table, while all classes are integers that lie close together.

    Examples
    --------
    >>> table = IntegerClasses(Vocabulary([7, 3]))
    >>> table.codes(np.array([3, 3, 7])).tolist()
    [1, 1, 0]
    >>> table.codes(np.array([3, 4])) is None  # a class that is not known
    True
    """

    def __init__(self, classes: Vocabulary) -> None:
        self._codes: Codes | None = None
        values = [value for value in classes.values if type(value) is int]
        close = values and max(values) - min(values) <= SPAN and max(values) < 1 << 63
        if close and len(values) == len(classes.values):
            self._low = min(values)
            self._codes = np.full(max(values) - self._low + 1, -1, dtype=np.int32)
            for code, value in enumerate(values):
                self._codes[value - self._low] = code

    def codes(self, y: Any) -> Codes | None:
        """The labels' codes; None unless all are integers of known classes."""
        table = self._codes
        if table is None or not isinstance(y, np.ndarray) or y.dtype.kind not in "iu" or not len(y):
            return None
        if y.dtype == np.uint64 and y.max() >= 1 << 63:
            return None
        codes = np.empty(len(y), dtype=np.int32)
        known = code_labels(codes, table, np.ascontiguousarray(y, dtype=np.int64), self._low)
        return codes if known else None
