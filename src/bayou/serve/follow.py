"""A predictor that follows a learner: it reloads a model file whenever the file changes."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Event, Thread

from bayou import files
from bayou.serve.living import LivingModel
from bayou.serve.snapshot import Published

SECONDS = 0.5  # between two looks at the file


class Follower:
    """A thread that publishes the model a learner writes to a file; a file that cannot be read is skipped.

    The learner replaces the file atomically, so it is always a whole model, old or new.
    """

    def __init__(self, living: LivingModel, path: str | os.PathLike[str], seconds: float = SECONDS) -> None:
        self.living, self.path = living, Path(path)
        self._seconds = seconds
        self._seen: tuple[int, int, int] | None = (
            None  # None: the file may have changed since the model was loaded
        )
        self._end = Event()
        self._thread = Thread(target=self._live, name=f"follower of {living.name}", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread and wait for its end."""
        self._end.set()
        self._thread.join()

    def look(self) -> bool:
        """Load and publish the file if it has changed; return whether a new model was published."""
        file_state = self._file_state()
        if file_state is None or file_state == self._seen:
            return False
        try:
            model = files.load(self.path)
            published = Published.of(self.living.published.variant, model, model.position)
        except Exception as problem:  # whatever it is, the next file may be better
            self.living.trouble = f"{self.path} cannot be taken up: {problem}"
            return False
        self._seen, self.living.trouble = file_state, None
        if published.digest == self.living.published.digest:
            return False
        self.living.published = published
        return True

    def _live(self) -> None:
        while not self._end.wait(self._seconds):
            self.look()

    def _file_state(self) -> tuple[int, int, int] | None:
        try:
            status = os.stat(self.path)
        except OSError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns
