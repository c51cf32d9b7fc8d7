"""A thread that feeds a log into a living model; the position in the log is saved with the model."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from bayou.errors import BayouError
from bayou.persist.checkpoint import check_same_source
from bayou.serve.bodies import ARROW, Batch, read_batch
from bayou.serve.errors import BusyError
from bayou.serve.log import LogPlace
from bayou.serve.queue import Task
from bayou.streams.source import Followed, Rows, Source

if TYPE_CHECKING:
    from bayou.serve.living import LivingModel

ROWS = 1_000  # of a batch
UPDATE = 1.0  # seconds between two updates of the progress
RETRY = 0.05  # seconds before rows for which there was no room are offered again
ANY = 1 << 62  # no limit of rows


@dataclass(frozen=True)
class FollowedLog:
    """The progress through a followed log: offsets, and rows learned, rejected as malformed and refused by the model.

    `lag` is the number of messages not learned yet; None where the log does not count them.
    """

    log: str
    offsets: Mapping[int, int | str] = field(default_factory=dict)
    lag: int | None = None
    rows: int = 0
    rejected: int = 0
    refused: int = 0
    ended: bool = False


class LogFollower:
    """A thread that reads a log and hands its rows to the learner, each batch with the place behind it.

    The learner writes both to its log before it learns the rows, and keeps the place in its checkpoints. So a restarted
    server reads on behind the last rows that were learned or logged: each row once.
    """

    def __init__(self, living: LivingModel, opened: Callable[[], Source], name: str) -> None:
        self._living, self._opened = living, opened
        self.progress = FollowedLog(name)
        self._rows = self._refused = 0
        self._end = Event()
        self._thread = Thread(target=self._live, name=f"log of {living.name}", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread; batches that were handed over are still learned."""
        self._end.set()
        self._thread.join()

    def _live(self) -> None:
        try:
            with self._opened() as stream:
                self._follow(stream)
        except Exception as problem:  # the model goes on without it, and says so
            if not isinstance(problem, BayouError):
                logging.getLogger("bayou.serve").exception("the log of %s has failed", self._living.name)
            self._living.trouble = f"{self.progress.log} is not followed any more: {problem}"

    def _follow(self, stream: Source) -> None:
        place = self._living.place
        if place is not None:
            if isinstance(stream, Followed):
                stream.recall(place.identity)
            check_same_source(place.identity, stream.identity)
            stream.seek(place.position)
        identity = dict(stream.identity)
        next_update = 0.0
        while not self._end.is_set():
            rows = stream.read(ROWS)
            if rows is None:
                self._update_progress(stream, ended=True)
                return
            if len(rows):
                place = LogPlace(identity, dict(stream.position()))
                if not self._learn(batch_of(rows, str(stream.target)), place):
                    return
            if time.monotonic() >= next_update:
                self._update_progress(stream)
                next_update = time.monotonic() + UPDATE

    def _learn(self, batch: Batch, place: LogPlace) -> bool:
        """Offer rows to the learner until it accepts or refuses them; return False if this was stopped before."""
        while not self._end.is_set() and self._living.broken is None:
            task = Task("learn", batch, place=place)
            try:
                self._living.submit(task)
                task.future.result()
            except BusyError:  # no room, or a full disk: nothing was learned
                self._end.wait(RETRY)
                continue
            except BayouError as problem:  # rows that this model cannot learn: it would refuse them again
                self._refused += batch.size
                self._living.trouble = f"{self.progress.log}: {batch.size:,} rows refused: {problem}"
            else:
                self._rows += batch.size
            return True
        return False

    def _update_progress(self, stream: Any, ended: bool = False) -> None:
        offsets = stream.offsets() if hasattr(stream, "offsets") else {}
        lag = stream.lag() if hasattr(stream, "lag") else None
        rejected = stream.rejects.rows + stream.rejects.cells
        self.progress = FollowedLog(
            self.progress.log, offsets, lag, self._rows, rejected, self._refused, ended
        )


def batch_of(rows: Rows, target: str) -> Batch:
    """A batch of rows of a stream, whose body is an Arrow stream that the model's log can keep."""
    import pyarrow as pa

    columns = {name: getattr(column, "storage", column) for name, column in rows.columns.items()}
    table = pa.table({**columns, target: rows.labels})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    body = sink.getvalue().to_pybytes()
    return read_batch(body, ARROW, labelled=True, target=target, most=ANY)
