"""Short hashes of arrays and of plain values: equal bits, equal hashes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np

DIGITS = 10
NOT_RECORDED = {"seconds", "rows_per_second", "memory_bytes", "model", "protocol", "test"}


def short(content: bytes | str) -> str:
    """The first digits of the SHA-256."""
    return sha256(content.encode() if isinstance(content, str) else content).hexdigest()[:DIGITS]


def array_hash(array: Any) -> str:
    """Of dtype, shape and bytes.

    >>> array_hash(np.zeros(2)) == array_hash(np.zeros((2, 1)))
    False
    """
    a = np.ascontiguousarray(array)
    return short(f"{a.dtype.str}|{np.shape(array)}|".encode() + a.tobytes())


def state_hashes(arrays: Mapping[str, Any]) -> dict[str, str]:
    """The hash of each array by name."""
    return {name: array_hash(array) for name, array in arrays.items()}


def value_hash(value: Any) -> str:
    """Of a plain value, told with all digits; keys of mappings in any order.

    >>> value_hash({"a": 0.1, "b": [1]}) == value_hash({"b": [1], "a": 0.1})
    True
    >>> value_hash(0.1) == value_hash(0.1 + 1e-18), value_hash(0.1) == value_hash(0.1 + 1e-17)
    (True, False)
    """
    return short(json.dumps(_plain(value), sort_keys=True))


def _plain(value: Any) -> Any:
    """Values JSON can tell, without those that measure time or memory, or only word something."""
    if isinstance(value, Mapping):
        return {repr(k): _plain(v) for k, v in value.items() if k not in NOT_RECORDED}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return [value.dtype.str, list(value.shape), _plain(value.ravel().tolist())]
    return value if isinstance(value, float) else repr(value)
