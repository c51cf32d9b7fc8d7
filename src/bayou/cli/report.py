"""`bayou report`: an HTML report of what a model has learned; and that of an evaluation."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayou.cli import options
from bayou.cli.console import guarded, note

if TYPE_CHECKING:
    from bayou.evaluate.evaluation import Evaluation


@guarded
def report(
    model_file: Annotated[
        str,
        typer.Argument(
            metavar="MODEL", help="A model file (.bayou), or its description (.json) as `export` writes it."
        ),
    ],
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE", help="File to write; by default MODEL.html."),
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Write a report with charts of what a model has learned: one HTML file, which needs no network."""
    from pathlib import Path

    from bayou.cli.files import check_writable, load_model
    from bayou.report import Background, write_report

    path = out or str(Path(model_file).with_suffix(".html"))
    check_writable(path, model_file)
    name = Path(model_file).stem
    if Path(model_file).suffix == ".json":
        from bayou.report.description import described_html, read_description

        described = read_description(model_file)
        about = f"What {described.get('model')} computes, from its description"
        page = described_html(described, Background(name, about, command()))
        Path(path).write_text(page, encoding="utf-8")
        if not quiet:
            note(f"report written to {path}")
        return
    model = load_model(model_file)
    about = f"What {type(model).__name__} has learned"
    write_report(path, None, {name: model}, Background(name, about, command()))
    if not quiet:
        note(f"report written to {path}")


def write_page(
    path: str,
    evaluation: Evaluation,
    models: Mapping[str, Any],
    about: str,
    target: str | None,
    rejects: Mapping[str, int],
) -> None:
    """Write the report of an evaluation."""
    from bayou.report import Background, write_report

    title, _, rest = about.partition(": ")
    write_report(path, evaluation, models, Background(title, rest, command(), target, rejects))


def command() -> str:
    """The command line as it was typed, quoted for a shell."""
    return shlex.join(["bayou", *sys.argv[1:]])
