"""`bayou merge`: one model from several model files."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bayou.cli import options
from bayou.cli.compiling import announce_compiling
from bayou.cli.console import UsageError, guarded, note


@guarded
def merge(
    model_files: Annotated[
        list[str], typer.Argument(metavar="MODELS...", help="Model files, in stream order.")
    ],
    into: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="File to write the merged model to.")
    ],
    force: Annotated[
        bool, typer.Option("--force", help="Merge even models without a common column or class.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Merge models that learned different parts of the data into one, as if it had learned all of it."""
    from bayou.cli.files import check_writable, load_model, save_model

    check_writable(into)
    announce_compiling(quiet)
    merged = load_model(model_files[0])
    joined: list[str] = []
    for path in model_files[1:]:
        other = load_model(path)
        news = _differences(merged, other, options.title(path), force)
        merged.merge(other)
        joined += news
    merged.refresh()
    save_model(merged, into)
    if not quiet:
        note(f"{len(model_files)} models merged into {into} ({merged.law.value}: {merged.law.promise})")
        for line in joined:
            note(line)


def _differences(merged: Any, other: Any, title: str, force: bool) -> list[str]:
    """Notes on classes and columns that a model adds or lacks; one without common ones is refused unless `force`."""
    if not (merged.started and other.started):
        return [f"{title} has learned nothing"] if not other.started else []
    differences = []
    for what, ours, theirs in (
        ("column", sorted(merged.schema_.place), sorted(other.schema_.place)),
        ("class", merged.labels(), other.labels()),
    ):
        plural = "columns" if what == "column" else "classes"
        if ours and theirs and not {*ours} & {*theirs} and not force:
            raise UsageError(
                f"{title} has no {what} in common with the models before it ({_first_few(theirs)}; they know "
                f"{_first_few(ours)}); --force merges them nevertheless"
            )
        for names, whose in (
            ([n for n in theirs if n not in {*ours}], f"only in {title}"),
            ([n for n in ours if n not in {*theirs}], f"not in {title}"),
        ):
            if names:
                differences.append(f"{whose}: {what if len(names) == 1 else plural} {_first_few(names)}")
    return differences


def _first_few(names: list[Any], most: int = 10) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
