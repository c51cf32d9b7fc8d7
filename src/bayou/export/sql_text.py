"""SQL dialects, and the quoting of names, strings and numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bayou.errors import UnsupportedError
from bayou.scorer import Scorer


@dataclass(frozen=True)
class Dialect:
    """The differences between databases: types, functions and literals."""

    name: str
    real: str
    infinity: str
    greatest: str
    least: str
    arrays: Callable[[Sequence[str], str], str] | None  # an element of a list by its index, from 0
    truths: tuple[str, str]


def _duck_array(elements: Sequence[str], at: str) -> str:
    return f"([{', '.join(elements)}])[{at} + 1]"


def _postgres_array(elements: Sequence[str], at: str) -> str:
    return f"(CAST(ARRAY[{', '.join(elements)}] AS double precision[]))[{at} + 1]"


DIALECTS = {
    "duckdb": Dialect(
        "duckdb", "DOUBLE", "CAST('infinity' AS DOUBLE)", "greatest", "least", _duck_array, ("FALSE", "TRUE")
    ),
    "sqlite": Dialect("sqlite", "REAL", "9e999", "max", "min", None, ("0", "1")),
    "postgresql": Dialect(
        "postgresql", "double precision", "CAST('infinity' AS double precision)", "greatest", "least",
        _postgres_array, ("FALSE", "TRUE"),
    ),
}  # fmt: skip


def check_names(scorer: Scorer) -> None:
    """Refuse columns that differ by capitals alone: DuckDB and SQLite would read the same one for both."""
    names: dict[str, str] = {}
    for column in (*scorer.inputs["numeric"], *scorer.inputs["nominal"]):
        other = names.setdefault(column.name.lower(), column.name)
        if other != column.name:
            raise UnsupportedError(
                f"cannot be exported to this SQL: columns {other!r} and {column.name!r} differ by capitals alone, "
                "which it does not tell apart; rename one and learn again, or take dialect='postgresql'"
            )


def quoted(name: str) -> str:
    """A quoted SQL identifier, safe for any text.

    >>> quoted('a"; DROP TABLE rows; --')
    '"a""; DROP TABLE rows; --"'
    """
    return '"' + _without_nul(name).replace('"', '""') + '"'


def string(text: str) -> str:
    """A SQL string literal, safe for any text.

    >>> string("it's")
    "'it''s'"
    """
    return "'" + _without_nul(text).replace("'", "''") + "'"


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise UnsupportedError(
            f"cannot be exported to SQL: {text!r} holds a NUL, which SQL text cannot; replace it and learn again"
        )
    return text


def exact_number(value: float) -> str:
    """A number that SQLite reads back as the same bits: an integer scaled by powers of 2 where it has over 15 digits.

    >>> exact_number(0.5), exact_number(-3.0)
    ('0.5', '(-3.0)')
    """
    short = repr(value)
    if (
        len(short.lstrip("-").replace(".", "").lstrip("0").split("e")[0]) <= 15
        and abs(value) < 1e15
        and "e" not in short
    ):
        return f"({short})" if value < 0 else short
    fraction, power = math.frexp(value)
    whole, power = int(fraction * 2**53), power - 53
    if not -900 <= power <= 900 or value == 0.0:
        return f"({short})"
    factors = []
    while power:
        step = max(-62, min(62, power))
        factors.append(f" * {2**step}.0" if step > 0 else f" / {2**-step}.0")
        power -= step
    return f"({whole}.0{''.join(factors)})"


def comment(text: str) -> str:
    """Text for a comment, without line breaks."""
    return text.replace("\n", " ").replace("\r", " ")
