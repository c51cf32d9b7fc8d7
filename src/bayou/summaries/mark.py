"""A mark for one state of a summary, under which readers keep what they derive from it."""

from __future__ import annotations


class Mark:
    """Stands for one state: a summary takes a new mark whenever it changes, and keeps nothing that was read off it."""

    __slots__ = ("__weakref__",)
