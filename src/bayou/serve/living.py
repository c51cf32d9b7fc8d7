"""A living model: one thread learns, while any thread predicts from the snapshot published last.

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
from bayou.serve.snapshot import Measures, ModelStatus, Published
from bayou.serve.variants import Variants
from bayou.streams.source import Source
from bayou.training.run import Every

SOURCE = {"kind": "bayou serve"}
SHARE = 10  # publishing takes at most about a tenth of the learner's time
# Seconds at least between two snapshots, sets of measures, snapshot files
PUBLISH, MEASURE, WRITE = 0.01, 0.25, 1.0
ANY = 1 << 62  # no limit of rows: a batch in the log was accepted once, whatever the limit is now


class LivingModel:
    """A model that learns and answers at once, with shadows that learn the same rows and never answer.

    Parameters
    ----------
    name
        The name that requests use.
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
        A function that opens a log whose rows are learned as they come, and the log's name in messages; the position in
        the log is part of the checkpoints.

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
        self._saved = 0, time.monotonic(), 0.0
        self._stale, self._next_publish, self._next_status = False, 0.0, 0.0
        self._status_stale = True  # rows were learned since the status was made
        self._written: Published | None = None
        self._next_write = 0.0
        self.place: LogPlace | None = None  # behind the last rows learned from a log
        self.follower = None if follow is None else LogFollower(self, follow, follow_name)
        self._publish()

    # -- starting, stopping, submitting --

    def start(self) -> Self:
        """Restore the checkpoint and replay the log if there are any, and begin to accept rows."""
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
        """Learn what is queued, write a last checkpoint, and close the folder."""
        if self.follower is not None and self._thread is not None:
            self.follower.stop()
        self.queue.close()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
            if self.broken is None:
                self._publish()
                self._update_status()
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
        """Queue a task for the learner, which sets the result of its future."""
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
                self._do_due_work()
        except Exception as problem:  # a bug, or no memory: what was learned last may be half learned
            logging.getLogger("bayou.serve").exception("the learner of %s has failed", self.name)
            self._break(problem, tasks or ())

    def _pause(self) -> float | None:
        """Seconds until the next timed work (publish, status, files) is due; None if none is."""
        now = time.monotonic()
        moments = [self._next_publish] if self._stale else []
        if self._status_stale:
            moments.append(self._next_status)
        if self._follow_file is not None and self._written is not self.published:
            moments.append(self._next_write)
        if self._log is not None and self.variants.rows > self._saved[0] and self._every.seconds is not None:
            moments.append(self._saved[1] + self._every.seconds)
        return max(0.0, min(moments) - now) if moments else None

    def _drain(self, tasks: Sequence[Task]) -> None:
        """Log and carry out tasks, in order; tasks that repeat a key of this call come after all others."""
        repeats: list[Task] = []
        first: dict[str | int, Task] = {}
        for task in tasks:
            if task.late():
                _fail(
                    task, DeadlineError("the deadline passed before the batch was begun; nothing was learned")
                )
            elif task.key in first:
                repeats.append(task)
            elif task.future.set_running_or_notify_cancel() and not self._repeated(task):
                first[task.key or id(task)] = task
        if first:
            self._carry_out(list(first.values()))
        if repeats:
            self._drain(repeats)

    def _repeated(self, task: Task) -> bool:
        """Answer a task whose key was carried out before; return whether it was."""
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
            ) as problem:  # e.g. a full disk: nothing is learned, and the next batch may fit again
                self.trouble = f"the log cannot be written: {problem}"
                for task in tasks:
                    _fail(task, BusyError(f"{self.trouble}; nothing was learned, try again"))
                return
            self.trouble = None
            try:
                if any(task.durable for task in tasks):
                    self._log.sync()
            except OSError as problem:  # what is on disk is unknown
                self._break(problem, tasks)
                return
        refusals = self._apply(tasks)
        if time.monotonic() >= self._next_publish or any(task.visible for task in tasks):
            self._publish()
        for task, refusal in zip(tasks, refusals, strict=True):
            if refusal is None:
                _answer(task, self._answer(task))
            else:
                _fail(task, refusal)

    def _apply(self, tasks: Sequence[Task]) -> list[BayouError | None]:
        """Carry out logged tasks; return for each the error that refused it, or None. A replay returns the same."""
        refusals = self.variants.carry_out(tasks)
        for task, problem in zip(tasks, refusals, strict=True):
            if problem is None and task.key is not None:
                self._keys.add(task.key, task.batch.body)
            self.place = task.place or self.place
        self._stale = self._status_stale = True
        return refusals

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
        """Stop learning: the model in memory may differ from the log on disk, from which a restart goes on."""
        self.broken = str(problem) or type(problem).__name__
        self.queue.close()
        refusal = BusyError(f"{self.name} has stopped learning: {self.broken}; it still answers")
        for task in tasks:
            _fail(task, refusal)
        while waiting := self.queue.take(0.0):
            for task in waiting:
                _fail(task, refusal)

    # -- publishing --

    def _do_due_work(self) -> None:
        """Do what is due by the clock: publish a snapshot, update the status, write files."""
        now = time.monotonic()
        if self._stale and now >= self._next_publish:
            self._publish()
        if self._status_stale and now >= self._next_status:
            self._update_status()
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
        if now >= self._next_status:
            self._update_status()

    def _write_published(self) -> None:
        """Write the published model to `follow_file`, unless it is there already."""
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

    def _update_status(self) -> None:
        begin, self._status_stale = time.monotonic(), False
        measured = {name: Measures.of(each) for name, each in self.variants.measured.items()}
        self.status = ModelStatus(self.variants.rows, self.variants.unlearned, measured)
        now = time.monotonic()
        self._next_status = now + max(MEASURE, SHARE * (now - begin))

    # -- checkpoints --

    def _recover(self, folder: Checkpoint) -> None:
        checkpoint = folder.latest()
        number = 0
        if checkpoint is not None:
            if dict(checkpoint.source) != SOURCE:
                raise CheckpointError(
                    f"{folder.folder} holds checkpoints of another kind; give another folder"
                )
            self.variants.restore(checkpoint)
            self._keys.restore(checkpoint.evaluator["keys"])
            self.place = LogPlace.of(checkpoint.notes.get("place"))
            number = checkpoint.position["entry"]
            self._entries = [number]
        self._log = Log(folder.folder, number)
        for place, items in self._log.entries(number):
            self._apply([_task(item) for item in items])
            number = place + 1
        self._log.number = number
        if checkpoint is not None or number:
            self.resumed_at = self.variants.rows
        self._save()

    def _save(self) -> None:
        """Write a checkpoint, and remove the part of the log that no kept checkpoint needs."""
        assert self._folder is not None
        assert self._log is not None
        begin = time.monotonic()
        self._log.rotate()
        models, arrays, notes = self.variants.saved()
        position = {"entry": self._log.number, "unlearned": self.variants.unlearned}
        arrays = {**arrays, "keys": self._keys.array()}
        notes |= {} if self.place is None else {"place": self.place.document()}
        self._folder.write(Snapshot(models, self.variants.rows, SOURCE, position, arrays, False, notes))
        self._entries = [*self._entries, self._log.number][-2:]
        if not self._keep_log and len(self._entries) == 2:
            with suppress(OSError):  # a segment that stays does no harm
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
    with suppress(InvalidStateError):  # the request was cancelled
        task.future.set_result(answer)


def _fail(task: Task, problem: BaseException) -> None:
    with suppress(InvalidStateError):
        task.future.set_exception(problem)
