"""String views, as polars writes them into Arrow files: functions of Arrow refuse them, or lose what is missing."""

from __future__ import annotations

import pyarrow as pa


def without_views(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with plain strings in the place of views, also in dictionaries.

    >>> views = pa.array(["x", None], pa.string_view())
    >>> without_views(pa.record_batch({"s": views})).column("s").type
    DataType(string)
    """
    for i, kind in enumerate(batch.schema.types):
        if pa.types.is_string_view(kind):
            batch = batch.set_column(i, batch.schema.names[i], batch.column(i).cast(pa.string()))
        elif pa.types.is_dictionary(kind) and pa.types.is_string_view(kind.value_type):
            column = batch.column(i)
            plain = pa.DictionaryArray.from_arrays(column.indices, column.dictionary.cast(pa.string()))
            batch = batch.set_column(i, batch.schema.names[i], plain)
    return batch
