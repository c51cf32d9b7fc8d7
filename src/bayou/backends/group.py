"""Several learners in one consumer group of Kafka: a model for each partition, handed on by its checkpoints.

The group assigns partitions to learners, and reassigns them when learners come, go or die. Each partition has a
folder with its own model and offset, which the owner of the partition locks, continues, and hands on. So it does not
matter which learner has learned which messages: the model of a partition has the bits of one pass over it, and the
models of all partitions, merged in the order of their numbers, are what their law says of one pass over the log in
that order.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayou import files
from bayou.backends.fold import Part, Total, check_law
from bayou.backends.frames import prepared
from bayou.errors import OptionError, warn_user
from bayou.persist.checkpoint import Checkpoint, Snapshot
from bayou.persist.errors import CheckpointError
from bayou.persist.interrupts import Interrupts
from bayou.streams import Source, open_stream
from bayou.streams.brokers.address import Address
from bayou.streams.brokers.log import BrokerWarning
from bayou.streams.brokers.membership import Membership
from bayou.streams.brokers.source import MessageSource
from bayou.streams.rejects import Rejects
from bayou.training.loop import Learning
from bayou.training.run import Every, Run
from bayou.training.start import portable

IDLE = 0.1  # seconds to wait for changes of the group where no message has come
PATIENCE = 10.0  # seconds to wait for another learner that is just creating the folder


@dataclass(frozen=True)
class Together:
    """The result of a group so far: the models of all partitions, merged in the order of their numbers."""

    model: Any
    rows: int
    rejects: Mapping[str, int]
    finished: bool
    stopped_by: str | None = None


def learn_group(
    model: Any,
    stream: Mapping[str, Any],
    folder: str | os.PathLike[str],
    *,
    notes: Mapping[str, Any] | None = None,
    check: Callable[[Snapshot], None] | None = None,
    every: Every = Every(seconds=10.0),  # noqa: B008 - frozen
    block: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Together:
    """Learn as a member of a consumer group until a signal comes, or, with `until=end`, all partitions are learned.

    Parameters
    ----------
    model
        A new classifier whose models merge.
    stream
        The arguments of `open_stream`; the address has `group=` and `balance=yes`.
    folder
        Where the checkpoints of all partitions are. All learners of the group share it.
    notes, check
        Notes that checkpoints store, and a function that is called with the first checkpoint of the group.
    every, block
        As in `bayou.training.train`.
    on_progress
        Called with the rows that this learner has learned.
    """
    check_law(model, ordered=True)
    if stream.get("dead_letters") is not None:
        raise OptionError("learners of a group cannot share a file of dead letters", remedy="leave it away")
    home, options = Path(folder), portable(stream)
    start = _begun(home, model, options, notes or {})
    if check is not None:
        check(start)
    group = _Group(home, options, start, every, block)
    with Interrupts() as interrupts:
        finished = group.learn(lambda: interrupts.caught is not None, on_progress)
    return group.together(finished, interrupts.caught)


def together(folder: str | os.PathLike[str]) -> Together:
    """Merge the latest checkpoints in a group's folder; learners may be running meanwhile."""
    home = Path(folder)
    start = Checkpoint(home, files.kinds()).latest()
    if start is None:
        raise CheckpointError(f"{home} holds no checkpoint of a group")
    return _merged(start, [snapshot for _, snapshot in _partitions(home)])


class _Group:
    """The partitions that this learner owns now, each with a folder of its own."""

    def __init__(
        self, home: Path, stream: Mapping[str, Any], start: Snapshot, every: Every, block: int | None
    ) -> None:
        self._home, self._stream, self._start = home, stream, start
        self._every, self._block = every, block
        self._address = Address.of(stream["path"])
        self._shares: dict[int, _Share] = {}
        self._warned: set[int] = set()  # partitions whose folder is still locked by the last owner
        self._rows = 0

    def learn(self, stopped: Callable[[], bool], on_progress: Callable[[int], None] | None) -> bool:
        """Learn until `stopped` returns True, or all partitions are learned; return whether they are."""
        with Membership(self._address, self._give_up) as member:
            try:
                while not stopped():
                    for p in sorted(member.partitions - self._shares.keys()):
                        self._take_over(p)
                    before = self._rows
                    for p, share in list(self._shares.items()):
                        self._rows += share.some()
                        if share.hint is not None:
                            member.commit({p: share.hint})
                            share.hint = None
                    if on_progress is not None:
                        on_progress(self._rows)
                    idle = self._rows == before
                    if idle and self._all_finished(member.all_partitions):
                        return True
                    member.poll(IDLE if idle else 0.0)
                return False
            finally:
                self._give_up(list(self._shares))

    def together(self, finished: bool, stopped_by: str | None) -> Together:
        """The merged result of all learners of the group so far."""
        merged = _merged(self._start, [snapshot for _, snapshot in _partitions(self._home)])
        return Together(merged.model, merged.rows, merged.rejects, finished, None if finished else stopped_by)

    def _take_over(self, partition: int) -> None:
        """Continue the last owner's checkpoint, once that owner has unlocked it."""
        path = self._address.with_options(balance=None, group=None, partitions=str(partition))
        checkpoint = Checkpoint(_folder(self._home, partition), files.kinds())
        try:
            checkpoint.open()
        except CheckpointError as problem:
            if partition not in self._warned:
                self._warned.add(partition)
                warn_user(f"partition {partition} is ours, and waited for: {problem}", BrokerWarning)
            return
        self._warned.discard(partition)
        try:
            share = _Share(
                partition, checkpoint, {**self._stream, "path": path}, self._start, self._every, self._block
            )
        except BaseException:
            checkpoint.close()
            raise
        self._shares[partition] = share

    def _give_up(self, partitions: Collection[int]) -> None:
        for p in partitions:
            if (share := self._shares.pop(p, None)) is not None:
                share.leave()

    def _all_finished(self, partitions: Collection[int]) -> bool:
        if not self._address.ends or not all(share.finished for share in self._shares.values()):
            return False
        snapshots = dict(_partitions(self._home))
        return all(p in snapshots and snapshots[p].finished for p in partitions)


