"""`open_stream`, which opens streams of all formats."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

from bayou.errors import DataError, OptionError
from bayou.streams.brokers.address import is_address
from bayou.streams.read_options import ReadOptions
from bayou.streams.source import Kind, Policy, Source

if TYPE_CHECKING:
    from bayou.streams.byte_reader import ByteReader

_FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "txt",
    ".arff": "arff",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".mbox": "mbox",
    ".eml": "eml",
}
MAIL = ("mbox", "maildir", "eml", "folders")  # one message after the other, each a row


def open_stream(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    nominal: Collection[str] = (),
    numeric: Collection[str] = (),
    text: Collection[str] = (),
    date: Collection[str] = (),
    ignore: Collection[str] = (),
    policy: Policy = "strict",
    dead_letters: str | os.PathLike[str] | None = None,
    format: str | None = None,
    labels: str | None = None,
    join: str | None = None,
    within: str | float | None = None,
    time: str | None = None,
    waiting: int = 100_000,
    at_arrival: bool = False,
) -> Source:
    """Open a file, or standard input ("-"), as a stream of rows.

    Parameters
    ----------
    path
        `.csv .tsv .txt .arff .parquet .arrow .feather .ipc .jsonl .ndjson .libsvm`, each also packed as `.gz`
        or `.zst`; "-" reads standard input, as CSV unless `format` says otherwise. Mail: `.mbox`, `.eml`, a Maildir,
        or a folder of folders, whose names are the classes. Streams of messages by their address:
        `kafka://host:9092/topic`, `nats://host:4222/stream`, `redis://host:6379/key`, `tail://file.csv`,
        `tail://folder/*.jsonl`; `?until=end` stops at the end there is now, else they are followed without end.
    target
        Name of the label. ARFF: the last attribute unless given. "": the stream has no label.
    nominal, numeric, text, date, ignore
        Columns whose kind is not what the file or its first 1,000 rows suggest, and columns to leave out. Dates
        (ISO 8601: 2026-11-16, 2026-11-16T21:12:13+01:00) are learned as hour, weekday, month and trend.
    policy
        What to do with a cell that does not fit its column: "strict" stops, "skip" leaves the row out,
        "missing" makes the cell missing. A row that cannot be split into cells is left out by both.
    dead_letters
        A file for the rows left out, one JSON object a line; what it held before is replaced. Or a topic:
        `kafka://host/topic`, `nats://host/stream?subject=...`, `redis://host/key`.
    format
        "csv", "tsv", "text" (label, tab, text), "arff", "parquet", "arrow", "jsonl", "libsvm", "mbox",
        "maildir", "eml" or "folders"; messages: "json", "csv" or "arrow".
    labels, join, within
        Labels that come later, in a log of their own: its address, or a topic of the same broker; the column of
        both logs that holds the key (text: 17 and "17" are one key); and how long a record waits for its label, by the
        time of the messages (seconds, or text such as "1h"). A row is returned when its label arrives.
    time
        The column of both logs that holds the time of a message (seconds since 1970, or ISO 8601). Left out: the
        time that the broker keeps, which lines of files have not.
    waiting
        Records that may wait; beyond, the oldest are given up and counted.
    at_arrival
        Hand records out when they arrive, too, without a label: to be predicted (`bayou.evaluate.Delayed`).

    Returns
    -------
    Source
        Rows in order, to be read once; a context manager, which closes the file.

    Raises
    ------
    DataError
        If the file cannot be opened, has no such column, or a cell does not fit its column.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "day.csv"
    >>> _ = path.write_text("price,day,move\\n0.3,mon,UP\\n0.4,tue,DOWN\\n")
    >>> with open_stream(path, target="move") as stream:
    ...     rows = stream.read(10)
    >>> rows.columns["price"].to_pylist(), rows.columns["day"].to_pylist(), rows.labels.to_pylist()
    ([0.3, 0.4], ['mon', 'tue'], ['UP', 'DOWN'])
    """
    from bayou.streams.byte_reader import ByteReader

    if policy not in get_args(Policy):
        raise OptionError("unknown policy", value=policy, remedy="strict, skip or missing")
    kinds: dict[str, Kind] = {}
    for kind, names in (("nominal", nominal), ("numeric", numeric), ("text", text), ("date", date)):
        for name in [names] if isinstance(names, str) else names:
            if kinds.setdefault(name, cast(Kind, kind)) != kind or name in ignore:
                raise OptionError(f"column {name!r} was given two kinds")
    rejects_to = _dead_letters(dead_letters)
    left_out = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    read_options = ReadOptions(target, kinds, left_out, policy, rejects_to)
    name = os.fspath(path)
    if labels is not None or join is not None:
        return _joined(name, labels, format, read_options, join, within, time, waiting, at_arrival)
    if is_address(name):
        from bayou.streams.brokers.opening import open_address

        return open_address(name, format, read_options)
    chosen = format or format_of(name)
    if chosen in MAIL:
        from bayou.streams.mailboxes import MailSource

        return MailSource(name, chosen, read_options)
    reader = ByteReader(name)
    try:
        if isinstance(rejects_to, Path) and _same(rejects_to, Path(name)):
            raise OptionError(
                "the dead letters would overwrite the stream", value=name, remedy="another path"
            )
        return _opened(chosen, reader, read_options)
    except BaseException:
        reader.close()
        raise


def _dead_letters(target: str | os.PathLike[str] | None) -> Path | str | None:
    """The file or topic for rejected rows."""
    if target is None:
        return None
    from bayou.streams.brokers.outlets import is_outlet

    text = os.fspath(target)
    return text if is_outlet(text) else Path(text)


def _joined(
    records: str,
    labels: str | None,
    format: str | None,
    read_options: ReadOptions,
    key: str | None,
    within: str | float | None,
    time: str | None,
    waiting: int,
    at_arrival: bool,
) -> Source:
    if labels is None or key is None or within is None:
        raise OptionError(
            "labels that come later need their log, the column of the key, and how long they are waited for",
            remedy='labels="kafka://host/labels", join="id", within="1h"',
        )
    if not is_address(records):
        raise OptionError(
            "labels that come later belong to a log", value=records, remedy="tail://records.csv for a file"
        )
    if waiting < 1:
        raise OptionError("at least one record has to wait", value=waiting, remedy="waiting=100_000")
    from bayou.streams.brokers.joined import JoinOptions
    from bayou.streams.brokers.opening import duration, open_joined

    options = JoinOptions(key, duration(within), time, waiting, at_arrival)
    return open_joined(records, labels, format, read_options, options)


def _same(a: Path, b: Path) -> bool:
    try:
        return a.samefile(b)
    except (OSError, ValueError):  # one of them does not exist
        return False


def format_of(path: str) -> str:
    """The format of a file, by its name."""
    if path == "-":
        return "csv"
    if Path(path).is_dir():
        return "maildir" if (Path(path) / "cur").is_dir() else "folders"
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in (".gz", ".zst"):
        suffixes.pop()
    if suffixes and suffixes[-1] == ".bayou":
        raise OptionError(f"{path} is a model, not rows", remedy="give the file that holds the rows")
    if not suffixes or suffixes[-1] not in _FORMATS:
        if not Path(path).exists():
            raise DataError(f"cannot open {path}: No such file or directory", remedy="check the path")
        known = " ".join(_FORMATS)
        raise OptionError(
            f"cannot tell the format of {path}", remedy=f"say format=; known are {known} (.gz, .zst)"
        )
    return _FORMATS[suffixes[-1]]


def _opened(format: str, reader: ByteReader, read_options: ReadOptions) -> Source:
    # Formats are imported at first use, so that importing bayou stays fast.
    if format in ("csv", "tsv"):
        from bayou.streams.delimited import DelimitedSource

        return DelimitedSource(reader, read_options, "\t" if format == "tsv" else None)
    if format == "arff":
        from bayou.streams.arff import ArffSource

        return ArffSource(reader, read_options)
    if format in ("parquet", "arrow"):
        from bayou.streams.columnar import Batches, ColumnarSource

        return ColumnarSource(Batches(reader, format), read_options)
    if format == "jsonl":
        from bayou.streams.jsonl import JsonLinesSource

        return JsonLinesSource(reader, read_options)
    if format in ("txt", "text", "libsvm"):
        from bayou.streams.lines import lines_source

        return lines_source(reader, read_options, format)
    known = " ".join(("csv tsv text arff parquet arrow jsonl libsvm", *MAIL))
    raise OptionError("unknown format", value=format, remedy=known)
