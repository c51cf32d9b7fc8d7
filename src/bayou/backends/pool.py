"""Learning from files on all cores: shards in processes, merged in the order of the stream."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from bayou import files
from bayou.backends.fold import Part, Total, check_law
from bayou.backends.frames import prepared
from bayou.backends.shards import Opening, Shard, cut, expand_paths, name_list
from bayou.backends.worker import ShardJob
from bayou.backends.worker_pool import WorkerPool
from bayou.streams.records import QuotedError
from bayou.streams.source import Policy, Source
from bayou.threads import limited

M = TypeVar("M")
Paths = Path | str | Iterable[Path | str]
Progress = Callable[[int, float], None]
FRAME_FILES = 8  # files whose first rows may be read to fix frames


@dataclass(frozen=True)
class Learned:
    """A learned model, its rows, rejects by reason, and the number of shards and of workers that died."""

    model: Any
    rows: int
    rejects: Mapping[str, int]
    shards: int
    deaths: int = 0


def fit_files(
    paths: Paths,
    estimator: M,
    *,
    target: str | None = None,
    jobs: int | None = None,
    nominal: Collection[str] = (),
    numeric: Collection[str] = (),
    text: Collection[str] = (),
    date: Collection[str] = (),
    ignore: Collection[str] = (),
    policy: Policy = "strict",
    format: str | None = None,
    shard_bytes: int | None = None,
    on_progress: Progress | None = None,
) -> M:
    """A new model of the estimator's parameters, learned from files in several processes.

    What one pass over the files in order would give, as exactly as the law of the model promises; the result
    does not depend on `jobs`. A worker that is killed is replaced, and nothing is counted twice. A model whose
    shards do not add up is refused.

    Parameters
    ----------
    paths
        A file, a folder, a pattern, or several of these, of any format that `open_stream` reads.
    estimator
        A classifier, which does not change.
    jobs
        Number of processes, by default one per core; 1 learns in this process.
    target, nominal, numeric, text, date, ignore, policy, format
        As in `open_stream`, for every file; kinds of columns not given are those of the first file.
    shard_bytes
        Size of the shards; by default a 64th of all bytes, but at least 4 MiB and at most 128 MiB. Parquet is
        cut between row groups, lines (CSV, ARFF, JSON lines, text) at line ends, and CSV with quotes, which takes one
        quick pass more, where records end; packed files are not cut.
    on_progress
        Called with the number of rows learned and the share of the bytes done.

    Returns
    -------
    Estimator
        A new model; `estimator` does not change.

    Raises
    ------
    UnsupportedError
        If models of this kind do not merge.
    DataError
        If a row does not fit, with `policy="strict"`: the message names file, line, column and value.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from bayou import NaiveBayes
    >>> home = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (home / "a.csv").write_text("sky,move\\nblue,UP\\ngrey,DOWN\\n")
    >>> _ = (home / "b.csv").write_text("sky,move\\npink,UP\\n")
    >>> model = fit_files(home, NaiveBayes(), target="move", jobs=1)
    >>> model.predict_one({"sky": "pink"})
    'UP'
    """
    options = {
        "target": target, "nominal": nominal, "numeric": numeric, "text": text, "date": date,
        "ignore": ignore, "policy": policy, "format": format,
    }  # fmt: skip
    model: M = learn_files(paths, estimator, options, jobs, shard_bytes, on_progress).model
    return model


def learn_files(
    paths: Paths,
    estimator: Any,
    options: Mapping[str, Any],
    jobs: int | None = None,
    shard_bytes: int | None = None,
    on_progress: Progress | None = None,
) -> Learned:
    """Learn as `fit_files` does; return rows, rejects and deaths of workers beside the model."""
    check_law(estimator, ordered=True)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    plan = Plan.of(paths, estimator, options, shard_bytes)
    return plan.carry_out(lambda plan: _fold(plan, jobs or cores, on_progress))


@dataclass(frozen=True)
class Plan:
    """The files, the shards they are cut into, and the job that all shards share."""

    paths: list[str]
    job: ShardJob
    shards: list[Shard]
    shard_bytes: int | None
    quoted: frozenset[str] = frozenset()

    @staticmethod
    def of(paths: Paths, estimator: Any, options: Mapping[str, Any], shard_bytes: int | None) -> Plan:
        """Read the first rows, fix the frames of all shards, and cut the files into shards."""
        paths_found = expand_paths(paths)
        column_lists = {
            name: name_list(options.get(name, ()))
            for name in ("nominal", "numeric", "text", "date", "ignore")
        }
        opening = Opening.like(paths_found[0], {**options, **column_lists})
        blank = prepared(estimator.fresh() if estimator.started else estimator, _opened(paths_found, opening))
        job = ShardJob(files.dumps(blank), opening)
        return Plan(paths_found, job, cut(paths_found, opening, shard_bytes), shard_bytes)

    def carry_out(self, learn: Callable[[Plan], Learned]) -> Learned:
        """Learn all shards; if a file turns out to have quotes, cut it between records and start again."""
        try:
            return learn(self)
        except QuotedError as problem:
            quoted = self.quoted | {problem.path}
        shards = cut(self.paths, self.job.opening, self.shard_bytes, quoted)
        return replace(self, shards=shards, quoted=quoted).carry_out(learn)


def _opened(names: list[str], opening: Opening) -> Iterator[Source]:
    for name in names[:FRAME_FILES]:
        with opening.open(Shard(name)) as source:
            yield source


def _fold(plan: Plan, jobs: int, on_progress: Progress | None) -> Learned:
    total, merged, bytes_done = Total(), 0, 0
    all_bytes = max(1, sum(shard.size for shard in plan.shards))
    pending: dict[int, Part] = {}

    def report_progress() -> None:
        if on_progress is not None:
            rows = total.rows + sum(part.rows for part in pending.values()) + pool.rows
            on_progress(rows, bytes_done / all_bytes)

    with limited(1) if jobs > 1 else nullcontext(), WorkerPool(plan.job, plan.shards, jobs) as pool:
        for number, data in pool.parts(report_progress):
            pending[number] = Part.of(data)
            bytes_done += plan.shards[number].size
            while merged in pending:
                total.add(pending.pop(merged))
                merged += 1
                total.check()
        report_progress()
    return Learned(total.model.refresh(), total.rows, total.rejects, len(plan.shards), pool.deaths)
