"""Dates of ARFF files, in the format that their attribute declares as a pattern of Java's SimpleDateFormat."""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa

from bayou.streams import compute as pc

DEFAULT = "yyyy-MM-dd'T'HH:mm:ss"
EPOCH = "1970-01-01T00:00:00"  # the value of a date that a sparse row leaves out
_TOKEN = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']")
_FIELDS = {
    "y": r"\d{4}",
    "M": r"\d\d?",
    "d": r"\d\d?",
    "H": r"\d\d?",
    "m": r"\d\d?",
    "s": r"\d\d?",
    "S": r"\d+",
}
_ZONES = {"Z": r"[+-]\d{4}", "X": r"Z|[+-]\d\d(?::?\d\d)?"}
_LENGTHS = {"y": (4,), "M": (1, 2), "X": (1, 2, 3)}  # MMM is the name of a month


def iso_writer(format: str) -> Callable[[pa.Array], pa.Array] | None:
    """A function that converts text in this format to ISO 8601 (null if it does not match); None if unsupported.

    Examples
    --------
    >>> iso_writer("dd.MM.yyyy HH:mm")(pa.array(["6.11.2026 21:12", "2026"])).to_pylist()
    ['2026-11-06T21:12', None]
    >>> iso_writer("d MMM yy") is None
    True
    """
    letters: list[str] = []
    expression = ""
    for token in _TOKEN.finditer(format):
        letter, text = token[2], token[0]
        if letter is None:
            expression += re.escape((token[1].replace("''", "'") or "'") if token[1] is not None else text)
            continue
        field = _FIELDS.get(letter) or _ZONES.get(letter)
        if field is None or letter in letters or len(text) not in _LENGTHS.get(letter, range(1, 10)):
            return None
        letters.append(letter)
        expression += f"(?P<{letter}>{field})"
    times = "".join(letter for letter in "HmsS" if letter in letters)
    if _TOKEN.sub("", format) or not {*"yMd"} <= {*letters} or times not in ("", "Hm", "Hms", "HmsS"):
        return None
    zone = next((letter for letter in _ZONES if letter in letters), None)

    def to_iso(cells: pa.Array) -> pa.Array:
        fields = pc.extract_regex(pc.ascii_trim(cells, " \t"), f"^{expression}$")

        def part(letter: str, width: int = 2) -> pa.Array:
            return pc.utf8_lpad(fields.field(letter), width, "0")

        text = pc.binary_join_element_wise(part("y", 4), part("M"), part("d"), "-")
        for letter, mark in zip(times, "T::.", strict=False):
            text = pc.binary_join_element_wise(text, part(letter, 3 if letter == "S" else 2), mark)
        text = text if zone is None else pc.binary_join_element_wise(text, fields.field(zone), "")
        return pc.if_else(fields.is_valid(), text, pa.scalar(None, pa.string()))

    return to_iso
