"""The Open Inference Protocol, version 2: metadata and `infer`, with JSON and binary tensors.

An input is a column: a tensor of shape [n] or [n, 1] under the column's name. Outputs are `prediction` [n] and
`probabilities` [n, K]. The version of a model is the digest of the snapshot that answers.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.errors import DataError, UnsupportedError
from bayou.schema import Kind, Label
from bayou.serve.answers import plain
from bayou.serve.bodies import parse_json
from bayou.serve.errors import TooLargeError
from bayou.serve.predicting import Predictions
from bayou.serve.snapshot import Published

TYPES = {
    "BOOL": "?", "UINT8": "u1", "UINT16": "<u2", "UINT32": "<u4", "UINT64": "<u8", "INT8": "i1", "INT16": "<i2",
    "INT32": "<i4", "INT64": "<i8", "FP16": "<f2", "FP32": "<f4", "FP64": "<f8",
}  # fmt: skip
HEADER = "inference-header-content-length"
OUTPUTS = ("prediction", "probabilities")
PLATFORM = "bayou"
MOST_COLUMNS = 10_000  # of a matrix, which names none of them


def metadata(name: str, published: Published) -> dict[str, Any]:
    """The inputs and outputs of a model, as the protocol describes them."""
    model = published.model
    schema = model.schema_ if model.started else None
    parts = {part for name_ in (schema.dates if schema else ()) for part in _parts(name_)}
    inputs = [
        {"name": column, "datatype": "FP64" if kind is Kind.NUMERIC else "BYTES", "shape": [-1]}
        for column, (kind, _) in (schema.place.items() if schema else ())
        if column not in parts
    ]
    inputs += [
        {"name": column, "datatype": "BYTES", "shape": [-1]} for column in (schema.dates if schema else ())
    ]
    classes = model.labels() if model.started else []
    return {
        "name": name,
        "versions": [published.digest],
        "platform": PLATFORM,
        "inputs": inputs,
        "outputs": [
            {"name": "prediction", "datatype": _label_type(classes), "shape": [-1]},
            {"name": "probabilities", "datatype": "FP64", "shape": [-1, len(classes)]},
        ],
        "parameters": {"classes": [plain(label) for label in classes], "rows": published.rows},
    }


def _parts(name: str) -> list[str]:
    from bayou.encoding.dates import parts_of

    return list(parts_of(name))


class InferRequest:
    """A request of the protocol, read and checked.

    Parameters
    ----------
    body
        The JSON document, followed by binary tensors if `header_length` says where it ends.
    header_length
        Bytes of the JSON document; None: all of the body.
    most
        Rows allowed.

    Examples
    --------
    >>> tensor = {"name": "wind", "datatype": "FP64", "shape": [2], "data": [0.5, 1.5]}
    >>> InferRequest(json.dumps({"id": "7", "inputs": [tensor]}).encode(), None, 10).rows
    {'wind': array([0.5, 1.5])}
    """

    def __init__(self, body: bytes, header_length: int | None, most: int) -> None:
        if header_length is not None and not 0 <= header_length <= len(body):
            raise DataError(f"{HEADER} says {header_length} and the body has {len(body)} bytes")
        self._rest = memoryview(body)[len(body) if header_length is None else header_length :]
        document = parse_json(body if header_length is None else body[:header_length], "request")
        if (
            not isinstance(document, dict)
            or not isinstance(document.get("inputs"), list)
            or not document["inputs"]
        ):
            raise DataError(
                "the request has no inputs", remedy="send a tensor for every column: inputs=[...]"
            )
        self.id = document.get("id")
        if self.id is not None and not isinstance(self.id, str):
            raise DataError("the id of a request is a text", value=self.id)
        self._most = most
        self.rows: Any = self._columns(document["inputs"])
        if len(self._rest):
            raise DataError(f"{len(self._rest):,} bytes behind the last tensor belong to none")
        self.size = len(next(iter(self.rows.values()))) if isinstance(self.rows, dict) else len(self.rows)
        self._binary = _parameters(document).get("binary_data_output") is True
        self.outputs = self._outputs(document.get("outputs"))

    def _columns(self, inputs: list[Any]) -> Any:
        columns: dict[str, Any] = {}
        for tensor in inputs:
            name, array = self._tensor(tensor)
            if name in columns:
                raise DataError("two inputs have the same name", column=name)
            columns[name] = array
        shapes = {getattr(a, "shape", (len(a),)) for a in columns.values()}
        if len(columns) == 1 and len(next(iter(shapes))) == 2:
            return next(iter(columns.values()))  # a matrix: columns without names
        if any(len(shape) > 1 for shape in shapes) or len(shapes) > 1:
            raise DataError("every input is a column: all have the same shape [n] or [n, 1]")
        return columns

    def _tensor(self, tensor: Any) -> tuple[str, Any]:
        if not isinstance(tensor, dict):
            raise DataError("an input has a name, a shape, a datatype and data")
        name, shape, kind = tensor.get("name"), tensor.get("shape"), tensor.get("datatype")
        if not isinstance(name, str) or (kind not in TYPES and kind != "BYTES"):
            raise DataError("an input has a name and a datatype", column=name, value=kind)
        if not isinstance(shape, list) or not 1 <= len(shape) <= 2 or not all(_is_length(n) for n in shape):
            raise DataError("a shape is [n] or [n, 1]", column=name, value=shape)
        if shape[0] > self._most:
            raise TooLargeError(f"{shape[0]:,} rows in one request; at most {self._most:,} are taken")
        if len(shape) == 2 and shape[1] > MOST_COLUMNS:
            raise TooLargeError(f"a matrix of {shape[1]:,} columns; at most {MOST_COLUMNS:,} are taken")
        count = math.prod(shape)
        size = _parameters(tensor).get("binary_data_size")
        values = (
            self._listed(name, kind, tensor.get("data"), count)
            if size is None
            else self._cut(name, kind, size, count)
        )
        if len(shape) == 2 and shape[1] != 1:
            if kind == "BYTES":
                raise DataError("a matrix holds numbers", column=name)
            return name, values.astype(np.float64).reshape(shape)
        return name, values

    def _listed(self, name: str, kind: str, data: Any, count: int) -> Any:
        flat = _flat(data, 2)
        if flat is None or len(flat) != count:
            raise DataError("the data are not as many as the shape says", column=name)
        if kind == "BYTES":
            if not all(isinstance(value, str) for value in flat):
                raise DataError("data of type BYTES are texts", column=name)
            return flat
        types = bool if kind == "BOOL" else int if "INT" in kind else (int, float)
        for value in flat:
            if not isinstance(value, types) or (isinstance(value, bool) and kind != "BOOL"):
                raise DataError(f"not of type {kind}", column=name, value=value)
        try:
            return np.array(flat, TYPES[kind])
        except (OverflowError, ValueError):
            raise DataError(f"a number does not fit into {kind}", column=name) from None

    def _cut(self, name: str, kind: str, size: Any, count: int) -> Any:
        if not _is_length(size) or size > len(self._rest):
            raise DataError("binary_data_size is more than there is", column=name, value=size)
        data, self._rest = bytes(self._rest[:size]), self._rest[size:]
        if kind == "BYTES":
            return _texts(data, name, count)
        dtype = np.dtype(TYPES[kind])
        if size != count * dtype.itemsize:
            raise DataError(f"{size} bytes are not {count} of {kind}", column=name)
        if kind == "BOOL" and any(byte > 1 for byte in data):
            raise DataError("a truth value is 0 or 1", column=name)
        return np.frombuffer(data, dtype).copy()

    def _outputs(self, outputs: Any) -> dict[str, bool]:
        """The requested outputs, each with whether it is sent as a binary tensor."""
        if outputs is None or outputs == []:
            return dict.fromkeys(OUTPUTS, self._binary)
        if not isinstance(outputs, list) or not all(
            isinstance(o, dict) and o.get("name") in OUTPUTS for o in outputs
        ):
            raise DataError(f"outputs are {' and '.join(OUTPUTS)}")
        return {o["name"]: _parameters(o).get("binary_data", self._binary) is True for o in outputs}


def infer_answer(name: str, request: InferRequest, predictions: Predictions) -> tuple[bytes, int | None]:
    """The body of a response, and the length of its JSON document if binary tensors follow."""
    outputs, tail = [], b""
    for output, binary in request.outputs.items():
        kind, shape, values = _output(output, predictions)
        tensor: dict[str, Any] = {"name": output, "datatype": kind, "shape": shape}
        if binary:
            data = _packed(kind, values)
            tensor["parameters"] = {"binary_data_size": len(data)}
            tail += data
        else:
            tensor["data"] = values.ravel().tolist() if isinstance(values, np.ndarray) else values
        outputs.append(tensor)
    response: dict[str, Any] = {
        "model_name": name,
        "model_version": predictions.published.digest,
        "outputs": outputs,
    }
    if request.id is not None:
        response["id"] = request.id
    document = json.dumps(response, allow_nan=False, separators=(",", ":")).encode()
    return document + tail, len(document) if tail or any(request.outputs.values()) else None


def _output(name: str, predictions: Predictions) -> tuple[str, list[int], NDArray[Any] | list[Any]]:
    if name == "probabilities":
        return "FP64", list(predictions.proba.shape), predictions.proba
    kind = _label_type(predictions.classes)
    abstained = [i for i, place in enumerate(predictions.decided) if place < 0]
    if kind == "BYTES":
        texts = ["" if place < 0 else str(plain(predictions.classes[place])) for place in predictions.decided]
        return kind, [len(texts)], texts
    if abstained:
        raise UnsupportedError(
            f"the model gave row {abstained[0]} no answer, for which {kind} has no value; ask for 'probabilities'"
        )
    labels = [plain(predictions.classes[place]) for place in predictions.decided]
    return kind, [len(labels)], labels


def _label_type(classes: Any) -> str:
    kinds: set[type[Label]] = {type(label) for label in classes}
    if kinds == {int} and all(-(2**63) <= label < 2**63 for label in classes):
        return "INT64"
    return "BOOL" if kinds == {bool} else "BYTES"


def _packed(kind: str, values: Any) -> bytes:
    if kind == "BYTES":
        texts = [text.encode("utf-8", "backslashreplace") for text in values]
        return b"".join(struct.pack("<I", len(text)) + text for text in texts)
    return np.asarray(values, TYPES[kind]).tobytes()


def _texts(data: bytes, name: str, count: int) -> list[str]:
    out, offset = [], 0
    while offset + 4 <= len(data):
        (length,) = struct.unpack_from("<I", data, offset)
        end = offset + 4 + length
        if end > len(data):
            break
        out.append(data[offset + 4 : end])
        offset = end
    if offset != len(data) or len(out) != count:
        raise DataError(f"not {count} texts, each behind its length in four bytes", column=name)
    try:
        return [text.decode() for text in out]
    except UnicodeDecodeError:
        raise DataError("not UTF-8 text", column=name) from None


def _flat(data: Any, depth: int) -> list[Any] | None:
    if not isinstance(data, list) or depth == 0:
        return None
    if not any(isinstance(value, list) for value in data):
        return data
    parts = [_flat(value, depth - 1) for value in data]
    return None if any(part is None for part in parts) else [value for part in parts for value in part or ()]


def _parameters(element: Mapping[str, Any]) -> Mapping[str, Any]:
    parameters = element.get("parameters")
    return parameters if isinstance(parameters, dict) else {}


def _is_length(n: Any) -> bool:
    return type(n) is int and 0 <= n < 1 << 40
