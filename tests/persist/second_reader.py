"""A second reader of model files, from docs/model-file.md alone and with the standard library alone."""

from __future__ import annotations

import hashlib
import json
import struct
from typing import Any

CODES = {"F64": "d", "I64": "q", "U64": "Q", "F32": "f", "I32": "i", "U32": "I", "I16": "h", "U16": "H", "I8": "b",
         "U8": "B", "BOOL": "?"}  # fmt: skip


def read(data: bytes) -> dict[str, Any]:
    """Kind, parameters, columns, classes, vocabularies, and arrays as (shape, flat list)."""
    assert hashlib.sha256(data[:-32]).digest() == data[-32:]
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    metadata = header.pop("__metadata__")
    assert (metadata["format"], metadata["version"]) == ("bayou model", "2")
    document = json.loads(metadata["document"])
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        code = CODES[entry["dtype"]]
        body = data[8 + length + begin : 8 + length + end]
        count = len(body) // struct.calcsize(f"<{code}")
        arrays[name] = (entry["shape"], list(struct.unpack(f"<{count}{code}", body)))
    lists = _lists(arrays)
    out = {"kind": document["kind"], "params": _value(document["params"], lists, arrays)}
    if document["schema"] is None:
        return out
    first = document["schema"]["lists"]
    kinds = arrays["schema.kinds"][1]
    columns = list(
        zip(lists[first], (("numeric", "nominal", "text", "numeric")[k] for k in kinds), strict=True)
    )
    worded = [name for name, kind in columns if kind != "numeric"]
    table = arrays["schema.vocabularies"][1]
    return out | {
        "closed": document["schema"]["closed"],
        "position": document["position"],
        "columns": columns,
        "classes": lists[first + 1],
        "vocabularies": {name: lists[first + 2 + i] for i, name in enumerate(worded)},
        "declared": dict(zip(["", *worded], table[::2], strict=True)),
        "other": dict(zip(["", *worded], table[1::2], strict=True)),
        "arrays": {name[6:]: array for name, array in arrays.items() if name.startswith("state.")},
    }


def _lists(arrays: dict[str, Any]) -> list[list[Any]]:
    blob, ends, types, stops = (arrays[f"labels.{name}"][1] for name in ("bytes", "ends", "types", "lists"))
    text, labels, begin = bytes(blob), [], 0
    for end, kind in zip(ends, types, strict=True):
        piece = text[begin:end]
        labels.append(
            [lambda b: b.decode("utf-8", "surrogatepass"), bytes, int, lambda b: struct.unpack("<d", b)[0],
             lambda b: b == b"\1"][kind](piece)
        )  # fmt: skip
        begin = end
    return [labels[a:b] for a, b in zip([0, *stops], stops, strict=False)]


def _value(value: Any, lists: list[list[Any]], arrays: dict[str, Any]) -> Any:
    """Parameters with recipes and models as (id, parameters)."""
    if not isinstance(value, dict):
        return value
    inner = {
        "float": float,
        "bytes": bytes.fromhex,
        "list": lambda v: [_value(x, lists, arrays) for x in v],
        "tuple": lambda v: tuple(_value(x, lists, arrays) for x in v),
        "map": lambda v: {_value(a, lists, arrays): _value(b, lists, arrays) for a, b in v},
        "labels": lambda v: {"list": list, "tuple": tuple, "str": lambda x: x[0]}[value["as"]](lists[v]),
        "array": lambda v: arrays[f"param.{v}"],
    }
    for key, decode in inner.items():
        if key in value and len(value) <= 2 and (len(value) == 1 or key == "labels"):
            return decode(value[key])
    if set(value) in ({"recipe", "params"}, {"model", "params"}):
        kind = value.get("recipe", value.get("model"))
        return kind, {name: _value(v, lists, arrays) for name, v in value["params"].items()}
    return {name: _value(v, lists, arrays) for name, v in value.items()}
