"""Names of columns, values and classes as other languages may hold them: nothing that users wrote is ever code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from bayou.errors import UnsupportedError


def identifiers(names: Iterable[str], reserved: Iterable[str] = ()) -> list[str]:
    """A C identifier for each name, all different: what is no letter or digit becomes an underscore.

    >>> identifiers(["petal length", "petal-length", "int", "\\U0001f600", "1st"], ["int"])
    ['petal_length', 'petal_length_2', 'int_2', 'c', 'c1st']
    """
    taken, found = set(reserved), []
    for name in names:
        plain = re.sub(r"[^0-9a-zA-Z]+", "_", name).strip("_")[:40]
        if not plain or not plain[0].isalpha():
            plain = f"c{plain}"
        chosen, again = plain, 2
        while chosen in taken:
            chosen, again = f"{plain}_{again}", again + 1
        taken.add(chosen)
        found.append(chosen)
    return found


def as_text(value: Any) -> str:
    """A class or value as text: strings as they are, others as Python writes them.

    >>> as_text("a"), as_text(True), as_text(2.5)
    ('a', 'True', '2.5')
    """
    return value if isinstance(value, str) else repr(value)


def texts(values: Iterable[Any], where: str) -> list[str]:
    """Values as text; refuses two that would look the same, such as 1 and "1"."""
    found = [as_text(value) for value in values]
    if len(set(found)) < len(found):
        twice = next(text for text in found if found.count(text) > 1)
        raise UnsupportedError(
            f"cannot be exported: {where} holds {twice!r} both as text and as something else, which look the same "
            "outside Python; give it one type and learn again"
        )
    return found
