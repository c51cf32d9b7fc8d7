"""What readers have derived from the states of summaries, kept as long as these states."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from bayou.summaries.mark import Mark

_KEPT: WeakKeyDictionary[Mark, dict[Any, Any]] = WeakKeyDictionary()


def kept(mark: Mark) -> dict[Any, Any]:
    """What is kept of one state, by whoever derived it; it is gone with the mark.

    Examples
    --------
    >>> state = Mark()
    >>> kept(state)["table"] = [0.5]
    >>> kept(state), kept(Mark())
    ({'table': [0.5]}, {})
    """
    found = _KEPT.get(mark)
    return _KEPT.setdefault(mark, {}) if found is None else found
