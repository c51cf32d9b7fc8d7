"""From an address to a stream."""

from __future__ import annotations

import os
from pathlib import Path

from bayou.errors import DataError, OptionError
from bayou.streams.brokers.address import Address
from bayou.streams.brokers.decoding import check_format
from bayou.streams.brokers.log import Log
from bayou.streams.brokers.source import MessageSource
from bayou.streams.delimited import delimiter_of, header_names
from bayou.streams.read_options import ReadOptions


def open_address(text: str, format: str | None, read_options: ReadOptions) -> MessageSource:
    """The stream at an address."""
    address = Address.of(text)
    chosen = check_format(format or address.options.get("format") or _format_of(address))
    if address.scheme == "tail":
        return _tail(address, chosen, read_options)
    log = _log(address)
    try:
        names = address.options["columns"].split(",") if "columns" in address.options else None
        return MessageSource(log, address, chosen, read_options, names=names)
    except BaseException:
        log.close()
        raise


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
    # Clients are imported when asked for: each belongs to an extra of its own.
    if address.scheme == "kafka":
        from bayou.streams.brokers.kafka import KafkaLog

        return KafkaLog(address)
    if address.scheme == "nats":
        from bayou.streams.brokers.nats import NatsLog

        return NatsLog(address)
    from bayou.streams.brokers.redis import RedisLog

    return RedisLog(address)


def _tail(address: Address, format: str, read_options: ReadOptions) -> MessageSource:
    from bayou.streams.brokers.tail import TailLog

    if format == "arrow":
        raise OptionError("lines are JSON or CSV", value=format, remedy="format=jsonl or csv")
    folder = os.path.dirname(address.path) or "."
    if address.path != "-" and not os.path.isdir(folder):
        raise DataError(f"there is no folder {folder}", remedy="check the path")
    if address.path == "-" and address.ends:
        raise OptionError("standard input has no end yet", remedy="leave until= away; it ends by itself")
    log = TailLog(address.path, csv=format == "csv", strict=read_options.policy == "strict")
    try:
        if format != "csv":
            return MessageSource(log, address, format, read_options)
        if not log.read_header().strip():
            raise DataError(f"{address.path} is empty", remedy="a stream starts with a header")
        delimiter = delimiter_of(log.header)
        log.delimiter = delimiter.encode()
        names = header_names(log.header, delimiter, read_options)
        return MessageSource(log, address, format, read_options, delimiter=delimiter, names=names)
    except BaseException:
        log.close()
        raise
