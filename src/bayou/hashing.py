"""Stable hashes: the same in every process, on every machine and in every version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import blake2b, sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.schema import Label, label_key


def hash_label(label: Label, seed: int = 0) -> int:
    """64-bit hash of a label or nominal value.

    >>> hash_label("mon"), hash_label(1) == hash_label(1.0), hash_label(True) == hash_label(1)
    (12615774238765370302, True, False)
    """
    h = _seeded(seed).copy()
    h.update(_bytes(label))
    return int.from_bytes(h.digest())


def hash_keys(labels: Sequence[Label]) -> NDArray[np.int64]:
    """The hashes of nominal values as keys, int64 and never 0, which stands for a missing value.

    >>> hash_keys(["mon"])
    array([-5830969834944181314])
    """
    start = _seeded(0)
    digests = []
    for label in labels:
        h = start.copy()
        h.update(_bytes(label))
        digests.append(h.digest())
    keys = np.frombuffer(b"".join(digests), dtype=">u8").astype(np.uint64).view(np.int64)
    keys[keys == 0] = 1
    return keys


def mixed_bits(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64: a bijection of 64 bits in which every bit depends on all."""
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return mixed


def label_text(label: Label) -> str:
    """The text of a value; equal values have equal texts.

    >>> label_text(1.0), label_text(1), label_text(True), label_text("1")
    ('1', '1', 'True', '1')
    """
    if isinstance(label, bytes):
        return label.decode(errors="replace")
    if label_key(label)[0] != 1:
        return str(label)
    number = _number(label)
    return f"{number:.0f}" if abs(number) < 1e15 and number == int(number) else str(number)


def _bytes(label: Label) -> bytes:
    """The bytes that identify a label: the rank of its type, and its text."""
    if type(label) is str:
        return b"\x02" + label.encode("utf-8", "surrogatepass")
    rank, _ = label_key(label)
    if isinstance(label, bytes):
        return b"\x03" + label
    return bytes([rank]) + str(_number(label) if rank == 1 else label).encode("utf-8", "surrogatepass")


def _number(label: Label) -> float | int:
    """The number as a float; as an integer if it is too large for one."""
    try:
        return float(label)
    except OverflowError:
        return int(label)


@cache
def _seeded(seed: int) -> Any:
    return blake2b(digest_size=8, key=seed.to_bytes(8, "little"))


def digest(arrays: Mapping[str, NDArray[Any]], text: Iterable[str] = ()) -> str:
    """Hex digest of named arrays (dtype, shape and bytes, in name order) and of lines of text."""
    h = sha256()
    for name in sorted(arrays):
        a = np.ascontiguousarray(arrays[name])
        h.update(f"{name}|{a.dtype.str}|{a.shape}|".encode())
        h.update(a.tobytes())
    for line in text:
        h.update(line.encode() + b"\n")
    return h.hexdigest()
