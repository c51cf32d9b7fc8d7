"""Finding the values (cells) of flat JSON objects in a text, and copying them column by column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.block import Index
from bayou.kernels.jit import kernel, tight_kernel

ABSENT, NULL = -2, -1  # in place of the position where a cell begins
ANY, NUMBER, STRING = 0, 1, 2  # what the cells of a column may be, beside null
_TAB, _LINE_END, _BLANK, _QUOTE, _PLUS, _COMMA, _MINUS, _POINT = 9, 10, 32, 34, 43, 44, 45, 46
_ZERO, _NINE, _COLON, _BACKSLASH, _OPEN, _CLOSE = 48, 57, 58, 92, 123, 125
_N, _U, _L, _LARGE_E, _SMALL_E = 110, 117, 108, 69, 101


@kernel
def find_cells(
    begins: Index,
    ends: Index,
    text: NDArray[np.uint8],
    names: NDArray[np.uint8],
    name_ends: Index,
    kinds: NDArray[np.int8],
) -> bool:
    """Find the cells of n objects, one per line; return False, with an invalid result, if the text needs a full parser.

    Handled are objects with known names, none twice, whose values are numbers, null, and strings without escapes. Names
    contain neither quotes nor backslashes.

    begins, ends : int64[k, n], out; text : uint8[m], in, read-only; names : uint8[l], in; name_ends : int64[k + 1], in;
    kinds : int8[k], in
    """
    columns, rows = begins.shape
    size = len(text)
    at = 0
    for row in range(rows):
        for column in range(columns):
            begins[column, row] = ABSENT
            ends[column, row] = ABSENT
        if at >= size or text[at] != _OPEN:
            return False
        at = _behind_blanks(text, at + 1)
        expected = 0
        first = True
        while True:
            if first and at < size and text[at] == _CLOSE:
                break
            first = False
            if at >= size or text[at] != _QUOTE:
                return False
            at += 1
            begin = at
            while at < size and text[at] != _QUOTE:
                at += 1
            column = _named(text, begin, at, names, name_ends, expected)
            if column < 0 or begins[column, row] != ABSENT:
                return False
            expected = column + 1
            at = _behind_blanks(text, at + 1)
            if at >= size or text[at] != _COLON:
                return False
            at = _behind_blanks(text, at + 1)
            if at >= size:
                return False
            kind = kinds[column]
            begin = at
            if text[at] == _QUOTE:
                begin = at + 1
                at = begin
                while at < size and text[at] != _QUOTE:
                    if text[at] == _BACKSLASH or text[at] < _BLANK:
                        return False
                    at += 1
                if kind == NUMBER or at >= size:
                    return False
                begins[column, row] = begin
                ends[column, row] = at
                at += 1
            elif text[at] == _N:
                if at + 4 > size or text[at + 1] != _U or text[at + 2] != _L or text[at + 3] != _L:
                    return False
                begins[column, row] = NULL
                ends[column, row] = NULL
                at += 4
            else:
                at = _behind_number(text, at)
                if kind == STRING or at < 0:
                    return False
                begins[column, row] = begin
                ends[column, row] = at
            at = _behind_blanks(text, at)
            if at >= size:
                return False
            if text[at] == _CLOSE:
                break
            if text[at] != _COMMA:
                return False
            at = _behind_blanks(text, at + 1)
        at = _behind_blanks(text, at + 1)
        if at < size:
            if text[at] != _LINE_END:
                return False
            at += 1
        elif row < rows - 1:
            return False
    return at >= size


@kernel
def copy_cells(
    data: NDArray[np.uint8], offsets: NDArray[np.int32], text: NDArray[np.uint8], begins: Index, ends: Index
) -> None:
    """Write the cells of k columns one after the other, cell i of a column from its offsets[i] to offsets[i + 1].

    data : uint8[b], out; offsets : int32[k, n + 1], out; text : uint8[m], in, read-only; begins, ends : int64[k, n], in
    """
    to = 0
    for column in range(begins.shape[0]):
        offsets[column, 0] = to
        for row in range(begins.shape[1]):
            begin, end = begins[column, row], ends[column, row]
            for at in range(begin, end):
                data[to + at - begin] = text[at]
            to += end - begin
            offsets[column, row + 1] = to


@tight_kernel
def _behind_blanks(text: NDArray[np.uint8], at: int) -> int:
    """The position of the first byte from `at` on that is no blank.

    text : uint8[m], in
    """
    while at < len(text) and (text[at] == _BLANK or text[at] == _TAB):
        at += 1
    return at


@tight_kernel
def _behind_digits(text: NDArray[np.uint8], at: int) -> int:
    """The position of the first byte from `at` on that is no digit.

    text : uint8[m], in
    """
    while at < len(text) and _ZERO <= text[at] <= _NINE:
        at += 1
    return at


@tight_kernel
def _named(
    text: NDArray[np.uint8], begin: int, end: int, names: NDArray[np.uint8], name_ends: Index, expected: int
) -> int:
    """The column with the name text[begin:end], -1 if there is none; the search starts at the column `expected`.

    text : uint8[m], in; names : uint8[l], in; name_ends : int64[k + 1], in
    """
    columns = len(name_ends) - 1
    for i in range(columns):
        column = expected + i
        if column >= columns:
            column -= columns
        start = name_ends[column]
        if name_ends[column + 1] - start != end - begin:
            continue
        same = True
        for j in range(end - begin):
            if names[start + j] != text[begin + j]:
                same = False
                break
        if same:
            return column
    return -1


@tight_kernel
def _behind_number(text: NDArray[np.uint8], at: int) -> int:
    """The end of the JSON number that begins at `at`; -1 if there is none.

    text : uint8[m], in
    """
    size = len(text)
    if at < size and text[at] == _MINUS:
        at += 1
    if at < size and text[at] == _ZERO:
        at += 1
    else:
        begin = at
        at = _behind_digits(text, at)
        if at == begin:
            return -1
    if at < size and text[at] == _POINT:
        begin = at + 1
        at = _behind_digits(text, begin)
        if at == begin:
            return -1
    if at < size and (text[at] == _LARGE_E or text[at] == _SMALL_E):
        at += 1
        if at < size and (text[at] == _PLUS or text[at] == _MINUS):
            at += 1
        begin = at
        at = _behind_digits(text, at)
        if at == begin:
            return -1
    return at
