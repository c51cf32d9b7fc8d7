"""Opening of a stream of messages by its address."""

from __future__ import annotations

import os
import re
from pathlib import Path

from bayou.errors import DataError, OptionError
from bayou.streams.brokers.address import Address
from bayou.streams.brokers.decoding import check_format
from bayou.streams.brokers.joined import JoinedSource, JoinOptions
from bayou.streams.brokers.log import Log
from bayou.streams.brokers.side import OpenedLog
from bayou.streams.brokers.source import MessageSource
from bayou.streams.delimited import delimiter_of, header_names
from bayou.streams.read_options import ReadOptions

_UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def open_address(text: str, format: str | None, read_options: ReadOptions) -> MessageSource:
    """Open the stream at an address."""
    opened = _opened(text, format, read_options)
    try:
        return MessageSource(
            opened.log, opened.address, opened.format, read_options,
            delimiter=opened.delimiter, names=opened.names,
        )  # fmt: skip
    except BaseException:
        opened.log.close()
        raise


def open_joined(
    records: str, labels: str, format: str | None, read_options: ReadOptions, options: JoinOptions
) -> JoinedSource:
    """Open the records at one address, joined with the labels at another, which may be given by a topic alone."""
    labels = label_address(records, labels)
    first = _opened(records, format, read_options)
    try:
        second = _opened(labels, None, ReadOptions(policy=read_options.policy))
    except BaseException:
        first.log.close()
        raise
    try:
        return JoinedSource(first, second, options, read_options)
    except BaseException:
        first.log.close()
        second.log.close()
        raise


def label_address(records: str, labels: str) -> str:
    """The address of labels, which are given by an address or by a topic of the records' broker.

    >>> label_address("kafka://host/payments?until=end&partitions=0", "frauds")
    'kafka://host/frauds?until=end'
    """
    if "://" in labels:
        return labels
    address = Address.of(records)
    if address.scheme == "tail":
        raise OptionError(
            "files have no topics", value=labels, remedy="give a whole address: tail://labels.csv"
        )
    options = "&".join(
        f"{k}={v}" for k, v in address.options.items() if k in ("until", "config", "group", "db")
    )
    return f"{records.partition('://')[0]}://{records.partition('://')[2].partition('/')[0]}/{labels}" + (
        f"?{options}" if options else ""
    )


def duration(text: str | float) -> int:
    """A length of time in microseconds, from seconds or text such as 90s, 15min, 1h, 2d.

    >>> duration("1h"), duration(2), duration("250ms")
    (3600000000, 2000000, 250000)
    """
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*(ms|s|min|h|d|)\s*", str(text))
    microseconds = round(float(match[1]) * _UNITS[match[2] or "s"] * 1e6) if match is not None else -1
    if not 0 <= microseconds < 2**60:
        raise OptionError("not a length of time", value=text, remedy="such as 90s, 15min, 1h or 2d")
    return microseconds


def _opened(text: str, format: str | None, read_options: ReadOptions) -> OpenedLog:
    address = Address.of(text)
    chosen = check_format(format or address.options.get("format") or _format_of(address))
    if address.scheme == "tail":
        return _tail(address, chosen, read_options)
    names = address.options["columns"].split(",") if "columns" in address.options else None
    return OpenedLog(_log(address), address, chosen, names=names)


def _format_of(address: Address) -> str:
    if address.scheme != "tail":
        return "json"
    suffix = Path(address.path).suffix.lower()
    if suffix in (".csv", ".jsonl", ".ndjson"):
        return suffix[1:]
    raise OptionError(
        f"cannot tell the format of {address.path}", remedy="end it in .csv or .jsonl, or say format="
    )


def _log(address: Address) -> Log:
    # Client libraries are imported at first use: each is an optional dependency.
    if address.scheme == "kafka":
        from bayou.streams.brokers.kafka import KafkaLog

        return KafkaLog(address)
    if address.scheme == "nats":
        from bayou.streams.brokers.nats import NatsLog

        return NatsLog(address)
    from bayou.streams.brokers.redis import RedisLog

    return RedisLog(address)


def _tail(address: Address, format: str, read_options: ReadOptions) -> OpenedLog:
    from bayou.streams.brokers.tail import TailLog

    if format == "arrow":
        raise OptionError("lines are JSON or CSV", value=format, remedy="format=jsonl or csv")
    folder = os.path.dirname(address.path) or "."
    if address.path != "-" and not os.path.isdir(folder):
        raise DataError(f"there is no folder {folder}", remedy="check the path")
    if address.path == "-" and address.ends:
        raise OptionError("standard input has no end yet", remedy="leave until= away; it ends by itself")
    log = TailLog(address.path, csv=format == "csv", strict=read_options.policy == "strict")
    if format != "csv":
        return OpenedLog(log, address, format)
    try:
        if not log.read_header().strip():
            raise DataError(f"{address.path} is empty", remedy="a stream starts with a header")
        delimiter = delimiter_of(log.header)
        log.delimiter = delimiter.encode()
        return OpenedLog(log, address, format, delimiter, header_names(log.header, delimiter, read_options))
    except BaseException:
        log.close()
        raise
