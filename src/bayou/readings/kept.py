"""A cache of what readers derive from summaries, valid as long as the state of the summary."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from bayou.summaries.mark import Mark

_KEPT: WeakKeyDictionary[Mark, dict[Any, Any]] = WeakKeyDictionary()


def kept(mark: Mark) -> dict[Any, Any]:
    """The cache of one state, as a dict that readers fill; it is dropped together with the mark.

    Examples
    --------
    >>> state = Mark()
    >>> kept(state)["table"] = [0.5]
    >>> kept(state), kept(Mark())
    ({'table': [0.5]}, {})
    """
    cache = _KEPT.get(mark)
    return _KEPT.setdefault(mark, {}) if cache is None else cache
