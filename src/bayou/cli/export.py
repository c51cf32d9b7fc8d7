"""`bayou export`: a model in another language."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from bayou.cli import options
from bayou.cli.console import guarded, note

Language = Literal["json", "sql", "c", "js", "onnx"]
DialectName = Literal["duckdb", "sqlite", "postgresql"]


@guarded
def export(
    model_file: options.ModelFile,
    to: Annotated[
        Language,
        typer.Option(
            "--to", help="A description (json), a SELECT, C99, a JavaScript module and page, or ONNX."
        ),
    ],
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="FOLDER", help="Folder to write to; by default that of the model."
        ),
    ] = None,
    dialect: Annotated[DialectName, typer.Option(help="Dialect of SQL.")] = "duckdb",
    table: Annotated[
        str, typer.Option(metavar="TABLE", help="The table whose rows the SELECT scores.")
    ] = "rows",
    keep: Annotated[
        str | None,
        typer.Option(metavar="COLUMNS", help="Other columns of the table to select, such as its key: a,b."),
    ] = None,
    single: Annotated[bool, typer.Option("--float", help="C and ONNX in single precision.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Write a model as SQL, C, JavaScript, ONNX or JSON, to score rows where Python cannot go."""
    from pathlib import Path

    from bayou.cli.files import check_writable, load_model
    from bayou.export import export_model, write_files

    folder = Path(out) if out is not None else Path(model_file).parent
    check_writable(str(folder / "model"))
    model = load_model(model_file)
    name = Path(model_file).stem
    kept = keep.split(",") if keep else ()
    files = export_model(model, to, name=name, dialect=dialect, table=table, keep=kept, single=single)
    for path in write_files(files, folder):
        if not quiet:
            note(f"written to {path}")
