"""Export a model into the files of another language."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bayou.errors import OptionError
from bayou.export.scoring import MAX_ENTRIES, model_scorer

LANGUAGES = ("json", "sql", "c", "js", "onnx")


def export_model(
    model: Any,
    to: str,
    *,
    name: str = "model",
    dialect: str = "duckdb",
    table: str = "rows",
    keep: Sequence[str] = (),
    single: bool = False,
    max_entries: int = MAX_ENTRIES,
) -> dict[str, str | bytes]:
    """Export a model: the files by name, the main one last; text, except for ONNX.

    Parameters
    ----------
    model
        Any classifier whose prediction is look-ups and sums; others are refused with `UnsupportedError`.
    to
        `"json"`, `"sql"`, `"c"`, `"js"` or `"onnx"`.
    name
        The name of the files, and in C the prefix of all public names.
    dialect, table
        Of SQL: `"duckdb"`, `"sqlite"` or `"postgresql"`, and the table whose rows are scored.
    keep
        Other columns of that table that the result keeps, such as its key; in DuckDB it keeps all.
    single
        Whether C and ONNX compute in float rather than in double.
    max_entries
        Models whose tables hold more numbers are refused.
    """
    if to not in LANGUAGES:
        raise OptionError("unknown language", value=to, remedy=f"it is one of {', '.join(LANGUAGES)}")
    scorer = model_scorer(model, max_entries)
    if to == "sql":
        from bayou.export.sql import to_sql

        return {**to_sql(scorer, dialect, table, name=name, keep=keep)}
    if to == "c":
        from bayou.export.c import to_c

        return {**to_c(scorer, name, single)}
    if to == "js":
        from bayou.export.js import to_js, to_page

        return {f"{name}.html": to_page(scorer), f"{name}.mjs": to_js(scorer)}
    if to == "onnx":
        from bayou.export.onnx import to_onnx

        return {f"{name}.onnx": to_onnx(scorer, single)}
    from bayou.export.json import to_json

    return {f"{name}.json": to_json(scorer)}


def write_files(files: Mapping[str, str | bytes], folder: str | os.PathLike[str]) -> list[Path]:
    """Write the files of an export into a folder; return their paths."""
    paths = []
    for name, content in files.items():
        path = Path(folder) / name
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        paths.append(path)
    return paths
