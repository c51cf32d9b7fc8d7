"""`bayou predict`: a model file and new rows, scored."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayou.cli import options
from bayou.cli.compiling import announce_compiling
from bayou.cli.console import guarded, note, printable
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
            "--out", "-o", metavar="FILE", help=".csv .tsv .jsonl .parquet, or - (CSV on standard output)."
        ),
    ] = "-",
    only: Annotated[
        bool, typer.Option("--only", help="Predictions alone, without the columns of the input.")
    ] = False,
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            "-t",
            metavar="COLUMN",
            help="The true label, if the file has it: the accuracy is told.",
        ),
    ] = None,
    rows: options.RowCount = None,
    policy: options.Policy = "strict",
    format: options.Format = None,
    quiet: options.Quiet = False,
) -> None:
    """Write the predicted class and all class probabilities of every row. The model stays as it is."""
    from bayou.cli.files import load_model
    from bayou.cli.sinks import opened_sink
    from bayou.errors import NotFittedError

    model = load_model(model_file)
    if not (model.started and model.labels()):
        raise NotFittedError(f"{options.title(model_file)} has met no class yet; learn labelled rows first")
    announce_compiling(quiet)
    meter = Meter("predict", quiet)
    right = labelled = done = 0
    with _matching(model, file, target or "", policy, format) as stream, opened_sink(out) as sink:
        if stream.vocabulary is None:
            compare_columns(model, stream.columns, file, quiet)
        while rows is None or done < rows:
            got = stream.read(BLOCK if rows is None else min(BLOCK, rows - done))
            if got is None:
                break
            scored, hits, known = _scored(model, got, target)
            right, labelled = right + hits, labelled + known
            kept = {} if only else {**got.columns, **({target: got.labels} if target else {})}
            sink.write(_together(kept, scored))
            done += len(got)
            meter.update(done, stream.progress(), {"accuracy": right / labelled} if labelled else None)
        rejects = dict(stream.rejects.counts)
    meter.clear()
    if not quiet:
        accuracy = f", accuracy {100 * right / labelled:.2f} %" if labelled else ""
        place = "" if out == "-" else f" to {out}"
        note(f"{done:,} rows scored{place}, {time_text(meter.seconds)}{accuracy}")
    for reason, times in rejects.items():
        note(f"rejected: {times:,} x {reason}")


def _matching(model: Any, file: str, target: str, policy: options.PolicyName, format: str | None) -> Any:
    """The stream, with columns of the kinds the model learned them as."""
    from bayou.errors import SchemaError
    from bayou.schema import Kind

    kinds = {name: kind.value for name, (kind, _) in model.schema_.place.items()}

    def opened(wishes: dict[str, list[str]]) -> Source:
        from bayou.streams import open_stream

        return open_stream(file, target=target, policy=policy, format=format, **wishes)  # type: ignore[arg-type] # by name

    stream = opened({})
    other = {n: kinds[n] for n, c in stream.columns.items() if n in kinds and kinds[n] != c.kind}
    if not other:
        return stream
    stream.close()
    if file == "-":
        name, kind = next(iter(other.items()))
        raise SchemaError(
            f"column {name!r} is {kind} in the model but not on standard input; store the rows in a file first"
        )
    return opened({kind.value: [n for n, k in other.items() if k == kind.value] for kind in Kind})


def compare_columns(model: Any, columns: Collection[str], file: str, quiet: bool) -> None:
    """Refuse a file that has nothing of what the model learned; say what is lacking."""
    from bayou.errors import SchemaError
    from bayou.streams.read_options import listed

    known = list(model.schema_.place)
    lacking = [name for name in known if name not in columns]
    if model.numbers_are_words or not lacking:
        return
    if len(lacking) == len(known):
        raise SchemaError(
            f"{options.title(file)} has none of the columns the model learned: {listed(known)}; it has "
            f"{listed(list(columns))}"
        )
    if not quiet:
        more = f" and {len(lacking) - 20:,} more" if len(lacking) > 20 else ""
        note(printable(f"not in the file, taken as missing: {', '.join(lacking[:20])}{more}"))


def _scored(model: Any, rows: Any, target: str | None) -> tuple[dict[str, Any], int, int]:
    proba = model.proba(model.encode(rows))
    labels = model.labels()
    columns: dict[str, Any] = {"prediction": [labels[i] for i in model.decide(proba)]}
    columns |= {f"p({label})": proba[:, i] for i, label in enumerate(labels)}
    if not target or rows.labels is None:
        return columns, 0, 0
    truth = rows.labels.to_pylist()
    known = [i for i, label in enumerate(truth) if label is not None]
    return columns, sum(truth[i] == columns["prediction"][i] for i in known), len(known)


def _together(kept: dict[str, Any], scored: dict[str, Any]) -> dict[str, Any]:
    """Input columns, then predictions; a prediction whose name is taken gets an underscore."""
    out = dict(kept)
    for name, values in scored.items():
        while name in out:
            name += "_"
        out[name] = values
    return out
