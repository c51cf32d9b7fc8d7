"""SQL as text: what differs between databases, and names, strings and numbers that stay what they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bayou.errors import UnsupportedError
from bayou.scorer import Scorer


@dataclass(frozen=True)
class Dialect:
    """What differs from one database to another."""

    name: str
    real: str
    infinity: str
    greatest: str
    least: str
    arrays: Callable[[Sequence[str], str], str] | None  # an element of a list by its number, from 0
    truths: tuple[str, str]


def _duck_array(listed: Sequence[str], at: str) -> str:
    return f"([{', '.join(listed)}])[{at} + 1]"


def _postgres_array(listed: Sequence[str], at: str) -> str:
    return f"(CAST(ARRAY[{', '.join(listed)}] AS double precision[]))[{at} + 1]"


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
    met: dict[str, str] = {}
    for one in (*scorer.inputs["numeric"], *scorer.inputs["nominal"]):
        other = met.setdefault(one.name.lower(), one.name)
        if other != one.name:
            raise UnsupportedError(
                f"cannot be exported to this SQL: columns {other!r} and {one.name!r} differ by capitals alone, which "
                "it does not tell apart; rename one and learn again, or take dialect='postgresql'"
            )


def quoted(name: str) -> str:
    """An identifier: whatever it holds, it stays one.

    >>> quoted('a"; DROP TABLE rows; --')
    '"a""; DROP TABLE rows; --"'
    """
    return '"' + _without_nul(name).replace('"', '""') + '"'


def string(text: str) -> str:
    """A string: whatever it holds, it stays one.

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
    """A number that SQLite reads back as the same bits, which it does not promise for 17 digits: a whole one, scaled.

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
    """Text for a comment: it cannot end the line."""
    return text.replace("\n", " ").replace("\r", " ")
