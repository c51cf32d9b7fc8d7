"""`bayou compare`: models cross-validated on the same folds, with significance."""

from __future__ import annotations

from typing import Annotated

import typer

from bayou.cli import options
from bayou.cli.compiling import announce_compiling
from bayou.cli.console import guarded, out, out_json, out_table, prose
from bayou.cli.followed import tell_choice
from bayou.cli.meter import Meter, time_text


@guarded
def compare(
    file: options.File,
    model: options.ModelList = [],
    target: options.Target = None,
    folds: Annotated[int, typer.Option(min=2, metavar="N", help="Number of folds.")] = 10,
    repeats: Annotated[
        int, typer.Option(min=1, metavar="N", help="How often to repeat, with new folds.")
    ] = 1,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the folds.")] = 0,
    nominal: options.Nominal = [],
    numeric: options.Numeric = [],
    text: options.Text = [],
    date: options.Date = [],
    ignore: options.Ignore = [],
    policy: options.Policy = "strict",
    format: options.Format = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Cross-validate models on the same stratified folds, and test the others for differences from the first."""
    from bayou.cli import specs

    chosen = specs.models(model or [specs.UNNAMED])
    announce_compiling(quiet)
    meter = Meter("compare", quiet)
    from bayou.evaluate.crossval import compare as compare_models
    from bayou.streams import open_stream

    stream_options = options.stream(file, target, nominal, numeric, text, date, ignore, policy, None, format)
    with open_stream(**stream_options) as stream:
        comparison = compare_models(
            chosen,
            stream,
            folds=folds,
            repeats=repeats,
            seed=seed,
            progress=lambda done, parts: meter.update(done, done / parts, of=f"of {parts} parts"),
        )
        about = options.described(options.title(file), stream, comparison.rows)
    meter.clear()
    if json:
        out_json({"file": file, **comparison.to_dict()})
        return
    kind = f"{repeats} x {folds}-fold" if repeats > 1 else f"{folds}-fold"
    prose(f"{about}, {kind} stratified cross-validation, {time_text(meter.seconds)}")
    out()
    out_table(comparison.table())
    if not quiet:
        out()
        prose("In percent, but for the log-loss; ± is the deviation over folds.")
        prose(
            f"p: corrected resampled t-test on accuracy against {next(iter(chosen))}, two-sided; "
            "better and worse at the 5 % level."
        )
        tell_choice(chosen, bool(model), prose)