class _Share:
    """A partition that is being learned: its stream, its model, and its locked folder."""

    def __init__(
        self, partition: int, checkpoint: Checkpoint, stream: Mapping[str, Any], start: Snapshot, every: Every,
        block: int | None,
    ) -> None:  # fmt: skip
        self._partition, self._place = partition, checkpoint
        self.hint: int | None = None  # the offset of a checkpoint, to be committed to the broker
        snapshot = checkpoint.latest()
        self.finished = snapshot is not None and snapshot.finished
        self._run: Run | None = None
        if self.finished:
            return
        with ExitStack() as opened:
            source = opened.enter_context(open_stream(**stream))
            assert isinstance(source, MessageSource)
            source.wait_at_most(0.0)
            source.recall(start.source)  # all learners of the group have the same columns
            model = start.model.fresh() if snapshot is None else snapshot.model
            self._run = Run(_Prepared(model), source, checkpoint, notes=start.notes, every=every, block=block)
            if snapshot is not None:
                self._run.go_on_from(snapshot)
            self._run.begin()
            self._source = source
            self._close = opened.pop_all().close

    def some(self) -> int:
        """Learn a batch of the messages at hand; return the number of its rows."""
        if self._run is None:
            return 0
        run, before, written = self._run, self._run.rows, self._run.written
        try:
            ended = run.some()
        except BaseException:
            # Rows may have been read but not learned: the last checkpoint stays valid.
            self._run = None
            self._close()
            raise
        if ended:
            self.finished = True
            self._end()
        elif run.written > written:
            self.hint = self._offset()
        return run.rows - before

    def leave(self) -> None:
        """Write a last checkpoint, and unlock the folder."""
        try:
            if self._run is not None:
                self._end()
        finally:
            self._place.close()

    def _end(self) -> None:
        assert self._run is not None
        run, self._run = self._run, None
        self.hint = self._offset()
        try:
            run.end(self.finished)
        finally:
            self._close()

    def _offset(self) -> int:
        return self._source.position()[f"offset {self._partition}"]


class _Prepared(Learning):
    """Learning with a model whose columns are declared already."""

    def declare_columns(self, source: Source) -> None:
        pass


def _begun(home: Path, model: Any, stream: Mapping[str, Any], notes: Mapping[str, Any]) -> Snapshot:
    """The checkpoint that all learners of the group start from: empty model and columns, made by the first of them."""
    checkpoint = Checkpoint(home, files.kinds())
    snapshot = checkpoint.latest()
    if snapshot is not None:
        return snapshot
    first = _first(model, stream, notes)  # may wait for a message, so the folder is not locked meanwhile
    until = time.monotonic() + PATIENCE
    while True:
        try:
            with checkpoint:
                if checkpoint.latest() is None:
                    checkpoint.write(first)
                snapshot = checkpoint.latest()
                assert snapshot is not None
                return snapshot  # as all others will read it
        except CheckpointError:  # another is just writing it
            if time.monotonic() > until:
                raise
            time.sleep(IDLE)


def _first(model: Any, stream: Mapping[str, Any], notes: Mapping[str, Any]) -> Snapshot:
    address = Address.of(stream["path"])
    all_partitions = {**stream, "path": address.with_options(balance=None, group=None, until=None)}
    with open_stream(**all_partitions) as followed:
        identity = followed.identity  # waits for a first message
    blank = prepared(
        model,
        _until_end({**all_partitions, "path": address.with_options(balance=None, group=None, until="end")}),
    )
    return Snapshot({"model": blank}, 0, identity, {}, notes=dict(notes))


def _until_end(stream: Mapping[str, Any]) -> Iterator[Source]:
    with open_stream(**stream) as source:
        yield source


def _folder(home: Path, partition: int) -> Path:
    return home / f"partition-{partition:05d}"


def _partitions(home: Path) -> list[tuple[int, Snapshot]]:
    """The newest checkpoint of every partition that has one, in order."""
    out = []
    for path in sorted(home.glob("partition-*")):
        snapshot = Checkpoint(path, files.kinds()).latest()
        if snapshot is not None:
            out.append((int(path.name.partition("-")[2]), snapshot))
    return out


def _merged(start: Snapshot, snapshots: list[Snapshot]) -> Together:
    total = Total()
    for snapshot in snapshots:
        rejects = Rejects()
        rejects.seek(snapshot.position)
        if snapshot.rows:
            total.add(Part(files.dumps(snapshot.model), snapshot.rows, rejects.counts))
    total.check()
    model = start.model if total.model is None else total.model
    return Together(model, total.rows, total.rejects, all(snapshot.finished for snapshot in snapshots))
