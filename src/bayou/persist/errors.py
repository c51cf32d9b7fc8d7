"""Errors of checkpoint folders."""

from __future__ import annotations

from bayou.errors import BayouError


class CheckpointError(BayouError, OSError):
    """A checkpoint that cannot be written, read, or continued; the message says what to do."""


class DamagedCheckpointWarning(UserWarning):
    """The newest checkpoint could not be read; an older one is used."""
