"""Training on a cluster: one partial model per partition or shard, merged in a tree."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import pyarrow as pa

from bayou import files
from bayou.backends.fold import Part, Total, check_law, error_to_json, merged, partial
from bayou.backends.frames import loose, prepared
from bayou.backends.pool import Learned, Paths, Plan
from bayou.backends.shards import Shard
from bayou.backends.spark.rows import heads, mapped, partition, read_options, source
from bayou.backends.spark.trouble import explained
from bayou.backends.worker import ShardJob, alone
from bayou.errors import BayouError, DataError
from bayou.streams.read_options import ReadOptions
from bayou.streams.source import Policy

M = TypeVar("M")
FAN_IN = 32


def fit(
    df: Any,
    estimator: M,
    *,
    target: str,
    nominal: Collection[str] = (),
    numeric: Collection[str] = (),
    text: Collection[str] = (),
    date: Collection[str] = (),
    ignore: Collection[str] = (),
    policy: Policy = "strict",
    fan_in: int = FAN_IN,
) -> M:
    """A new model of the estimator's parameters, learned from a Spark DataFrame.

    What one pass over the partitions in order would give, as exactly as the law of the model promises. Models whose
    shards do not add up are refused; those that are averaged (`WeightedNB`) say so by a warning.

    Parameters
    ----------
    df
        A DataFrame of numbers, strings, booleans and dates; where the rows come from files, `fit_files` is quicker.
    estimator
        A classifier, which does not change. If it has learned already, the frames of numeric columns are its own;
        else they come from the first rows of the first partitions.
    target, nominal, numeric, text, date, ignore, policy
        As in `bayou.open_stream`.
    fan_in
        The number of partial models that are merged in one process; none, the driver included, ever holds more.
    """
    options = {
        "target": target, "nominal": nominal, "numeric": numeric, "text": text, "date": date,
        "ignore": ignore, "policy": policy,
    }  # fmt: skip
    check_law(estimator, ordered=False)
    template: Any = estimator
    with explained():
        model: M = learned(df, template.fresh() if template.started else template, options, fan_in).model
    return model


def fit_files(
    spark: Any,
    paths: Paths,
    estimator: M,
    *,
    fan_in: int = FAN_IN,
    shard_bytes: int | None = None,
    **options: Any,
) -> M:
    """A new model of the estimator's parameters, learned from files that the driver and all executors see.

    Paths are shipped, not rows.

    The options are those of `bayou.fit_files`, and the shards are the same.
    """
    with explained():
        model: M = learn_files(spark, paths, estimator, options, fan_in, shard_bytes).model
    return model


def learn_files(
    spark: Any,
    paths: Paths,
    estimator: Any,
    options: Mapping[str, Any],
    fan_in: int = FAN_IN,
    shard_bytes: int | None = None,
) -> Learned:
    """Learn as `fit_files` does; return rows and rejects beside the model."""
    check_law(estimator, ordered=True)

    def learn(plan: Plan) -> Learned:
        numbered = spark.sparkContext.parallelize(list(enumerate(plan.shards)), len(plan.shards))
        return _result(_tree(numbered.map(_shard_learner(plan.job)), fan_in), plan.job.blank)

    return Plan.of(paths, estimator, options, shard_bytes).carry_out(learn)


def learned(df: Any, model: Any, options: Mapping[str, Any], fan_in: int) -> Learned:
    """Learn the rows of a DataFrame, from an empty model or from one whose schema and frames are known."""
    reading = read_options(options)
    if reading.choose_target(df.columns) is None:
        raise DataError(
            "a table without a target cannot be learned", remedy="say which column it is: target="
        )
    if not model.started or loose(model):
        model = prepared(model, heads(df, reading))
    blank = files.dumps(model.fresh())
    parts = mapped(df, _row_learner(blank, reading), "number long, part binary").rdd
    return _result(_tree(parts.map(tuple), fan_in), blank)


def _shard_learner(job: ShardJob) -> Callable[[tuple[int, Shard]], tuple[int, bytes]]:
    def learn(numbered: tuple[int, Shard]) -> tuple[int, bytes]:
        alone()
        return numbered[0], job.partial(numbered[1])

    return learn


def _row_learner(
    blank: bytes, reading: ReadOptions
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def learn(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        alone()
        number = partition()
        place = f"partition {number}"
        try:
            rows = source(batches, reading, place)
            part = None if rows is None else partial(blank, rows, place)
        except BayouError as error:
            part = Part(b"", error=error_to_json(error, place)).to_bytes()
        if part is not None:
            yield pa.record_batch(
                {"number": pa.array([number], pa.int64()), "part": pa.array([part], pa.binary())}
            )

    return learn


def _tree(parts: Any, fan_in: int) -> Part:
    """Merge numbered parts, `fan_in` neighbours at a time: always the same tree."""
    count = parts.getNumPartitions()
    while count > fan_in:
        count = -(-count // fan_in)
        keyed = parts.map(lambda part: (part[0] // fan_in, part)).groupByKey(count)
        parts = keyed.map(lambda group: (group[0], _in_order(group[1]).to_bytes()))
    return _in_order(parts.collect())


def _in_order(numbered: Iterable[tuple[int, bytes]]) -> Part:
    return merged(part for _, part in sorted(numbered, key=lambda pair: pair[0]))


def _result(part: Part, blank: bytes) -> Learned:
    total = Total()
    total.add(part)
    total.check()
    model = files.loads(part.model or blank)
    return Learned(model.refresh(), part.rows, part.rejects, 0)
