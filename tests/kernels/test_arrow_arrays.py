"""Addresses read from the structures of Arrow, beside those that pyarrow itself gives."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from bayou.streams.batch_rows import columns_in_memory


def test_addresses_are_those_of_the_buffers() -> None:
    batch = pa.record_batch(
        {
            "whole": pa.array(range(10)),
            "broken": pa.array([0.5, None] * 5),
            "name": pa.array(["a", "b"] * 5),
            "empty": pa.nulls(10),
            "coded": pa.array(["u", None] * 5).dictionary_encode(),
            "flag": pa.array([True, False] * 5),
        }
    )
    for rows in (batch, batch.slice(3), batch.slice(3, 2)):
        for column, (missing, offset, flags, values) in zip(
            rows.columns, columns_in_memory(rows).tolist(), strict=True
        ):
            buffers = [0 if buffer is None else buffer.address for buffer in (*column.buffers(), None, None)]
            assert missing in (-1, column.null_count)
            assert (offset, flags, values) == (column.offset, *buffers[:2])


def test_no_columns() -> None:
    assert columns_in_memory(pa.record_batch({})).shape == (0, 4)


def test_numbers_are_where_the_addresses_say() -> None:
    batch = pa.record_batch({"a": np.arange(100), "b": np.arange(100) / 8})
    found = columns_in_memory(batch.slice(7))
    for column, (_, offset, _, values) in zip(batch.columns, found.tolist(), strict=True):
        assert values + 8 * offset == column.buffers()[1].address + 8 * 7
