"""Training on a source from its first row (`train`), and from a checkpoint (`resume`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bayou.classifiers.estimator import Estimator
from bayou.persist.errors import CheckpointError
from bayou.streams import Source, open_stream
from bayou.streams.brokers.address import absolute
from bayou.training.loop import Learning, Work
from bayou.training.run import SOURCE, Every, Progress, Run, Trained

if TYPE_CHECKING:
    from bayou.persist.checkpoint import Snapshot

Folder = str | os.PathLike[str]


def train(
    work: Work | Estimator,
    source: Source | Mapping[str, Any],
    folder: Folder,
    *,
    rows: int | None = None,
    every: Every = Every(seconds=10.0),  # noqa: B008 - frozen
    block: int | None = None,
    on_progress: Progress | None = None,
    keep_going: bool = False,
) -> Trained:
    """Learn a whole source with checkpoints in an empty folder.

    Parameters
    ----------
    work
        A classifier, usually new; or what else is to be done with the rows, such as `Prequential`.
    source
        An open source, or the arguments of `open_stream` as a mapping (`{"path": ..., "target": ...}`), which are
        kept so that `resume` can open it again.
    folder
        Where the checkpoints go; it must hold none.
    rows
        Stop after so many rows.
    every
        When to write checkpoints.
    block
        Rows that are handled at once; as many as are quick if left out. It changes neither the model nor any file.
    on_progress
        Called with the rows learned and the share of the source done (None if unknown) after every block.
    keep_going
        Warn and go on when a checkpoint cannot be written (a full disk), instead of stopping.

    Ctrl-C and SIGTERM write a checkpoint and leave; the same signal again leaves at once.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from bayou import NaiveBayes
    >>> home = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (home / "day.csv").write_text("sky,move\\nblue,UP\\ngrey,DOWN\\n")
    >>> done = train(NaiveBayes(), {"path": home / "day.csv", "target": "move"}, home / "ck")
    >>> done.rows, done.finished, resume(home / "ck").rows
    (2, True, 2)
    """
    from bayou import files
    from bayou.persist.checkpoint import Checkpoint

    notes: dict[str, Any] = {"limit": rows}
    if isinstance(source, Mapping):
        notes["stream"] = source = portable(source)
    with Checkpoint(folder, files.kinds()) as checkpoint:
        snapshot = checkpoint.latest()
        if snapshot is not None:
            raise CheckpointError(
                f"{os.fspath(folder)} holds a checkpoint at row {snapshot.rows:,}; resume it, or give an empty folder"
            )
        with _opened(source) as opened:
            run = Run(
                Learning(work) if isinstance(work, Estimator) else work, opened, checkpoint, notes=notes,
                limit=rows, every=every, block=block, keep_going=keep_going,
            )  # fmt: skip
            return run.to_the_end(on_progress)


def resume(
    folder: Folder,
    source: Source | Mapping[str, Any] | None = None,
    *,
    work: Callable[[Mapping[str, Any]], Work] | None = None,
    every: Every = Every(seconds=10.0),  # noqa: B008 - frozen
    block: int | None = None,
    on_progress: Progress | None = None,
    keep_going: bool = False,
) -> Trained:
    """Go on where the newest checkpoint was written: the result is that of a run never stopped, bit for bit.

    `source` is needed only if the source was not given by the arguments of `open_stream`; `work` only if more was
    done than learning: it makes the work from the models of the checkpoint. A source that has changed is refused.
    """
    from bayou import files
    from bayou.persist.checkpoint import Checkpoint

    with Checkpoint(folder, files.kinds()) as checkpoint:
        snapshot = checkpoint.latest()
        if snapshot is None:
            raise CheckpointError(f"{os.fspath(folder)} holds no checkpoint")
        task = restored(Learning(snapshot.model) if work is None else work(snapshot.models), snapshot)
        if snapshot.finished:
            return Trained(task, snapshot.rows, True)
        stream = snapshot.notes.get("stream") if source is None else source
        if stream is None:
            raise CheckpointError(
                f"{os.fspath(folder)} does not say how its source is opened; give the source"
            )
        with _opened(stream) as opened:
            run = Run(
                task, opened, checkpoint, notes=snapshot.notes, limit=snapshot.notes.get("limit"), every=every,
                block=block, keep_going=keep_going,
            )  # fmt: skip
            run.go_on_from(snapshot)
            return run.to_the_end(on_progress)


def restored(work: Work, snapshot: Snapshot) -> Work:
    """Restore the state of a checkpoint, except the models, and return the work."""
    try:
        work.restore({name: a for name, a in snapshot.evaluator.items() if not name.startswith(SOURCE)})
    except KeyError as missing:
        raise CheckpointError(
            f"this checkpoint lacks {missing}; resume it with the work it was made by"
        ) from missing
    return work


@contextmanager
def _opened(source: Source | Mapping[str, Any]) -> Iterator[Source]:
    """Open a source by its arguments, and close it afterwards; an open source stays open."""
    if isinstance(source, Mapping):
        with open_stream(**source) as opened:
            yield opened
    else:
        yield source


def portable(options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `open_stream` as JSON values, with absolute paths."""
    out: dict[str, Any] = {}
    for name, value in options.items():
        if name in ("path", "dead_letters", "labels") and value is not None:
            text = os.fspath(value)
            plain = text == "-" or name == "labels"  # a topic
            out[name] = absolute(text) if "://" in text else text if plain else os.path.abspath(text)
        else:
            out[name] = value if value is None or isinstance(value, str | int | float) else sorted(value)
    return out
