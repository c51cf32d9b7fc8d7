"""Streams of rows: files of every common format, standard input, and generators with a known Bayes rate."""

from __future__ import annotations

from importlib import import_module
from typing import Any

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


def __getattr__(name: str) -> Any:
    if name == "generators":  # imported at first use, since reading files needs none
        return import_module("bayou.streams.generators")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
