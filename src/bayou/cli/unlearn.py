"""`bayou unlearn`: rows taken out of a model again."""

from __future__ import annotations

from typing import Annotated

import typer

from bayou.cli import options
from bayou.cli.compiling import announce_compiling
from bayou.cli.console import guarded, note
from bayou.cli.meter import Meter, time_text

BLOCK = 65_536  # rows taken out at a time: each block copies the state, so that a bad one leaves it as it was


@guarded
def unlearn(
    model_file: options.ModelFile,
    file: options.File,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="File to write the new model to (.bayou).")
    ],
    target: options.Target = None,
    ignore: options.Ignore = [],
    format: options.Format = None,
    quiet: options.Quiet = False,
) -> None:
    """Remove rows that a model has learned, as if it had never learned them.

    Not every model can unlearn: one that cannot says why. Nothing is written unless all rows could be removed.
    """
    from bayou.cli.files import check_writable, load_model, save_model
    from bayou.cli.matching import compare_columns, matching, offered
    from bayou.errors import DataError, OptionError

    check_writable(out)
    model = load_model(model_file)
    announce_compiling(quiet)
    meter = Meter("unlearn", quiet)
    done = 0
    with matching(model, file, target, "strict", format, options.names(ignore)) as stream:
        if stream.target is None:
            raise OptionError(f"{file} has no target", remedy="say which column it is: target=")
        compare_columns(model, offered(stream), file, quiet)
        while (rows := stream.read(BLOCK)) is not None and len(rows):
            model.unlearn(rows, rows.labels)
            done += len(rows)
            meter.update(done, stream.progress())
    meter.clear()
    if not done:
        raise DataError(f"{options.title(file)} has no rows", remedy="check the file")
    model.refresh()
    save_model(model, out)
    if not quiet:
        note(f"{done:,} rows taken out of {model!r}, saved as {out}, {time_text(meter.seconds)}")
