"""Hashes that are the same in every process, on every machine, for ever."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b, sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.schema import Label, label_key


def hash_label(label: Label, seed: int = 0) -> int:
    """64-bit hash of a label or nominal value.

    >>> hash_label("mon"), hash_label(1) == hash_label(1.0), hash_label(True) == hash_label(1)
    (2203014018785110903, True, False)
    """
    rank, _ = label_key(label)
    body = label if isinstance(label, bytes) else str(float(label) if rank == 1 else label).encode()
    return int.from_bytes(
        blake2b(bytes([rank]) + body, digest_size=8, key=seed.to_bytes(8, "little")).digest()
    )


def digest(arrays: Mapping[str, NDArray[Any]], text: Iterable[str] = ()) -> str:
    """Hex digest of named arrays (dtype, shape and bytes, in name order) and of some text."""
    h = sha256()
    for name in sorted(arrays):
        a = np.ascontiguousarray(arrays[name])
        h.update(f"{name}|{a.dtype.str}|{a.shape}|".encode())
        h.update(a.tobytes())
    for line in text:
        h.update(line.encode() + b"\n")
    return h.hexdigest()
