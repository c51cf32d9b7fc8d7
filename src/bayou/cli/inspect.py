"""`bayou inspect`, `explain` and `merge`: what is in model files."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bayou.cli import options
from bayou.cli.compiling import announce_compiling
from bayou.cli.console import guarded, note, out, out_json


@guarded
def inspect(model_file: options.ModelFile, json: options.Json = False) -> None:
    """What a model file holds: its parameters, columns, classes, size and law of merging."""
    from bayou.cli.files import load_model

    facts = facts_of(load_model(model_file))
    if json:
        out_json({"file": model_file, **facts})
        return
    from bayou.plain_text import clean

    width = max(map(len, facts))
    for name, value in facts.items():
        if isinstance(value, list):
            value = _some(value)
        elif isinstance(value, dict):
            value = ", ".join(f"{k} {v}" for k, v in value.items()) or "none"
        out(f"{name.ljust(width)}  {clean(f'{value:,}' if isinstance(value, int) else value)}")


def facts_of(model: Any) -> dict[str, Any]:
    """What a person wants to know of a model."""
    from bayou.schema import Kind

    facts: dict[str, Any] = {"model": repr(model), "merges": f"{model.law.value}: {model.law.promise}"}
    if not model.started:
        return {**facts, "rows": 0}
    schema = model.schema_
    facts |= {"rows": int(model.arrays().get("rows", [0])[0]), "classes": model.labels()}
    for kind in Kind:
        if schema.names(kind):
            facts[f"{kind.value} columns"] = list(schema.names(kind))
    facts |= {"bytes of state": model.memory_bytes, "digest": model.digest()}
    return facts


def _some(values: list[Any], most: int = 20) -> str:
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return f"{len(values):,}: {', '.join(str(v) for v in values[:most])}{more}"


@guarded
def explain(
    model_file: options.ModelFile,
    file: Annotated[
        str,
        typer.Argument(metavar="ROWS", help="JSON lines or any other stream; - is JSON on standard input."),
    ],
    row: Annotated[int, typer.Option(min=0, metavar="N", help="Which row, from 0.")] = 0,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Why the model says what it says about one row, attribute by attribute."""
    from bayou.cli.files import load_model
    from bayou.errors import UnsupportedError

    model = load_model(model_file)
    announce_compiling(quiet)
    record = _record(file, row)
    if not hasattr(model, "explain"):
        raise UnsupportedError(f"{type(model).__name__} cannot explain its predictions in this version")
    found = model.explain(record)
    if json:
        out_json(found.to_dict() if hasattr(found, "to_dict") else found)
    else:
        out(found.table() if hasattr(found, "table") else str(found))


def _record(file: str, row: int) -> dict[str, Any]:
    """One row of a JSON file (an object, or objects line by line) or of any stream, by column."""
    import json
    import sys

    from bayou.errors import DataError
    from bayou.streams import open_stream

    if file == "-" or file.endswith(".json"):
        with sys.stdin if file == "-" else open(file, encoding="utf-8") as source:
            text = source.read()
        try:
            found = json.loads(text)
        except ValueError:
            try:
                found = [json.loads(line) for line in text.splitlines() if line.strip()]
            except ValueError as problem:
                raise DataError(
                    f"not JSON: {problem}", remedy='write a row as {"price": 0.3, "day": "mon"}'
                ) from None
        records = found if isinstance(found, list) else [found]
        if row >= len(records) or not isinstance(records[row], dict):
            raise DataError(f"there is no row {row} in {file}", remedy=f"it has {len(records)} rows, from 0")
        return dict(records[row])
    with open_stream(file, target="") as stream:
        done = 0
        while (got := stream.read(8192)) is not None:
            if row < done + len(got):
                return {name: values[row - done].as_py() for name, values in got.columns.items()}
            done += len(got)
    raise DataError(f"there is no row {row} in {file}", remedy=f"it has {done:,} rows, from 0")


@guarded
def merge(
    model_files: Annotated[
        list[str], typer.Argument(metavar="MODELS...", help="Model files, in stream order.")
    ],
    into: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="Where the merged model goes.")],
    quiet: options.Quiet = False,
) -> None:
    """Add models up that learned different parts of the data: the same as one that learned all."""
    from bayou.cli.files import check_writable, load_model, save_model

    check_writable(into)
    announce_compiling(quiet)
    merged = load_model(model_files[0])
    for path in model_files[1:]:
        merged.merge(load_model(path))
    merged.refresh()
    save_model(merged, into)
    if not quiet:
        note(f"{len(model_files)} models merged into {into} ({merged.law.value}: {merged.law.promise})")
