"""Partitions of a table as sources of rows: read as Parquet files are, by the same rules and policies."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from bayou.backends.shards import name_list
from bayou.streams.columnar import ColumnarSource, HandedBatches
from bayou.streams.read_options import ReadOptions
from bayou.streams.source import Source

HEAD = 20_000  # rows at the start of a partition that may be read to fix frames
HEADS = 8  # partitions of which they may be read


def read_options(options: Mapping[str, Any]) -> ReadOptions:
    """The options of `open_stream` that make sense for a table."""
    kinds: dict[str, Any] = {
        name: kind
        for kind in ("nominal", "numeric", "text", "date")
        for name in name_list(options.get(kind, ()))
    }
    ignore, policy = name_list(options.get("ignore", ())), options.get("policy", "strict")
    return ReadOptions(options.get("target"), kinds, ignore, policy)


def source(batches: Iterable[pa.RecordBatch], options: ReadOptions, name: str) -> Source | None:
    """The rows of record batches; None if there are no batches."""
    iterator = iter(batches)
    first = next(iterator, None)
    if first is None:
        return None

    def all_batches() -> Iterator[pa.RecordBatch]:
        yield first
        yield from iterator

    return ColumnarSource(HandedBatches(first.schema, all_batches(), name), options)


def mapped(df: Any, function: Callable[[Any], Iterator[pa.RecordBatch]], schema: Any) -> Any:
    """`df.mapInArrow`, without Spark's warning about the version of pandas, which is not used."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        return df.mapInArrow(function, schema)


def partition() -> int:
    """The number of the partition that this task works on."""
    from pyspark import TaskContext

    task = TaskContext.get()
    return 0 if task is None else int(task.partitionId())


def heads(df: Any, options: ReadOptions) -> Iterator[Source]:
    """The first rows of the first partitions, in order: always the same rows, which `limit` does not promise."""
    rdd = mapped(df, _head, "rows binary").rdd
    for number in range(min(HEADS, rdd.getNumPartitions())):
        for row in rdd.context.runJob(rdd, list, [number]):
            with pa.ipc.open_stream(row.rows) as reader:
                yield ColumnarSource(HandedBatches(reader.schema, reader, "the first rows"), options)


def _head(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    sink, writer, room = pa.BufferOutputStream(), None, HEAD
    for batch in batches:
        writer = writer or pa.ipc.new_stream(sink, batch.schema)
        writer.write_batch(batch.slice(0, room))
        room -= batch.num_rows
        if room <= 0:
            break
    if writer is not None:
        writer.close()
        yield pa.record_batch({"rows": pa.array([sink.getvalue().to_pybytes()], pa.binary())})
