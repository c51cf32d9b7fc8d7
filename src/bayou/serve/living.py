"""A living model: one thread learns what comes, while everybody predicts from the snapshot published last.

Accepted batches are logged before they are learned; the log stands beside checkpoints that hold models, measures, keys
and the number of the next entry in one atomic file. So a process killed at any moment goes on with the same bits,
every acknowledged row learned exactly once.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import InvalidStateError
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, Self

from bayou import files
from bayou.errors import BayouError
from bayou.persist.checkpoint import Checkpoint, Snapshot
from bayou.persist.errors import CheckpointError
from bayou.serve.bodies import read_batch
from bayou.serve.errors import BusyError, ConflictError, DeadlineError
from bayou.serve.keys import RecentKeys
from bayou.serve.log import Item, Log, LogPlace
from bayou.serve.log_follower import LogFollower
from bayou.serve.queue import MOST_ROWS, Task, TaskQueue
from bayou.serve.snapshot import Measures, Published, Told
from bayou.serve.variants import Variants
from bayou.streams.source import Source
from bayou.training.run import Every

SOURCE = {"kind": "bayou serve"}
SHARE = 10  # of the learner's time, one part at most goes into publishing
# Seconds at least between two snapshots, sets of measures, snapshot files
PUBLISH, TELL, WRITE = 0.01, 0.25, 1.0
ANY = 1 << 62  # rows of a batch that was accepted once, whatever the limit is now


class LivingModel:
    """A model that learns and answers at once, with shadows that learn the same rows and never answer.

    Parameters
    ----------
    name
        What requests call it.
    model
        The classifier; it belongs to the living model from now on.
    shadows
        Other classifiers by name, which learn and are measured beside it until one of them is promoted.
    learns
        Whether it takes rows; else it only answers.
    folder
        Where checkpoints and the log go; if it holds some, the model goes on from there. None: nothing is kept.
    every
        When checkpoints are written.
    most_rows
        Rows that may wait to be learned.
    keep_log
        Keep all of the log, also what checkpoints have made superfluous.
    follow_file
        Where every few seconds the published model is written for predictors that follow it.
    follow, follow_name
        Opens a log whose rows are learned as they come, and what it is called; its place is part of the checkpoints.

    Examples
    --------
    >>> from bayou.classifiers import NaiveBayes
    >>> body = b'{"record": {"sky": "blue"}, "label": "dry"}'
    >>> with LivingModel("weather", NaiveBayes(), learns=True) as living:
    ...     task = Task("learn", read_batch(body, "application/json", labelled=True), visible=True)
    ...     living.submit(task)
    ...     task.future.result()["rows"], living.published.model.predict_one({"sky": "blue"})
    (1, 'dry')
    """

    def __init__(
        self,
        name: str,
        model: Any,
        *,
        shadows: Mapping[str, Any] | None = None,
        learns: bool = False,
        folder: str | os.PathLike[str] | None = None,
        every: Every = Every(seconds=30.0),  # noqa: B008 - frozen
        most_rows: int = MOST_ROWS,
        keep_log: bool = False,
        follow_file: str | os.PathLike[str] | None = None,
        follow: Callable[[], Source] | None = None,
        follow_name: str = "a log",
    ) -> None:
        self.name, self.learns = name, learns
        self.queue = TaskQueue(most_rows)
        self.variants = Variants({name: model, **(shadows or {})}, name)
        self.broken: str | None = None
        self.trouble: str | None = None
        self.resumed_at: int | None = None
        self._keys = RecentKeys()
        self._every, self._keep_log = every, keep_log
        self._folder = None if folder is None else Checkpoint(folder, files.kinds())
        self._follow_file = None if follow_file is None else Path(follow_file)
        self._log: Log | None = None
        self._thread: Thread | None = None
        self._entries: list[int] = []  # the next entry at each checkpoint that is kept
        # Rows and moment of the last checkpoint, and the seconds it took
        self._saved = (
            0,
            time.monotonic(),
            0.0,
        )
        self._stale, self._next_publish, self._next_tell = False, 0.0, 0.0
        self._untold = True  # what was measured is behind what was learned
        self._written: Published | None = None
        self._next_write = 0.0
        self.place: LogPlace | None = None  # behind the last rows learned from a log
        self.follower = None if follow is None else LogFollower(self, follow, follow_name)
        self._publish()

    # -- the life of it --

    def start(self) -> Self:
        """Go on from the checkpoint and the log if there are any, and begin to take rows."""
        if self._folder is not None:
            self._folder.open()
            try:
                self._recover(self._folder)
            except BaseException:
                self._folder.close()
                raise
        self._publish()
        if self.learns:
            self._thread = Thread(target=self._live, name=f"learner of {self.name}", daemon=True)
            self._thread.start()
            if self.follower is not None:
                self.follower.start()
        return self

    def stop(self) -> None:
        """Learn what waits, write a last checkpoint, and let go of the folder."""
        if self.follower is not None and self._thread is not None:
            self.follower.stop()
        self.queue.close()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
            if self.broken is None:
                self._publish()
                self._tell()
                self._write_published()
        if self._folder is not None:
            try:
                if self._log is not None and self.broken is None:
                    self._save()
            finally:
                if self._log is not None:
                    self._log.close()
                self._folder.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def submit(self, task: Task) -> None:
        """Hand a task to the learner; its future gets the answer."""
        if not self.learns:
            raise ConflictError(f"{self.name} does not learn; start the server with --learn")
        if self.broken is not None:
            raise BusyError(f"{self.name} has stopped learning: {self.broken}; it still answers")
        if task.durable and self._folder is None:
            raise ConflictError("nothing is durable here; start the server with --checkpoint")
        self.queue.put(task)

    @property
    def answering(self) -> str:
        """The name of the variant that answers."""
        return self.variants.answering

    # -- the learner --

    def _live(self) -> None:
        tasks: list[Task] | None = []
        try:
            while (tasks := self.queue.take(self._pause())) is not None:
                if tasks:
                    self._drain(tasks)
                self._look_after()
        except Exception as problem:  # a bug, or no memory: what was learned last may be half learned
            logging.getLogger("bayou.serve").exception("the learner of %s has failed", self.name)
            self._break(problem, tasks or ())

    def _pause(self) -> float | None:
        """Seconds until there is something to do though nothing comes; None if nothing will be."""
        now = time.monotonic()
        moments = [self._next_publish] if self._stale else []
        if self._untold:
            moments.append(self._next_tell)
        if self._follow_file is not None and self._written is not self.published:
            moments.append(self._next_write)
        if self._log is not None and self.variants.rows > self._saved[0] and self._every.seconds is not None:
            moments.append(self._saved[1] + self._every.seconds)
        return max(0.0, min(moments) - now) if moments else None

    def _drain(self, tasks: Sequence[Task]) -> None:
        """Log and carry out tasks, in order; a key that comes twice among them waits for its first to be done."""
        rest: list[Task] = []
        fresh: dict[str | int, Task] = {}
        for task in tasks:
            if task.late():
                _fail(
                    task, DeadlineError("the deadline passed before the batch was begun; nothing was learned")
                )
            elif task.key in fresh:
                rest.append(task)
            elif task.future.set_running_or_notify_cancel() and not self._repeated(task):
                fresh[task.key or id(task)] = task
        if fresh:
            self._carry_out(list(fresh.values()))
        if rest:
            self._drain(rest)

    def _repeated(self, task: Task) -> bool:
        """Answer a task that was carried out before."""
        if task.key is None:
            return False
        try:
            if not self._keys.knows(task.key, task.batch.body):
                return False
            if task.durable and self._log is not None:
                self._log.sync()
        except BayouError as problem:
            _fail(task, problem)
            return True
        _answer(task, self._answer(task, repeated=True))
        return True

    def _carry_out(self, tasks: list[Task]) -> None:
        if self._log is not None:
            try:
                self._log.append([task.item() for task in tasks])
            except (
                OSError
            ) as problem:  # a full disk, perhaps: nothing is learned, and the next batch may fit again
                self.trouble = f"the log cannot be written: {problem}"
                for task in tasks:
                    _fail(task, BusyError(f"{self.trouble}; nothing was learned, try again"))
                return
            self.trouble = None
            try:
                if any(task.durable for task in tasks):
                    self._log.sync()
            except OSError as problem:  # what is on disk, nobody knows
                self._break(problem, tasks)
                return
        found = self._apply(tasks)
        if time.monotonic() >= self._next_publish or any(task.visible for task in tasks):
            self._publish()
        for task, refusal in zip(tasks, found, strict=True):
            if refusal is None:
                _answer(task, self._answer(task))
            else:
                _fail(task, refusal)

    def _apply(self, tasks: Sequence[Task]) -> list[BayouError | None]:
        """Carry out what is logged; by task, what it was refused for. The same tasks always end the same."""
        found = self.variants.carry_out(tasks)
        for task, problem in zip(tasks, found, strict=True):
            if problem is None and task.key is not None:
                self._keys.add(task.key, task.batch.body)
            self.place = task.place or self.place
        self._stale = self._untold = True
        return found

    def _answer(self, task: Task, repeated: bool = False) -> dict[str, Any]:
        return {
            "model": self.name,
            "rows": task.batch.size,
            "learned": self.variants.rows,
            "durable": task.durable,
            "visible": not self._stale,
            "repeated": repeated,
        }

    def _break(self, problem: BaseException, tasks: Sequence[Task] = ()) -> None:
        """Learn no more: what is in memory may not be what is on disk. A restart goes on from what is."""
        self.broken = str(problem) or type(problem).__name__
        self.queue.close()
        refusal = BusyError(f"{self.name} has stopped learning: {self.broken}; it still answers")
        for task in tasks:
            _fail(task, refusal)
        while waiting := self.queue.take(0.0):
            for task in waiting:
                _fail(task, refusal)

    # -- publishing --

    def _look_after(self) -> None:
        """What is due by the clock: a snapshot, measures, a checkpoint."""
        now = time.monotonic()
        if self._stale and now >= self._next_publish:
            self._publish()
        if self._untold and now >= self._next_tell:
            self._tell()
        if now >= self._next_write:
            self._write_published()
        rows, then, cost = self._saved
        learned = self.variants.rows - rows
        if self._log is not None and learned and self._every.due(learned, now - then, cost):
            try:
                self._save()
            except CheckpointError as problem:  # the log has it all, and grows until a checkpoint succeeds
                self.trouble, self._saved = str(problem), (rows, now, cost)

    def _publish(self) -> None:
        begin = time.monotonic()
        name = self.variants.answering
        self.published = Published.of(name, self.variants.model, self.variants.rows)
        self._stale = False
        now = time.monotonic()
        self._next_publish = now + max(PUBLISH, SHARE * (now - begin))
        if now >= self._next_tell:
            self._tell()

    def _write_published(self) -> None:
        """Write the snapshot for those who follow, unless it is written."""
        if self._follow_file is None or self._written is self.published or not self.published.model.started:
            return
        begin = time.monotonic()
        try:
            files.save(self.published.model, self._follow_file)
        except OSError as problem:
            self.trouble = f"the snapshot cannot be written: {problem}"
        else:
            self._written = self.published
        now = time.monotonic()
        self._next_write = now + max(WRITE, SHARE * (now - begin))

    def _tell(self) -> None:
        begin, self._untold = time.monotonic(), False
        measured = {name: Measures.of(each) for name, each in self.variants.measured.items()}
        self.told = Told(self.variants.rows, self.variants.unlearned, measured)
        now = time.monotonic()
        self._next_tell = now + max(TELL, SHARE * (now - begin))

    # -- checkpoints --

    def _recover(self, folder: Checkpoint) -> None:
        found = folder.latest()
        number = 0
        if found is not None:
            if dict(found.source) != SOURCE:
                raise CheckpointError(
                    f"{folder.folder} holds checkpoints of another kind; give another folder"
                )
            self.variants.restore(found)
            self._keys.restore(found.evaluator["keys"])
            self.place = LogPlace.of(found.notes.get("place"))
            number = found.position["entry"]
            self._entries = [number]
        self._log = Log(folder.folder, number)
        for place, items in self._log.entries(number):
            self._apply([_task(item) for item in items])
            number = place + 1
        self._log.number = number
        if found is not None or number:
            self.resumed_at = self.variants.rows
        self._save()

    def _save(self) -> None:
        """Write a checkpoint; the log before the oldest one that is kept can go."""
        assert self._folder is not None
        assert self._log is not None
        begin = time.monotonic()
        self._log.rotate()
        models, arrays, notes = self.variants.saved()
        place = {"entry": self._log.number, "unlearned": self.variants.unlearned}
        arrays = {**arrays, "keys": self._keys.array()}
        notes |= {} if self.place is None else {"place": self.place.document()}
        self._folder.write(Snapshot(models, self.variants.rows, SOURCE, place, arrays, False, notes))
        self._entries = [*self._entries, self._log.number][-2:]
        if not self._keep_log and len(self._entries) == 2:
            with suppress(OSError):  # what cannot be removed does no harm
                self._log.prune(self._entries[0])
        now = time.monotonic()
        self._saved = self.variants.rows, now, now - begin


def _task(item: Item) -> Task:
    """A logged task, to be carried out again."""
    if item.verb == "promote":
        return Task.promotion(item.body.decode(), item.key)
    batch = read_batch(item.body, item.form, labelled=True, target=item.target, most=ANY)
    return Task(item.verb, batch, item.key, place=item.place)


def _answer(task: Task, answer: dict[str, Any]) -> None:
    with suppress(InvalidStateError):  # whoever asked has gone
        task.future.set_result(answer)


def _fail(task: Task, problem: BaseException) -> None:
    with suppress(InvalidStateError):
        task.future.set_exception(problem)
