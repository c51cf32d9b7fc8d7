"""Addresses of streams of messages: `kafka://host:9092/topic?until=end`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from bayou.errors import DataError, OptionError

SCHEMES = ("kafka", "nats", "redis", "tail")
_COMMON = {
    "format": "json, csv or arrow",
    "columns": "names of the cells of a CSV row, in order",
    "from": "start, end, or an offset",
    "until": "end: stop where the log ended when it was opened",
}
_PER_SCHEME = {
    "kafka": {
        "partitions": "those to read, such as 0,2",
        "group": "whose offsets are committed",
        "balance": "yes: partitions are dealt out among the learners of the group",
        "config": "a file",
    },
    "nats": {"subject": "only messages of this subject", "config": "a file"},
    "redis": {"field": "of an entry that holds the message", "db": "number", "config": "a file"},
    "tail": {},
}
_PORTS = {"kafka": 9092, "nats": 4222, "redis": 6379, "tail": 0}


@dataclass(frozen=True)
class Address:
    """The address of a stream of messages, parsed.

    Examples
    --------
    >>> found = Address.of("kafka://one,two:9093/fraud?until=end")
    >>> found.hosts, found.path, found.ends
    ('one:9092,two:9093', 'fraud', True)
    """

    scheme: str
    hosts: str
    path: str
    options: Mapping[str, str]

    @staticmethod
    def of(text: str) -> Address:
        """Parse an address; raises DataError for an unknown scheme and OptionError for unknown options."""
        scheme, _, rest = text.partition("://")
        if scheme not in SCHEMES:
            raise DataError(
                "streams are files or messages of a broker, not addresses",
                value=text,
                remedy="kafka:// nats:// redis:// tail://; or fetch it first, and pipe it into standard input: -",
            )
        rest, _, query = rest.partition("?") if scheme != "tail" else _tail_query(rest)
        options = dict(parse_qsl(query, keep_blank_values=True))
        known = _COMMON | _PER_SCHEME[scheme]
        for name in options:
            if name not in known:
                offered = "; ".join(f"{name}= {what}" for name, what in known.items())
                raise OptionError(f"{scheme}:// knows no {name}=", remedy=offered)
        if options.get("until", "end") != "end":
            raise OptionError("until= is end, or left away", value=options["until"])
        if options.get("balance", "yes") != "yes":
            raise OptionError("balance= is yes, or left away", value=options["balance"])
        if "balance" in options and ("group" not in options or "partitions" in options):
            raise OptionError(
                "balance=yes deals out all partitions among the learners of a group",
                remedy="balance=yes&group=NAME",
            )
        if scheme == "tail":
            return Address(scheme, "", rest, options)
        hosts, _, path = rest.partition("/")
        if "@" in hosts:
            raise OptionError(
                "an address with a password would be kept in checkpoints",
                remedy="put username and password into a file and name it: ?config=FILE",
            )
        if not hosts or not path or "/" in path:
            what = {"kafka": "TOPIC", "nats": "STREAM", "redis": "KEY"}[scheme]
            raise OptionError(
                "not an address of a broker", value=text, remedy=f"{scheme}://HOST:{_PORTS[scheme]}/{what}"
            )
        with_ports = [h if ":" in h else f"{h}:{_PORTS[scheme]}" for h in hosts.split(",")]
        return Address(scheme, ",".join(with_ports), path, options)

    @property
    def ends(self) -> bool:
        """Whether the stream ends where the log ended when it was opened."""
        return "until" in self.options

    def with_options(self, **changes: str | None) -> str:
        """The address as text with changed options; None removes an option.

        >>> Address.of("kafka://one/fraud?group=g&until=end").with_options(group=None, partitions="3")
        'kafka://one:9092/fraud?until=end&partitions=3'
        """
        options = {name: value for name, value in {**self.options, **changes}.items() if value is not None}
        return self.shown() + "?" * bool(options) + urlencode(options)

    def shown(self) -> str:
        """The address without its options."""
        return f"{self.scheme}://{self.hosts}{'/' * bool(self.hosts)}{self.path}"

    def settings(self) -> dict[str, str]:
        """The settings in the file `config=`: one `name=value` per line, comments after #."""
        if "config" not in self.options:
            return {}
        try:
            with open(self.options["config"], encoding="utf-8") as file:
                lines = [line.strip() for line in file]
        except (OSError, UnicodeDecodeError) as problem:
            raise OptionError(
                f"cannot read {self.options['config']}: {problem}", remedy="check config="
            ) from problem
        pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
        return {name.strip(): value.strip() for name, _, value in pairs}


def _tail_query(rest: str) -> tuple[str, str, str]:
    """Path, mark and query; a pattern may hold question marks, so options begin at the last one before `name=`."""
    path, mark, query = rest.rpartition("?")
    return (path, mark, query) if mark and "=" in query and "/" not in query else (rest, "", "")


def is_endless(text: str) -> bool:
    """Whether this is the address of a stream that is followed without end."""
    return is_address(text) and not Address.of(text).ends


def is_balanced(text: str) -> bool:
    """Whether this is the address of a topic whose partitions are distributed among several learners."""
    return is_address(text) and "balance" in Address.of(text).options


def is_address(text: str) -> bool:
    """Whether this is an address rather than the path of a file."""
    return "://" in text and not os.path.exists(text)


def absolute(text: str) -> str:
    """The address with an absolute path."""
    scheme, mark, rest = text.partition("://")
    if scheme != "tail" or rest.startswith(("/", "-")):
        return text
    return f"{scheme}{mark}{os.path.abspath('.')}/{rest}"
