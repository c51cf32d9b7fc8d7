"""The OpenAPI 3.1 description of the server."""

from __future__ import annotations

from typing import Any

from bayou import __version__
from bayou.serve.bodies import ARROW, JSON, JSON_LINES, TARGET
from bayou.serve.operations import OPERATIONS, Operation
from bayou.serve.settings import NAME, Settings
from bayou.serve.v2 import HEADER, OUTPUTS, TYPES

_CELL: dict[str, Any] = {"type": ["string", "number", "boolean", "null"]}
_RECORD: dict[str, Any] = {"type": "object", "additionalProperties": _CELL}
_LABEL: dict[str, Any] = {"type": ["string", "integer", "boolean", "null"]}
_BINARY = {"schema": {"type": "string", "format": "binary"}}
_DESCRIBED = {"predict": False, "learn": True, "unlearn": True}


def openapi(settings: Settings) -> dict[str, Any]:
    """The whole document; its limits are those of the settings."""
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        for i, path in enumerate(operation.paths):
            paths.setdefault(path, {})[operation.method.lower()] = _operation(operation, path, i, settings)
    return {
        "openapi": "3.1.0",
        "info": {"title": "bayou serve", "version": __version__, "description": "A living model over HTTP."},
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": _ERROR},
        },
    }


_ERROR: dict[str, Any] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["type", "message"],
            "properties": {"type": {"type": "string"}, "message": {"type": "string"}},
        }
    },
}


def _operation(operation: Operation, path: str, place: int, settings: Settings) -> dict[str, Any]:
    out: dict[str, Any] = {
        "operationId": operation.name if place == 0 else f"{operation.name}_{place}",
        "summary": operation.summary,
        "parameters": _parameters(operation, path),
        "responses": _responses(operation),
        "security": [] if operation.role is None else [{"token": []}],
    }
    if operation.method == "POST":
        out["requestBody"] = {"required": True, "content": _content(operation.name, settings)}
    return out


def _parameters(operation: Operation, path: str) -> list[dict[str, Any]]:
    out = []
    if "{name}" in path:
        pattern = f"^{NAME.pattern.removesuffix(chr(92) + 'Z')}$"
        out.append(_parameter("name", "path", {"type": "string", "pattern": pattern}, required=True))
    if "{version}" in path:
        out.append(_parameter("version", "path", {"type": "string", "minLength": 1}, required=True))
    if operation.name in _DESCRIBED:
        out.append(
            _parameter("Bayou-Timeout-Ms", "header", {"type": "integer", "minimum": 1, "maximum": 600_000})
        )
    if operation.name in ("learn", "unlearn"):
        out += [_parameter(name, "query", {"type": "boolean"}) for name in ("durable", "visible")]
        out.append(_parameter("target", "query", {"type": "string", "default": TARGET}))
        key = {"type": "string", "pattern": "^[!-~]{1,200}$"}
        out.append(_parameter("Idempotency-Key", "header", key))
    if operation.name == "v2_infer":
        out.append(_parameter(HEADER, "header", {"type": "integer", "minimum": 0}))
    return out


def _parameter(name: str, place: str, schema: dict[str, Any], required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": place, "required": required, "schema": schema}


def _content(name: str, settings: Settings) -> dict[str, Any]:
    if name in _DESCRIBED:
        schema = _rows(_DESCRIBED[name], settings.max_rows)
        return {JSON: {"schema": schema}, JSON_LINES: {"schema": {"type": "string"}}, ARROW: _BINARY}
    if name == "explain":
        properties = {"record": _RECORD, "label": _LABEL, "against": _LABEL}
        return {JSON: {"schema": _object(properties, ["record"])}}
    if name == "promote":
        return {JSON: {"schema": _object({"variant": {"type": "string"}}, ["variant"])}}
    return {JSON: {"schema": _infer_request(settings.max_rows)}, "application/octet-stream": _BINARY}


def _rows(labelled: bool, most: int) -> dict[str, Any]:
    one: dict[str, Any] = {"record": _RECORD}
    many: dict[str, Any] = {"records": {"type": "array", "items": _RECORD, "maxItems": most}}
    if labelled:
        one["label"] = _LABEL
        many["labels"] = {"type": "array", "items": _LABEL, "maxItems": most}
    return {"oneOf": [_object(one, list(one)), _object(many, list(many))]}


def _infer_request(most: int) -> dict[str, Any]:
    length = {"type": "integer", "minimum": 0, "maximum": most}
    tensor: dict[str, Any] = {
        "name": {"type": "string"},
        "datatype": {"enum": [*TYPES, "BYTES"]},
        "shape": {"type": "array", "items": length, "minItems": 1, "maxItems": 2},
        "data": {"type": "array", "items": {"type": ["string", "number", "boolean"]}},
        "parameters": {"type": "object"},
    }
    output = _object({"name": {"enum": list(OUTPUTS)}, "parameters": {"type": "object"}}, ["name"])
    properties = {
        "id": {"type": "string"},
        "inputs": {"type": "array", "minItems": 1, "items": _object(tensor, ["name", "datatype", "shape"])},
        "outputs": {"type": "array", "items": output},
        "parameters": {"type": "object"},
    }
    return {"type": "object", "properties": properties, "required": ["inputs"]}


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _responses(operation: Operation) -> dict[str, Any]:
    success: dict[str, Any] = {"description": operation.summary}
    more: dict[str, Any]
    media = {"page": "text/html", "metrics": "text/plain", "events": "text/event-stream"}
    if operation.name in ("predict", "v2_infer"):
        more = (
            {JSON_LINES: {}, ARROW: {}} if operation.name == "predict" else {"application/octet-stream": {}}
        )
        success["content"] = {JSON: {"schema": {"type": "object"}}, **more}
    elif operation.name == "asset":
        success["content"] = {"text/css": {}, "text/javascript": {}}
    elif operation.name == "file":
        success["content"] = {"application/octet-stream": {}}
    elif operation.name in media:
        success["content"] = {media[operation.name]: {}}
    else:
        success["content"] = {JSON: {"schema": {"type": "object"}}}
    out = {"200": success}
    for status, text in _problems(operation).items():
        content = {JSON: {"schema": {"type": "object"}}, "text/plain": {}}
        out[status] = {"description": text, "content": content}
    return out


def _problems(operation: Operation) -> dict[str, str]:
    out = {
        "400": "Not HTTP that can be understood.",
        "503": "Too much to do, or learning has stopped; Retry-After says when to try again.",
    }
    if operation.role is not None:
        out |= {"401": "No token, or an unknown one.", "403": "The token's role does not suffice."}
    if any("{" in path for path in operation.paths):
        out["404"] = "No such model or version."
    if operation.method == "POST":
        out |= {
            "408": "The request took too long to arrive.",
            "409": "It contradicts what the model is or can.",
            "413": "Too many bytes or rows.",
            "415": "A body of another type.",
            "422": "The body does not say what it should; the message says where.",
            "504": "The deadline passed; nothing was done.",
        }
    if operation.name == "v2_ready":
        out["409"] = "The model has met no class yet."
    return out
