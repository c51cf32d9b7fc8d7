"""Scoring and evaluating tables and streams: executors load the model and score their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from bayou import files
from bayou.backends.spark.rows import mapped, source
from bayou.backends.spark.trouble import explained
from bayou.backends.worker import alone
from bayou.decisions import tell_unknown
from bayou.encoding.words import WORDS
from bayou.errors import DataError
from bayou.evaluate.label_index import LabelIndex, distinct_labels
from bayou.persist.container import pack, unpack
from bayou.readings.metrics import Scores, running_scores
from bayou.schema import DATE, Label
from bayou.streams.read_options import ReadOptions
from bayou.streams.source import Policy
from bayou.summaries.outcomes import Confusion, Losses
from bayou.summaries.rivals import MajorityHits, NoChangeHits

Batches = Iterable[pa.RecordBatch]
FORMAT = "bayou scores"


def predict(df: Any, model: Any, *, probabilities: bool = False, policy: Policy = "strict") -> Any:
    """The DataFrame with two more columns: `prediction`, and its `probability`. Works on streams as well.

    Parameters
    ----------
    df
        A DataFrame, also of a stream. Columns the model does not know are passed on; those it lacks are missing.
    model
        A fitted classifier.
    probabilities
        Also the probabilities of all classes, in the order of `model.labels()`.
    policy
        "strict", or "missing": a cell that does not fit its column counts as missing.

    A name that the DataFrame has already gets an underscore.
    """
    from pyspark.sql.types import ArrayType, DoubleType, StructType

    if policy == "skip":
        raise DataError("a row to be scored is not left out", value=policy, remedy='policy="missing"')
    tell_unknown(getattr(model, "decision", None), model.labels())
    names = ["prediction", "probability", *(["probabilities"] if probabilities else [])]
    kinds: list[Any] = [_types(model.labels())[0], DoubleType(), ArrayType(DoubleType())]
    schema = StructType(list(df.schema.fields))
    taken = set(df.columns)
    for name, kind in zip(names, kinds, strict=False):
        while name in taken:
            name += "_"
        taken.add(name)
        schema = schema.add(name, kind)
    return mapped(df, _scorer(files.dumps(model), list(schema.names), policy), schema)


@dataclass(frozen=True)
class TableScores:
    """How well a model predicts a table: rows have no order, so there is no window and no kappa-temporal.

    `scores.kappa_batch_majority` compares with the most frequent class.
    """

    labels: tuple[Label, ...]
    rows: int
    confusion: Confusion
    losses: Losses

    @property
    def scores(self) -> Scores:
        """All metrics of the predictions."""
        return running_scores(self.confusion, self.losses, NoChangeHits(), MajorityHits())

    @property
    def accuracy(self) -> float:
        """Share of the rows whose class was predicted."""
        return self.scores.accuracy


def evaluate(df: Any, model: Any, *, target: str, policy: Policy = "strict") -> TableScores:
    """Predict every row of a DataFrame and compare with its label; only the scores of partitions are collected."""
    with explained():
        collected = mapped(df, _judge(files.dumps(model), target, policy), "record binary").collect()
    classes, confusion, losses, rows = LabelIndex(), Confusion(), Losses(), 0
    records = [_unpacked(row.record) for row in collected]
    plan = classes.admit([label for labels, *_ in records for label in labels] + model.labels())
    if plan is not None:
        confusion.realign(plan)
        losses.realign(plan)
    for labels, n, record_confusion, record_losses in records:
        record_classes = LabelIndex()
        record_classes.admit(labels)
        if (wider := record_classes.admit(classes.labels)) is not None:
            record_confusion.realign(wider)
            record_losses.realign(wider)
        confusion.merge(record_confusion)
        losses.merge(record_losses)
        rows += n
    return TableScores(tuple(classes.labels), rows, confusion, losses)


@lru_cache(maxsize=2)
def _loaded(data: bytes) -> Any:
    alone()
    return files.loads(data)


def _kinds(model: Any, schema: pa.Schema) -> dict[str, Any]:
    kinds = {name: kind.value for name, (kind, _) in model.schema_.place.items() if name in schema.names}
    kinds |= {name: DATE for name in model.schema_.dates if name in schema.names}
    if model.numbers_are_words and WORDS in model.schema_.place:  # columns of numbers count words
        words = {str(word) for word in model.schema_.vocabularies[WORDS].values}
        kinds |= {name: "numeric" for name in schema.names if name in words and name not in kinds}
    if not kinds:
        raise DataError(f"none of the columns {schema.names} is known to the model")
    return kinds


def _scorer(data: bytes, names: list[str], policy: Policy) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def score(batches: Batches) -> Iterator[pa.RecordBatch]:
        model = _loaded(data)
        kind = _types(model.labels())[1]
        for batch in batches:
            kinds = _kinds(model, batch.schema)
            options = ReadOptions("", kinds, [n for n in batch.schema.names if n not in kinds], policy)
            rows_source = source([batch], options, "the rows to be scored")
            rows = None if rows_source is None else rows_source.read(max(1, batch.num_rows))
            if rows is None:
                continue
            proba = model.proba(model.encode(rows))
            best = model.decide(proba)
            labels = model.labels()
            flat = pa.array(proba.ravel())
            each = pa.array(np.arange(len(proba) + 1, dtype=np.int32) * len(labels))
            columns = [
                *batch.columns,
                pa.array([labels[i] if i >= 0 else None for i in best], kind),
                pa.array(np.where(best >= 0, proba[np.arange(len(best)), best], proba.max(axis=1))),
                pa.ListArray.from_arrays(each, flat),
            ]
            yield pa.RecordBatch.from_arrays(columns[: len(names)], names=names)

    return score


def _judge(data: bytes, target: str, policy: Policy) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def judge(batches: Batches) -> Iterator[pa.RecordBatch]:
        model = _loaded(data)
        classes, confusion, losses, done = LabelIndex(), Confusion(), Losses(), 0
        for batch in batches:
            kinds = {name: kind for name, kind in _kinds(model, batch.schema).items() if name != target}
            ignored = [n for n in batch.schema.names if n not in kinds and n != target]
            rows_source = source(
                [batch], ReadOptions(target, kinds, ignored, policy), "the rows to be judged"
            )
            while rows_source is not None and (rows := rows_source.read(8_192)) is not None:
                plan = classes.admit([*distinct_labels(rows.labels), *model.labels()])
                if plan is not None:
                    confusion.realign(plan)
                    losses.realign(plan)
                block = classes.scored(classes.codes(rows.labels), model.proba(model.encode(rows)), model)
                confusion.update(block)
                losses.update(block)
                done += len(rows)
        if done:
            record = _packed(classes.labels, done, confusion, losses)
            yield pa.record_batch({"record": pa.array([record], pa.binary())})

    return judge


def _packed(labels: list[Label], rows: int, confusion: Confusion, losses: Losses) -> bytes:
    arrays = {**confusion.arrays(), **losses.arrays()}
    return b"".join(pack(FORMAT, {"labels": labels, "rows": rows}, arrays))


def _unpacked(data: bytes) -> tuple[list[Label], int, Confusion, Losses]:
    content = unpack(data, FORMAT)
    confusion, losses = Confusion(), Losses()
    for summary in (confusion, losses):
        summary.restore({name: content.arrays[name].copy() for name in summary.arrays()})
    return content.document["labels"], content.document["rows"], confusion, losses


_TYPES: Mapping[type, tuple[str, pa.DataType]] = {
    bool: ("boolean", pa.bool_()),
    int: ("bigint", pa.int64()),
    float: ("double", pa.float64()),
    str: ("string", pa.string()),
}


def _types(labels: list[Label]) -> tuple[str, pa.DataType]:
    """The types of Spark and Arrow that can hold all labels."""
    kinds = {type(label) for label in labels}
    for kind, python_types in ((bool, {bool}), (int, {int}), (float, {int, float})):
        if kinds <= python_types:
            return _TYPES[kind]
    return _TYPES[str]
