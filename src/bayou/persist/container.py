"""The container: safetensors (a JSON header and arrays) with its own strict checks and a checksum at the end.

Everything is checked from the header, in Python integers, before an array is made; the arrays of a file that
passes are views of its bytes, so reading allocates no more than the file itself and a header of 1 MiB.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.errors import ModelFileError

MAX_HEADER = 1 << 20
MAX_ARRAYS = 4_096
MAX_AXES = 8
MAX_LENGTH = 1 << 48  # of one axis; keeps every product below 2^63 once it equals a number of bytes
VERSION = 2  # 1 was never released
DIGEST = "sha256"
DIGEST_BYTES = 32
DTYPES = {
    "F64": "<f8", "I64": "<i8", "U64": "<u8", "F32": "<f4", "I32": "<i4", "U32": "<u4",
    "I16": "<i2", "U16": "<u2", "I8": "|i1", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip
_CODES = {text: code for code, text in DTYPES.items()}
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,199}\Z")

Arrays = Mapping[str, NDArray[Any]]
Buffer = bytes | memoryview


@dataclass(frozen=True)
class Content:
    """The content of a container: a document (strict JSON) and named arrays."""

    document: Mapping[str, Any]
    arrays: Arrays


def pack(format: str, document: Mapping[str, Any], arrays: Arrays) -> list[Buffer]:
    """The file as buffers to be written one after the other; the same content gives the same bytes.

    Arrays lie in order of falling item size, then name, so that each is aligned; the last is the SHA-256 of
    all bytes before it.
    """
    stored = {name: _little_endian(name, array) for name, array in arrays.items()}
    order = sorted(stored, key=lambda name: (-stored[name].dtype.itemsize, name))
    entries: dict[str, Any] = {
        "__metadata__": {"format": format, "version": str(VERSION), "document": strict_dumps(document)}
    }
    offset = 0
    for name in order:
        a = stored[name]
        entries[name] = _entry(_CODES[a.dtype.str], list(a.shape), offset, offset + a.nbytes)
        offset += a.nbytes
    entries[DIGEST] = _entry("U8", [DIGEST_BYTES], offset, offset + DIGEST_BYTES)
    header = strict_dumps(entries).encode()
    header += b" " * (-len(header) % 8)
    if len(header) > MAX_HEADER:
        raise ModelFileError(
            f"the header would take {len(header):,} bytes, {MAX_HEADER:,} are allowed; "
            "are there very long parameters?"
        )
    if len(entries) - 1 > MAX_ARRAYS:
        raise ModelFileError(f"the model has {len(entries) - 2:,} arrays; a file holds {MAX_ARRAYS - 1:,}")
    buffers: list[Buffer] = [len(header).to_bytes(8, "little"), header]
    buffers += [stored[name].reshape(-1).view(np.uint8).data for name in order if stored[name].size]
    checksum = hashlib.sha256()
    for buffer in buffers:
        checksum.update(buffer)
    return [*buffers, checksum.digest()]


def unpack(data: Buffer, format: str) -> Content:
    """Check and parse a file; raises ModelFileError if anything in it is not valid."""
    size = len(data)
    if size < 8 + 2 + DIGEST_BYTES:
        raise ModelFileError(f"not a {format}: only {size} bytes")
    length = int.from_bytes(data[:8], "little")
    if not 2 <= length <= min(MAX_HEADER, size - 8 - DIGEST_BYTES):
        raise ModelFileError(
            f"not a {format}: its header claims {length:,} bytes, {MAX_HEADER:,} are allowed"
            f" in a file of {size:,}"
        )
    body = memoryview(data)[8 + length :]
    if hashlib.sha256(memoryview(data)[: size - DIGEST_BYTES]).digest() != bytes(data[-DIGEST_BYTES:]):
        _explain_foreign(bytes(data[8 : 8 + length]), format)
        raise ModelFileError(f"the {format} is damaged: its checksum does not agree with its content")
    header = strict_loads(bytes(data[8 : 8 + length]), "header")
    document = _document(header, format)
    entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
    if len(entries) > MAX_ARRAYS:
        raise ModelFileError(f"{len(entries):,} arrays; at most {MAX_ARRAYS:,} are allowed")
    return Content(document, _arrays(entries, body))


def strict_dumps(value: object) -> str:
    """A value as JSON without NaN, infinities or spaces; ASCII only."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def strict_loads(text: bytes | str, what: str) -> Any:
    """Parse JSON; refuses duplicate keys, NaN, infinities, and too deep nesting. `what` names the text in errors."""
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        return json.loads(
            text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite, parse_int=_int
        )
    except ModelFileError:
        raise
    except (ValueError, RecursionError) as problem:
        raise ModelFileError(f"the {what} is not strict JSON: {str(problem)[:200]}") from problem


