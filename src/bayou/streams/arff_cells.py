"""Cells of ARFF lines: quotes of both kinds, backslash escapes, comments, sparse pairs.

The expressions never backtrack, so that the time for a hostile line is linear in its length.
"""

from __future__ import annotations

import re

QUOTED = r"""'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)\""""
_CELL = re.compile(rf"""[ \t]*+(?:(?:{QUOTED})[ \t]*+|([^,'"][^,]*+)?+)(,|$)""", re.DOTALL)
_BLANK = re.compile(rf"""[ \t,]*+(?:(?:{QUOTED})|([^,'" \t][^, \t]*+))(?=[ \t,]|$)[ \t,]*+""", re.DOTALL)
_PAIR = re.compile(rf"""[ \t]*+(\d{{1,7}})[ \t]++(?:(?:{QUOTED})[ \t]*+|([^,'"][^,]*+))(,|$)""", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r"}
_COMMENT = re.compile(r"""(?:'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+"|(?<![ \t])%|[^%])*+""", re.DOTALL)


def split_cells(text: str) -> list[tuple[str, bool]] | None:
    """Cells between commas, each with whether it was quoted; None if a quote is left open.

    Examples
    --------
    >>> split_cells(r"1, '?' ,?, 'it\\'s'")
    [('1', False), ('?', True), ('?', False), ("it's", True)]
    """
    cells: list[tuple[str, bool]] = []
    place = 0
    while True:
        match = _CELL.match(text, place)
        if match is None:
            return None
        quoted = match[1] is not None or match[2] is not None
        cells.append((unquoted(match[1], match[2], match[3]), quoted))
        place = match.end()
        if not match[4]:
            return cells


def unquoted(single: str | None, double: str | None, bare: str | None) -> str:
    """Text of a cell, its escapes resolved if it was quoted."""
    inside = single if single is not None else double
    if inside is None:
        return (bare or "").strip(" \t")
    return _ESCAPE.sub(lambda m: _LETTERS.get(m[1], m[1]), inside) if "\\" in inside else inside


def without_comment(text: str) -> str:
    """The text up to a % that is outside quotes and follows a blank (so 50% is a value).

    Examples
    --------
    >>> without_comment("1,50%,'a % b' % remark")
    "1,50%,'a % b' "
    """
    if "%" not in text:
        return text
    match = _COMMENT.match(text)
    return text[: match.end()] if match is not None else text


def split_blanks(text: str) -> list[tuple[str, bool]] | None:
    """Cells between blanks, tabs or commas, each with whether it was quoted; None if a quote is left open.

    Examples
    --------
    >>> split_blanks("1 2,  'a b'")
    [('1', False), ('2', False), ('a b', True)]
    """
    cells: list[tuple[str, bool]] = []
    place = 0
    while place < len(text):
        match = _BLANK.match(text, place)
        if match is None:
            return None
        cells.append((unquoted(match[1], match[2], match[3]), match[3] is None))
        place = match.end()
    return cells


def dense_row(text: str, width: int) -> list[str | None] | str:
    """The cells of a row, None for a bare ?; or what is wrong with the row.

    Examples
    --------
    >>> dense_row("1, ?, '?'", 3), dense_row("1\\t2\\tx", 3), dense_row("1,2", 3)
    (['1', None, '?'], ['1', '2', 'x'], 'short row')
    """
    cells = split_cells(text)
    if cells is None or len(cells) != width:
        blanks = split_blanks(text)
        cells = blanks if blanks is not None and len(blanks) == width else cells
    if cells is None:
        return "a quote is left open"
    if len(cells) != width:
        return "short row" if len(cells) < width else "long row"
    return [cell if quoted or cell != "?" else None for cell, quoted in cells]


def sparse_row(text: str, width: int) -> dict[int, str | None] | str:
    """Cells of a sparse row by attribute number, None where missing; or what is wrong with the row.

    Examples
    --------
    >>> sparse_row("{0 2.5, 3 'a b',4 ?}", 5), sparse_row("{7 1}", 5)
    ({0: '2.5', 3: 'a b', 4: None}, 'a sparse row names an attribute that is not declared')
    """
    if not text.endswith("}"):
        return "a sparse row without its closing brace"
    body = text[1:-1].strip(" \t")
    row: dict[int, str | None] = {}
    place, more = 0, bool(body)
    while more:
        match = _PAIR.match(body, place)
        if match is None:
            return "a sparse row holds pairs of an attribute's number and a value"
        number, bare = int(match[1]), match[4]
        if number >= width:
            return "a sparse row names an attribute that is not declared"
        if number in row:
            return "a sparse row repeats an attribute"
        cell = unquoted(match[2], match[3], bare)
        row[number] = None if bare is not None and cell == "?" else cell
        place, more = match.end(), bool(match[5])
    return row
