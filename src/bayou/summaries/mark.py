"""A mark for one state of a summary, which is the key of caches of its readers."""

from __future__ import annotations


class Mark:
    """Stands for one state of a summary, which takes a new mark whenever it changes; caches belong to the readers."""

    __slots__ = ("__weakref__",)
