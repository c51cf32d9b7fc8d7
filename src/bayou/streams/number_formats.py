"""Numbers in other formats than 1234.5, such as 1,5 or 12 %: they are warned of, and read as names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bayou.errors import NumberWarning, warn_user
from bayou.streams.read_options import listed

MANY = 20  # different numbers: fewer may well be names of levels
_FORMATTED = re.compile(
    r"[+-]?[$€£¥]? ?[+-]?(?:\d{1,3}(?:[ ,.'’\u00a0\u202f]\d{3})+|\d+)?(?:[.,]\d*)?(?:[eE][+-]?\d+)?"
    r"[ \u00a0\u202f]?[%$€£¥]?",
    re.ASCII,
)


def looks_like_number(text: str) -> bool:
    """Whether a cell is a number: with a decimal comma, thousands apart, percent or a currency, too.

    >>> [looks_like_number(x) for x in ("1,5", "-1.234,50", "12 %", "$3.99", "7", "1e3", "", "a1", "10:30", "1.2.3")]
    [True, True, True, True, True, True, False, False, False, False]
    """
    cell = text.strip(" \t")
    return any(map(str.isdigit, cell)) and _FORMATTED.fullmatch(cell) is not None


def are_numbers(cells: Iterable[str]) -> bool:
    """Whether most of the different cells are numbers in some format, and too many to be names.

    >>> are_numbers(f"{n},5" for n in range(30)), are_numbers(["10 %", "20 %"])
    (True, False)
    """
    different = set(cells)
    numbers = sum(map(looks_like_number, different))
    return numbers > MANY and 2 * numbers > len(different)


def warn_of_number_formats(names: Sequence[str]) -> None:
    """Warn of columns of numbers that are read as names."""
    if not names:
        return
    one = len(names) == 1
    warn_user(
        f"{'column' if one else 'columns'} {listed(names)} look{'s' * one} like numbers, and {'is' if one else 'are'} "
        "read as names: a number that is new tells nothing; write numbers as 1234.5, without a comma, blanks, quotes "
        "or a unit, and leave empty what is missing; nominal=[...] keeps names without this warning",
        NumberWarning,
    )
