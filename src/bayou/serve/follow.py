"""Predictors that follow a learner: a model file is taken up again whenever it changes."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Event, Thread

from bayou import files
from bayou.serve.living import LivingModel
from bayou.serve.snapshot import Published

SECONDS = 0.5  # between two looks


class Follower:
    """A thread that publishes what a learner writes to a file; a file that cannot be read is passed over.

    Files are replaced atomically, so a look finds the old one or the new one.
    """

    def __init__(self, living: LivingModel, path: str | os.PathLike[str], seconds: float = SECONDS) -> None:
        self.living, self.path = living, Path(path)
        self._seconds = seconds
        self._seen: tuple[int, int, int] | None = None  # what was loaded may be replaced already
        self._end = Event()
        self._thread = Thread(target=self._live, name=f"follower of {living.name}", daemon=True)

    def start(self) -> None:
        """Look from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._end.set()
        self._thread.join()

    def look(self) -> bool:
        """Take up the file if it has changed; whether it was taken up."""
        mark = self._mark()
        if mark is None or mark == self._seen:
            return False
        try:
            model = files.load(self.path)
            found = Published.of(self.living.published.variant, model, model.position)
        except Exception as problem:  # whatever it is, the next file may be better
            self.living.trouble = f"{self.path} cannot be taken up: {problem}"
            return False
        self._seen, self.living.trouble = mark, None
        if found.digest == self.living.published.digest:
            return False
        self.living.published = found
        return True

    def _live(self) -> None:
        while not self._end.wait(self._seconds):
            self.look()

    def _mark(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns
