"""Write `src/bayou/text/unicode_data.py`: what the tokenizer has to know about every character of Unicode.

    python tools/unicode_table.py

The table is taken from this Python's own `str.lower`, `str.isspace`, `re` and `unicodedata`, so that it says exactly
what they say; it is stored, so that a model reads text in one way whatever Python it meets later.
"""

from __future__ import annotations

import base64
import re
import sys
import unicodedata
import zlib
from pathlib import Path

import numpy as np

POINTS = sys.maxunicode + 1
WORD, SPACE, CASED, IGNORABLE, SPECIAL = 1, 2, 4, 8, 16
SIGMA, DOTTED = 0x3A3, 0x130
HANGUL = range(0xAC00, 0xD7A4)  # syllables, which come apart by a rule
LONGEST = 18  # characters into which one may come apart
TARGET = Path(__file__).parents[1] / "src" / "bayou" / "text" / "unicode_data.py"


def is_final(text: str) -> bool:
    """Whether the capital sigma at the end of a text is the last letter of its word."""
    return text.lower().endswith("ς")


def lowered(point: int) -> int:
    """The lower-case code point; that of the two special ones depends on more than the character."""
    low = chr(point).lower()
    if point in (SIGMA, DOTTED):
        return point
    if len(low) != 1:
        raise SystemExit(
            f"U+{point:04X} has a lower case of {len(low)} characters: the kernel must learn of it"
        )
    return ord(low)


def flags(point: int) -> int:
    """What the tokenizer asks about a character."""
    char = chr(point)
    found = WORD if re.fullmatch(r"\w", char) else 0
    found |= SPACE if char.isspace() else 0
    cased = is_final(char + "Σ")
    found |= CASED if cased else 0
    found |= IGNORABLE if is_final("a" + char + "Σ") and not cased else 0
    return found | (SPECIAL if point in (SIGMA, DOTTED) else 0)


def without_accents(point: int) -> list[int]:
    """The characters that are left of one when its compatible decomposition loses its accents."""
    parts = unicodedata.normalize("NFKD", chr(point))
    return [ord(char) for char in parts if not unicodedata.combining(char)]


def packed(name: str, array: np.ndarray) -> str:
    """An array as a line of Python: its bytes, as differences, compressed, as printable characters."""
    little = np.diff(array.astype("<i4"), prepend=np.int32(0)).astype("<i4")
    text = base64.b85encode(zlib.compress(little.tobytes(), 9)).decode()
    lines = [f'    b"{text[i : i + 110]}"' for i in range(0, len(text), 110)]
    return "\n".join([f"{name} = (", *lines, ")"])


def main() -> None:
    step = np.array([lowered(p) - p for p in range(POINTS)])
    about = np.array([flags(p) for p in range(POINTS)])
    changes = np.flatnonzero(np.diff(step, prepend=-1 << 20) | np.diff(about, prepend=-1))
    folded = {p: without_accents(p) for p in range(POINTS) if p not in HANGUL}
    folded = {p: parts for p, parts in folded.items() if parts != [p]}
    if max(map(len, folded.values())) > LONGEST:
        raise SystemExit("a character comes apart into more than the kernel makes room for")
    parts = [point for found in folded.values() for point in found]
    arrays = {
        "STARTS": changes,
        "STEPS": step[changes],
        "FLAGS": about[changes],
        "ACCENTED": np.array(list(folded)),
        "PARTS": np.array([len(found) for found in folded.values()]),
        "PLAIN": np.array(parts),
    }
    head = [
        '"""What the tokenizer knows about characters. Written by tools/unicode_table.py: do not edit."""',
        "# fmt: off",
        "",
        f'VERSION = "{unicodedata.unidata_version}"  # of Unicode',
    ]
    TARGET.write_text("\n".join([*head, *(packed(k, v) for k, v in arrays.items())]) + "\n")
    print(f"{TARGET.name}: {len(changes):,} runs, {len(folded):,} accented, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
