"""Cells of flat JSON objects once more, by regular expressions."""

from __future__ import annotations

import re
from collections.abc import Sequence

_STRING = rb'"([^"\\\x00-\x1f]*)"'
_NUMBER = rb"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
_CELL = rb'"([^"]*)"[ \t]*:[ \t]*(?:%b|(null)|%b)' % (_STRING, _NUMBER)
_PLAIN = re.compile(rb"\{[ \t]*(?:%b(?:[ \t]*,[ \t]*%b)*[ \t]*)?\}[ \t]*" % (_CELL, _CELL))
_ONE = re.compile(_CELL)


def cells(
    lines: Sequence[bytes], names: Sequence[bytes], kinds: Sequence[int]
) -> list[dict[bytes, bytes | None]] | None:
    """The cells of every line by name, None for null; None in all if anything is unusual."""
    out = []
    for line in lines:
        if _PLAIN.fullmatch(line) is None:
            return None
        row: dict[bytes, bytes | None] = {}
        for name, string, null, number in _ONE.findall(line):
            if name not in names or name in row:
                return None
            quoted = not null and not number
            kind = kinds[names.index(name)]
            if not null and kind and quoted != (kind == 2):
                return None
            row[name] = None if null else string if quoted else number
        out.append(row)
    return out
