"""`bayou predict`: predictions of a saved model for new rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayou.cli import options
from bayou.cli.compiling import announce_compiling
from bayou.cli.console import UsageError, guarded, note
from bayou.cli.jobs import tell_rejects
from bayou.cli.matching import compare_columns, matching, offered
from bayou.cli.meter import Meter, time_text

if TYPE_CHECKING:
    from bayou.streams.source import Source

BLOCK = 8192


@guarded
def predict(
    model_file: options.ModelFile,
    file: options.File,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help=".csv .tsv .jsonl .parquet, or - (CSV on standard output). From a log also kafka:// nats:// redis://, "
            "with the place of each row. Delivery is at least once: after a crash some are sent again, with the same "
            "place.",
        ),
    ] = "-",
    only: Annotated[
        bool, typer.Option("--only", help="Write predictions only, without the columns of the input.")
    ] = False,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help="Column of the true labels, if there is one: the accuracy is printed.",
        ),
    ] = None,
    rows: options.RowCount = None,
    escape_formulas: Annotated[
        bool,
        typer.Option(
            "--escape-formulas",
            help="Put ' before text in CSV that a spreadsheet would run: = + - @ at its start.",
        ),
    ] = False,
    policy: options.Policy = "strict",
    format: options.Format = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="From a log to a topic: save the place in the log here, and continue from there.",
        ),
    ] = None,
    every: options.Every = "30s",
    quiet: options.Quiet = False,
) -> None:
    """Write the predicted class and all class probabilities of every row. The model does not change."""
    from bayou.cli.files import check_writable, load_model
    from bayou.cli.predicting import predict_log
    from bayou.cli.sinks import opened_sink
    from bayou.decisions import tell_unknown
    from bayou.errors import NotFittedError
    from bayou.streams.brokers.outlets import is_outlet
    from bayou.training.loop import lines_in_errors

    model = load_model(model_file)
    if not (model.started and model.labels()):
        raise NotFittedError(f"{options.title(model_file)} has met no class yet; learn labelled rows first")
    tell_unknown(getattr(model, "decision", None), model.labels())
    announce_compiling(quiet)
    if is_outlet(out):
        predict_log(
            model, options.title(model_file), file, out,
            target=target, rows=rows, policy=policy, format=format, folder=checkpoint, every=every, quiet=quiet,
        )  # fmt: skip
        return
    if checkpoint is not None:
        raise UsageError("--checkpoint is for what goes from a log to a topic", remedy="--out kafka://...")
    if out != "-":
        check_writable(out, file, model_file)
    meter = Meter("predict", quiet)
    right = labelled = done = 0
    with (
        matching(model, file, target or "", policy, format) as stream,
        opened_sink(out, escape_formulas=escape_formulas) as sink,
    ):
        compare_columns(model, offered(stream), file, quiet)
        while rows is None or done < rows:
            batch = stream.read(BLOCK if rows is None else min(BLOCK, rows - done))
            if batch is None:
                break
            if not len(batch):
                continue
            with lines_in_errors(stream, batch):
                scored, hits, known = _scored(model, batch, target)
            right, labelled = right + hits, labelled + known
            inputs = {} if only else {**batch.columns, **({target: batch.labels} if target else {})}
            sink.write(_with_predictions(inputs, scored))
            done += len(batch)
            so_far: partial[dict[str, float]] | None = (
                partial(dict, accuracy=right / labelled) if labelled else None
            )
            meter.update(done, stream.progress(), so_far)
        if not done:  # a file without rows still says what its columns would be
            sink.write(_empty_result(model, stream, only))
        rejects = dict(stream.rejects.counts)
    meter.clear()
    if not quiet:
        accuracy = f", accuracy {100 * right / labelled:.2f} %" if labelled else ""
        place = "" if out == "-" else f" to {out}"
        note(f"{done:,} rows scored{place}, {time_text(meter.seconds)}{accuracy}")
    tell_rejects(rejects)


def _scored(model: Any, rows: Any, target: str | None) -> tuple[dict[str, Any], int, int]:
    proba = model.proba(model.encode(rows))
    labels = model.labels()
    columns: dict[str, Any] = {"prediction": [labels[i] if i >= 0 else None for i in model.decide(proba)]}
    columns |= {f"p({label})": proba[:, i] for i, label in enumerate(labels)}
    if not target or rows.labels is None:
        return columns, 0, 0
    truth = rows.labels.to_pylist()
    known = [i for i, label in enumerate(truth) if label is not None]
    return columns, sum(truth[i] == columns["prediction"][i] for i in known), len(known)


def _empty_result(model: Any, stream: Source, only: bool) -> dict[str, Any]:
    """The columns of a result without rows."""
    import pyarrow as pa

    types = {"numeric": pa.float64(), "nominal": pa.string(), "text": pa.string(), "date": pa.string()}
    inputs = {} if only else {name: pa.array([], types[c.kind]) for name, c in stream.columns.items()}
    if stream.target and not only:
        inputs[stream.target] = pa.array([], pa.string())
    scored = {f"p({label})": pa.array([], pa.float64()) for label in model.labels()}
    return _with_predictions(inputs, {"prediction": pa.array([], pa.string()), **scored})


def _with_predictions(inputs: dict[str, Any], scored: dict[str, Any]) -> dict[str, Any]:
    """Input columns, then predictions; a prediction whose name is taken gets an underscore."""
    out = dict(inputs)
    for name, values in scored.items():
        while name in out:
            name += "_"
        out[name] = values
    return out
