"""Options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from bayou.streams.source import Source


def count(text: str) -> int:
    """A whole number of rows; 1e6 and 1_000_000 are accepted.

    >>> count("1e6"), count("20_000")
    (1000000, 20000)
    """
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number of rows") from None
    if value != value or value < 0 or value > 2**62 or value != int(value):
        raise typer.BadParameter(f"{text!r} is not a whole number of rows")
    return int(value)


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, ARFF, Parquet, Arrow, JSON lines, text; kafka:// nats:// redis:// tail://; - is standard input.",
    ),
]
Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="CSV, ARFF, Parquet, Arrow, JSON lines, text; folders and patterns of these; kafka:// nats:// redis:// "
        "tail://; - is standard input.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", metavar="COLUMN", help="Column to predict; of ARFF files, by default the last."
    ),
]
ModelList = Annotated[
    list[str],
    typer.Option(
        "--model",
        "-m",
        metavar="MODELS",
        help='Models, comma-separated: nb or "nb(smoothing=0.5)"; by default auto.',
    ),
]
OneModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="MODEL",
        help='The model: nb or "nb(smoothing=0.5)". By default auto, or nb if several files are learned and merged.',
    ),
]
Nominal = Annotated[
    list[str], typer.Option(metavar="COLUMNS", help="Columns to read as nominal, comma-separated.")
]
Numeric = Annotated[list[str], typer.Option(metavar="COLUMNS", help="Columns to read as numeric.")]
Text = Annotated[list[str], typer.Option(metavar="COLUMNS", help="Columns to read as text.")]
Date = Annotated[list[str], typer.Option(metavar="COLUMNS", help="Columns to read as dates.")]
Ignore = Annotated[list[str], typer.Option(metavar="COLUMNS", help="Columns to leave out.")]
PolicyName = Literal["strict", "skip", "missing"]
Policy = Annotated[
    PolicyName,
    typer.Option(help="For a cell that does not fit its column: stop, skip its row, or treat it as missing."),
]
DeadLetters = Annotated[
    str | None,
    typer.Option(
        "--dead-letters",
        "--rejects",
        metavar="FILE",
        help="Write the rows skipped, with reason and place, as JSON lines; or send them to a topic: kafka://...",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT",
        help="Format, if the name does not show it: csv tsv text arff parquet arrow jsonl libsvm mbox maildir eml "
        "folders.",
    ),
]
RowCount = Annotated[
    int | None,
    typer.Option("--rows", "-n", parser=count, metavar="N", help="Stop after N rows (1e6 is fine)."),
]
Checkpoint = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER", help="Save the state regularly; `bayou resume FOLDER` continues from there."
    ),
]
Every = Annotated[
    str, typer.Option(metavar="N", help="How often to save: a number of rows (10000) or a time (30s, 2min).")
]
Labels = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Log of labels that arrive later than their records; joined by --join."
    ),
]
LabelTopic = Annotated[
    str | None, typer.Option(metavar="TOPIC", help="As --labels: a topic of the same broker as the records.")
]
JoinKey = Annotated[
    str | None,
    typer.Option("--join", metavar="COLUMN", help="Key column, in records and in labels."),
]
Within = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="How long a record waits for its label: 90s, 15min, 1h, 2d."),
]
TimeColumn = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="COLUMN",
        help="Column that holds the time; by default the broker's own.",
    ),
]
Waiting = Annotated[
    int | None,
    typer.Option(
        parser=count,
        metavar="N",
        help="How many records may wait for their label (default 100000); the oldest beyond are given up.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no remarks.")]
ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="A model file (.bayou).")]


def names(values: list[str]) -> list[str]:
    """Column names from repeated or comma-separated options."""
    return [name for part in values for name in part.split(",") if name]


def stream(
    file: str,
    target: str | None,
    nominal: list[str],
    numeric: list[str],
    text: list[str],
    date: list[str],
    ignore: list[str],
    policy: PolicyName = "strict",
    dead_letters: str | None = None,
    format: str | None = None,
) -> dict[str, Any]:
    """The arguments of `open_stream` for the stream of a command."""
    return {
        "path": file,
        "target": target,
        "nominal": names(nominal),
        "numeric": names(numeric),
        "text": names(text),
        "date": names(date),
        "ignore": names(ignore),
        "policy": policy,
        "dead_letters": dead_letters,
        "format": format,
    }


def join(
    labels: str | None,
    topic: str | None,
    key: str | None,
    within: str | None,
    time: str | None,
    waiting: int | None,
) -> dict[str, Any]:
    """The arguments of `open_stream` for labels that arrive later; empty without such labels."""
    from bayou.cli.console import UsageError

    if labels is not None and topic is not None:
        raise UsageError("--labels and --label-topic are two names of one thing", remedy="give one of them")
    arguments = {"labels": labels if topic is None else topic, "join": key, "within": within, "time": time}
    if waiting is None and all(value is None for value in arguments.values()):
        return {}
    needed = {"--labels": arguments["labels"], "--join": key, "--within": within}
    if missing := [option for option, value in needed.items() if value is None]:
        raise UsageError(
            "labels that come later need their log, the column of the key, and how long they are waited for; "
            f"not given: {', '.join(missing)}",
            remedy="--labels ADDRESS (or --label-topic TOPIC) --join COLUMN --within 1h",
        )
    if waiting is not None and waiting < 1:
        raise UsageError("at least one record has to wait", value=waiting, remedy="--waiting 100000")
    return arguments | ({} if waiting is None else {"waiting": waiting})


def title(file: str) -> str:
    """The name of a stream in messages."""
    from bayou.plain_text import clean
    from bayou.streams.brokers.address import Address, is_address

    if is_address(file):
        return clean(Address.of(file).shown())
    return clean("standard input" if file == "-" else file.rstrip("/").rsplit("/", 1)[-1])


def described(title: str, stream: Source, rows: int) -> str:
    """A line that describes the stream: rows, columns by kind, target."""
    from bayou.plain_text import clean

    kinds = [column.kind for column in stream.columns.values()]
    parts = [
        f"{kinds.count(kind):,} {kind}" for kind in ("numeric", "nominal", "text", "date") if kind in kinds
    ]
    if stream.vocabulary is not None:
        parts.append(f"{len(stream.vocabulary):,} words")
    target = f", target {clean(stream.target)}" if stream.target else ""
    columns = "column" if len(kinds) == 1 and stream.vocabulary is None else "columns"
    return f"{title}: {rows:,} rows, {' + '.join(parts) or 'no'} {columns}{target}"
