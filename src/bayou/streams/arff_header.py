"""The header of an ARFF file: the attributes it declares."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bayou.errors import DataError
from bayou.streams import limits
from bayou.streams.arff_cells import QUOTED, split_cells, unquoted, without_comment
from bayou.streams.arff_dates import DEFAULT, iso_writer
from bayou.streams.delimited import skip_mark
from bayou.streams.records import Records
from bayou.streams.source import ColumnType

_NAME = re.compile(rf"""[ \t]*+(?:{QUOTED}|([^\s{{'"][^\s{{]*+))[ \t]*+""")
_NUMERIC = ("numeric", "real", "integer")


@dataclass(frozen=True)
class ArffAttribute:
    """A declared attribute; `kind` is None for a type that can only be ignored. Dates have a format."""

    name: str
    kind: ColumnType | None
    declared: str
    format: str = ""


def read_header(records: Records) -> list[ArffAttribute]:
    """The attributes in order; `records` is then at the first data line."""
    skip_mark(records, records.peek())
    attributes: list[ArffAttribute] = []
    while chunk := records.peek():
        used = 0
        for line in chunk.splitlines(keepends=True):
            used += len(line)
            text = line.decode("utf-8", "surrogateescape").strip()
            keyword = text[:10].lower()
            if keyword.startswith("@data") and (len(text) == 5 or text[5] in " \t%"):
                records.skip(used)
                if not attributes:
                    raise DataError("no @attribute comes before @data", remedy="is this an ARFF file?")
                return attributes
            if keyword == "@attribute" and text[10:11] in " \t'\"":
                attributes.append(parse_attribute(text))
                if len(attributes) > limits.COLUMNS:
                    raise DataError(f"more than {limits.COLUMNS:,} attributes", remedy="leave some out")
            elif text and not text.startswith("%") and not keyword.startswith("@relation"):
                raise DataError(
                    "an ARFF header holds @relation, @attribute and @data",
                    value=text[:60].encode("utf-8", "replace").decode(),
                    remedy="is this another format?",
                )
        records.skip(used)
    raise DataError("the file ends before @data", remedy="check that the file is complete")


def parse_attribute(line: str) -> ArffAttribute:
    """The attribute of one header line.

    Examples
    --------
    >>> parse_attribute("@ATTRIBUTE 'a b' { x, '?', \\"it's\\" }").kind.values
    ('x', '?', "it's")
    >>> parse_attribute("@attribute day Integer").kind.kind
    'numeric'
    >>> parse_attribute("@attribute day date 'dd.MM.yyyy'").format
    'dd.MM.yyyy'
    """
    try:
        line.encode()
    except UnicodeEncodeError as error:
        shown = line.encode("utf-8", "replace").decode()
        raise DataError("an attribute is not UTF-8 text", value=shown, remedy="save it as UTF-8") from error
    match = _NAME.match(line, len("@attribute"))
    if match is None:
        raise DataError("an attribute without a name", value=line, remedy="@attribute name type")
    name = unquoted(match[1], match[2], match[3])
    declared = without_comment(line[match.end() :]).strip()
    if declared.startswith("{"):
        if not declared.endswith("}"):
            raise DataError("a list of values without its closing brace", column=name, value=declared)
        cells = split_cells(declared[1:-1])
        if cells is None:
            raise DataError("a quote is left open in the list of values", column=name, value=declared)
        values = tuple(dict.fromkeys(cell for cell, quoted in cells if cell or quoted))
        if not values:
            raise DataError("an empty list of values", column=name, remedy="declare at least one value")
        return ArffAttribute(name, ColumnType("nominal", values), "nominal")
    kind = declared.lower().split(None, 1)[0] if declared else ""
    if kind in _NUMERIC:
        return ArffAttribute(name, ColumnType("numeric"), kind)
    if kind == "string":
        return ArffAttribute(name, ColumnType("text"), kind)
    if kind == "date":
        format = declared[len("date") :].strip()
        quoted = split_cells(format)
        format = quoted[0][0] if quoted and len(quoted) == 1 and quoted[0][0] else format or DEFAULT
        known = iso_writer(format) is not None
        return ArffAttribute(
            name, ColumnType("date") if known else None, declared if not known else kind, format
        )
    if kind == "relational":
        raise DataError("relational attributes are not supported", column=name, remedy="flatten the file")
    raise DataError(
        "unknown attribute type",
        column=name,
        value=declared,
        remedy="numeric, string, date or a list {a,b,c}",
    )
