"""Checkpoints of a learning run: killed at any moment, it goes on where it was, and no row counts twice."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any, Self

from bayou.cli.console import UsageError, note

if TYPE_CHECKING:
    from bayou.streams.source import Source


class Checkpoints:
    """A folder that is written every so many seconds, and read at the start.

    Parameters
    ----------
    folder
        Where the checkpoints go; None: there are none.
    seconds
        How often.
    """

    def __init__(self, folder: str | None, seconds: float, quiet: bool = False) -> None:
        from bayou.files import kinds
        from bayou.persist.checkpoint import Checkpoint

        self.folder = None if folder is None else Checkpoint(folder, kinds())
        self.seconds, self.quiet = seconds, quiet
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        if self.folder is not None:
            self.folder.open()
        return self

    def __exit__(self, *exception: object) -> None:
        if self.folder is not None:
            self.folder.close()

    def resumed(self, model: Any, stream: Source) -> tuple[Any, int]:
        """The model and the number of rows to go on with; the stream is moved to the next row."""
        from bayou.persist.checkpoint import check_same_source

        if self.folder is None:
            return model, 0
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = self.folder.latest()
        for warning in caught:
            note(str(warning.message))
        if found is None:
            return model, 0
        if repr(found.model) != repr(model):
            raise UsageError(
                f"the checkpoint in {self.folder.folder} is of {found.model!r}, not of {model!r}; "
                "give the same --model, or another folder"
            )
        check_same_source(found.source, stream.identity)
        stream.seek(found.position)
        if not self.quiet:
            note(f"going on after {found.rows:,} rows, from the checkpoint in {self.folder.folder}")
        return found.model, found.rows

    def write(
        self, model: Any, rows: int, stream: Source, *, finished: bool = False, now: bool = False
    ) -> None:
        """Write a checkpoint, if it is time to."""
        from bayou.persist.checkpoint import Snapshot

        if self.folder is None or not (now or finished or time.monotonic() - self._last >= self.seconds):
            return
        self.folder.write(Snapshot(model, rows, stream.identity, stream.position(), finished=finished))
        self._last = time.monotonic()