def _entry(dtype: str, shape: list[int], begin: int, end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def _little_endian(name: str, array: NDArray[Any]) -> NDArray[Any]:
    a = np.asarray(array, order="C")
    a = a.astype(a.dtype.newbyteorder("<"), copy=False)
    text = a.dtype.str.replace("=", "<")
    if text not in _CODES or not _NAME.match(name) or name == DIGEST or a.ndim > MAX_AXES:
        raise ModelFileError(f"array {name!r} of type {a.dtype} and {a.ndim} axes cannot be stored")
    return a


def _document(header: object, format: str) -> Mapping[str, Any]:
    metadata = header.get("__metadata__") if isinstance(header, dict) else None
    if not isinstance(metadata, dict) or set(metadata) != {"format", "version", "document"}:
        raise ModelFileError(f"not a {format}: the header lacks its format, version and document")
    file_format, version, document = metadata["format"], metadata["version"], metadata["document"]
    if file_format != format:
        raise ModelFileError(f"this is a {_short(file_format)}, not a {format}")
    if not isinstance(version, str) or not re.fullmatch(r"[1-9][0-9]{0,5}", version):
        raise ModelFileError(f"not a version number: {_short(version)}")
    if int(version) > VERSION:
        raise TooNewError(
            f"the {format} has version {version} and this bayou reads up to {VERSION}; install a newer bayou"
        )
    if int(version) < VERSION:
        raise ModelFileError(
            f"the {format} has version {version}, which this bayou no longer reads (it reads {VERSION}); "
            "learn the model again, or load it with the bayou that wrote it"
        )
    if not isinstance(document, str):
        raise ModelFileError("the document is not a string")
    parsed = strict_loads(document, "document")
    if not isinstance(parsed, dict):
        raise ModelFileError("the document is not an object")
    return parsed


class TooNewError(ModelFileError):
    """A valid file of a later version, which this one cannot read."""


def _arrays(entries: Mapping[str, Any], body: memoryview) -> Arrays:
    """The arrays as views of the body; every byte of it must belong to exactly one, and the checksum come last."""
    spans = sorted((_span(name, entry), name) for name, entry in entries.items())
    offset = 0
    for (begin, end, _, _), name in spans:
        if begin != offset:
            raise ModelFileError(
                f"array {name!r} begins at byte {begin}, not at {offset}: a gap or an overlap"
            )
        offset = end
    if offset != len(body):
        raise ModelFileError(f"the arrays take {offset:,} bytes and the file has {len(body):,} for them")
    if DIGEST not in entries or spans[-1][1] != DIGEST or entries[DIGEST]["shape"] != [DIGEST_BYTES]:
        raise ModelFileError("the last array must be the checksum")
    arrays = {}
    for (begin, end, dtype, shape), name in spans[:-1]:
        array = np.frombuffer(body[begin:end], dtype=dtype).reshape(shape)
        if dtype == "|b1" and array.size and array.view(np.uint8).max() > 1:
            raise ModelFileError(f"array {name!r} of truth values holds other bytes than 0 and 1")
        native = array if sys.byteorder == "little" else array.astype(array.dtype.newbyteorder("="))
        arrays[name] = native
    return arrays


def _span(name: str, entry: object) -> tuple[int, int, str, tuple[int, ...]]:
    if (
        not _NAME.match(name)
        or not isinstance(entry, dict)
        or set(entry) != {"dtype", "shape", "data_offsets"}
    ):
        raise ModelFileError(f"array {_short(name)} is not described by a dtype, a shape and two offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ModelFileError(f"array {name!r} is of unknown type {_short(dtype)}")
    well_formed = isinstance(shape, list) and isinstance(offsets, list) and len(offsets) == 2
    if not well_formed or len(shape) > MAX_AXES or not all(_is_length(n) for n in [*shape, *offsets]):
        raise ModelFileError(f"array {name!r} has an impossible shape or place")
    text = DTYPES[dtype]
    if math.prod(shape) * np.dtype(text).itemsize != offsets[1] - offsets[0]:
        raise ModelFileError(f"array {name!r} of shape {shape} does not take {offsets[1] - offsets[0]} bytes")
    return offsets[0], offsets[1], text, tuple(shape)


def _is_length(n: object) -> bool:
    return type(n) is int and 0 <= n < MAX_LENGTH


def _explain_foreign(header: bytes, format: str) -> None:
    """Raise an error that says so if the file is of another format rather than damaged."""
    if not header.startswith(b'{"__metadata__":{"format":"'):
        raise ModelFileError(f"not a {format}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ModelFileError("a key comes twice")
    return out


def _no_constant(text: str) -> float:
    raise ModelFileError(f"{text} is not a number")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ModelFileError(f"a number is too large: {_short(text)}")
    return value


def _int(text: str) -> int:
    if len(text) > 400:
        raise ModelFileError("a number has too many digits")
    return int(text)


def _short(value: object) -> str:
    text = repr(value) if not isinstance(value, str) or len(value) <= 100 else repr(value[:100])
    return text if len(text) <= 60 else text[:57] + "..."
