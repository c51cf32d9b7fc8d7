"""Idempotency keys: which requests were carried out already, so that a repeated one is not carried out twice."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bayou.checks import require
from bayou.serve.errors import ConflictError

MOST = 65_536  # the latest keys, which are remembered
HALF = 16  # bytes of a key's hash, and of its body's


class RecentKeys:
    """The latest keys, each with a hash of the body it came with.

    Examples
    --------
    >>> keys = RecentKeys()
    >>> keys.knows("monday-1", b"rows")
    False
    >>> keys.add("monday-1", b"rows")
    >>> keys.knows("monday-1", b"rows")
    True
    """

    def __init__(self, most: int = MOST) -> None:
        self.most = most
        self._known: dict[bytes, bytes] = {}

    def knows(self, key: str, body: bytes) -> bool:
        """Whether a request with this key was carried out; refuses a key that came with another body."""
        body_hash = self._known.get(_hash(key.encode()))
        if body_hash is not None and body_hash != _hash(body):
            raise ConflictError(f"key {key!r} was used for another body; give every batch a key of its own")
        return body_hash is not None

    def add(self, key: str, body: bytes) -> None:
        """Remember a request that was carried out; the oldest is forgotten where there are too many."""
        self._known[_hash(key.encode())] = _hash(body)
        if len(self._known) > self.most:
            del self._known[next(iter(self._known))]

    def array(self) -> NDArray[np.uint8]:
        """uint8[n, 32] the hashes of keys and bodies, the oldest first."""
        joined = b"".join(key + body for key, body in self._known.items())
        return np.frombuffer(joined, np.uint8).reshape(-1, 2 * HALF)

    def restore(self, array: NDArray[np.uint8]) -> None:
        """Restore the keys from what `array` returned."""
        require(
            array.dtype == np.uint8 and array.ndim == 2 and array.shape[1] == 2 * HALF, "not a list of keys"
        )
        self._known = {row[:HALF]: row[HALF:] for row in map(bytes, array)}

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._known)


def _hash(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()[:HALF]
