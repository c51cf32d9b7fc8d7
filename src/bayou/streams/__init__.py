"""Streams of rows: files of every common format, standard input, and generators with a known Bayes rate."""

from __future__ import annotations

from bayou.streams import generators
from bayou.streams.opening import open_stream
from bayou.streams.source import ColumnType, DocumentTermMatrix, Kind, Policy, Rows, Source

__all__ = [
    "ColumnType",
    "DocumentTermMatrix",
    "Kind",
    "Policy",
    "Rows",
    "Source",
    "generators",
    "open_stream",
]
