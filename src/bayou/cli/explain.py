"""`bayou explain`: the evidence behind the prediction for one row."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bayou.cli import options
from bayou.cli.compiling import announce_compiling
from bayou.cli.console import guarded, out, out_json


@guarded
def explain(
    model_file: options.ModelFile,
    file: Annotated[
        str,
        typer.Argument(metavar="ROWS", help="JSON lines or any other stream; - is JSON on standard input."),
    ],
    row: Annotated[int, typer.Option(min=0, metavar="N", help="Number of the row to explain, from 0.")] = 0,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Explain the prediction for one row, attribute by attribute."""
    from dataclasses import asdict

    from bayou.cli.files import load_model
    from bayou.cli.matching import compare_columns, is_known

    model = load_model(model_file)
    announce_compiling(quiet)
    record = _record(file, row)
    if model.started:
        compare_columns(model, record, file, quiet)
        record = {name: value for name, value in record.items() if is_known(model, name)}
    explanation = model.explain(record)
    if json:
        out_json(asdict(explanation))
    else:
        out(str(explanation))


def _record(file: str, row: int) -> dict[str, Any]:
    """One row of a JSON file (an object, or objects line by line) or of any stream, by column."""
    import sys

    from bayou.errors import DataError
    from bayou.streams import open_stream
    from bayou.streams.jsonl import RepeatedKeyError, decode

    if file == "-" or file.endswith(".json"):
        with sys.stdin if file == "-" else open(file, encoding="utf-8") as source:
            text = source.read()
        try:
            try:
                content = decode(text)
            except ValueError:
                content = [decode(line) for line in text.splitlines() if line.strip()]
        except RepeatedKeyError as problem:
            raise DataError(
                "a key that is repeated", column=str(problem), remedy="leave one of them"
            ) from None
        except (ValueError, RecursionError) as problem:
            raise DataError(
                f"not JSON: {problem}", remedy='write a row as {"price": 0.3, "day": "mon"}'
            ) from None
        records = content if isinstance(content, list) else [content]
        if row >= len(records) or not isinstance(records[row], dict):
            raise DataError(f"there is no row {row} in {file}", remedy=f"it has {len(records)} rows, from 0")
        return dict(records[row])
    with open_stream(file, target="") as stream:
        done = 0
        while (batch := stream.read(8192)) is not None:
            if row < done + len(batch):
                return {name: values[row - done].as_py() for name, values in batch.columns.items()}
            done += len(batch)
    raise DataError(f"there is no row {row} in {file}", remedy=f"it has {done:,} rows, from 0")
