"""Names of columns, values and classes for other languages: what users wrote is never taken for code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from bayou.errors import UnsupportedError


def identifiers(names: Iterable[str], reserved: Iterable[str] = ()) -> list[str]:
    """A C identifier for each name, all different; other characters than letters and digits become underscores.

    >>> identifiers(["petal length", "petal-length", "int", "\\U0001f600", "1st"], ["int"])
    ['petal_length', 'petal_length_2', 'int_2', 'c', 'c1st']
    """
    used, chosen_names = set(reserved), []
    for name in names:
        plain = re.sub(r"[^0-9a-zA-Z]+", "_", name).strip("_")[:40]
        if not plain or not plain[0].isalpha():
            plain = f"c{plain}"
        candidate, suffix = plain, 2
        while candidate in used:
            candidate, suffix = f"{plain}_{suffix}", suffix + 1
        used.add(candidate)
        chosen_names.append(candidate)
    return chosen_names


def as_text(value: Any) -> str:
    """A class or value as text: strings unchanged, others by `repr`.

    >>> as_text("a"), as_text(True), as_text(2.5)
    ('a', 'True', '2.5')
    """
    return value if isinstance(value, str) else repr(value)


def texts(values: Iterable[Any], where: str) -> list[str]:
    """Values as text; refuses two that would look the same, such as 1 and "1"."""
    all_texts = [as_text(value) for value in values]
    if len(set(all_texts)) < len(all_texts):
        repeated = next(text for text in all_texts if all_texts.count(text) > 1)
        raise UnsupportedError(
            f"cannot be exported: {where} holds {repeated!r} both as text and as something else, which look the same "
            "outside Python; give it one type and learn again"
        )
    return all_texts
