"""Seeds of random cases: a few in every run of the suite, many in `make test-system`."""

from __future__ import annotations

import os
import zlib

LONG = bool(os.environ.get("BAYOU_LONG"))


def seeds(*what: str, most: int = 20) -> range:
    """Seeds of a test that is run for many models: one each, other ones for every model and check; `most` if long.

    >>> len(seeds("NaiveBayes", "check_merge", most=1)), seeds("a") == seeds("a"), seeds("a") == seeds("b")
    (1, True, False)
    """
    first = zlib.crc32("/".join(what).encode()) % 10_000
    return range(first, first + (most if LONG else 1))
