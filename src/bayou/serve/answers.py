"""Answers: predictions as JSON, JSON lines or Arrow, errors as JSON, each with the headers that keep a browser safe."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from starlette.responses import Response

from bayou.errors import BayouError, DataError, NotFittedError, UnsupportedError
from bayou.plain_text import clean
from bayou.schema import Label
from bayou.serve.bodies import ARROW, JSON, JSON_LINES
from bayou.serve.errors import ServeError
from bayou.serve.predicting import Predicted

RETRY_AFTER = "1"  # seconds
LONGEST = 1_000  # characters of an error
SAFE_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SNAPSHOT, ROWS = "bayou-snapshot", "bayou-rows"


def plain(label: Label) -> str | int | float | bool:
    """A class as JSON has it.

    >>> plain(b"spam"), plain(3)
    ('spam', 3)
    """
    return label.decode("utf-8", "backslashreplace") if isinstance(label, bytes) else label


def answer(
    content: bytes, media: str, headers: Mapping[str, str] | None = None, status: int = 200
) -> Response:
    """A response with the headers that all of them have."""
    return Response(content, status, {**SAFE_HEADERS, **(headers or {})}, media)


def json_answer(data: Any, headers: Mapping[str, str] | None = None, status: int = 200) -> Response:
    """A JSON document; NaN and infinities are a mistake of ours, and not sent."""
    return answer(json.dumps(data, allow_nan=False, separators=(",", ":")).encode(), JSON, headers, status)


def error_answer(problem: BaseException) -> Response:
    """An error as JSON; 503 says when to try again."""
    status = status_of(problem)
    told: dict[str, Any] = {"type": type(problem).__name__, "message": clean(problem)[:LONGEST]}
    if status == 500:
        told = {"type": "InternalError", "message": "an error of the server; its log has the details"}
    if isinstance(problem, DataError):
        told |= {
            "row": problem.index,
            "column": None if problem.column is None else clean(problem.column)[:200],
        }
    headers = {"retry-after": RETRY_AFTER} if status == 503 else {}
    if status == 413:
        headers["connection"] = "close"  # the rest of the body is not read
    return json_answer({"error": told}, headers, status)


def status_of(problem: BaseException) -> int:
    """The HTTP status that says what kind of error it is."""
    if isinstance(problem, ServeError):
        return problem.status
    if isinstance(problem, NotFittedError | UnsupportedError):
        return 409
    return 422 if isinstance(problem, BayouError) else 500


def named(classes: Sequence[Any], place: int) -> Any:
    """The class decided for; None where a rule abstains."""
    return classes[place] if place >= 0 else None


def predictions(name: str, found: Predicted, form: str, single: bool) -> Response:
    """Predictions in the form in which the rows came."""
    headers = {SNAPSHOT: found.published.digest, ROWS: str(found.published.rows)}
    if form == ARROW:
        return answer(_arrow(found), ARROW, headers)
    classes = [plain(label) for label in found.classes]
    if form == JSON_LINES:
        return answer(b"".join(_lines(found, classes)), JSON_LINES, headers)
    told: dict[str, Any] = {
        "model": name,
        "snapshot": found.published.digest,
        "rows": found.published.rows,
        "classes": classes,
    }
    if single:
        told |= {"prediction": named(classes, found.decided[0]), "probabilities": found.proba[0].tolist()}
    else:
        told |= {
            "predictions": [named(classes, i) for i in found.decided],
            "probabilities": found.proba.tolist(),
        }
    if found.ignored:
        told["ignored"] = list(found.ignored)
    return json_answer(told, headers)


def _lines(found: Predicted, classes: list[Any]) -> Iterator[bytes]:
    for place, row in zip(found.decided, found.proba.tolist(), strict=True):
        line = {"prediction": named(classes, place), "classes": classes, "probabilities": row}
        yield json.dumps(line, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def _arrow(found: Predicted) -> bytes:
    """Columns `prediction` and `p(class)` for every class."""
    import pyarrow as pa

    names = [str(plain(label)) for label in found.classes]
    decided = np.array(found.decided, np.int32)
    places = pa.array(decided, pa.int32(), mask=decided < 0)
    columns = {"prediction": pa.DictionaryArray.from_arrays(places, pa.array(names))}
    columns |= {f"p({name})": pa.array(found.proba[:, i]) for i, name in enumerate(names)}
    table = pa.table(columns)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
