"""Limits of streams: anything beyond is refused, early and in bounded memory."""

from __future__ import annotations

LINE = 1 << 20  # bytes of one record, its line end included
CHUNK = LINE  # a chunk is parsed at once; a record that does not fit into one is too long
COLUMNS = 10_000
NESTING = 32  # levels of brackets in one JSON line
RATIO = 100  # bytes out per byte in, of a compressed stream ...
FREE = 64 << 20  # ... beyond this many bytes out
SAMPLE = 1_000  # rows that determine the kinds of columns
HEAD = 1 << 20  # bytes whose hash identifies a stream
# Rows of a columnar file parsed at once. Writers of Parquet end a page after 20,000 rows; batches that end inside one
# take Arrow a quarter more time, most of it to move their memory.
BATCH = 20_000
OLDER_BATCH = 16_384  # as BATCH, for places in older checkpoints, which count such batches
