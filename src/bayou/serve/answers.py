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
from bayou.serve.predicting import Predictions

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
    """A class label as a JSON value: bytes become text.

    >>> plain(b"spam"), plain(3)
    ('spam', 3)
    """
    return label.decode("utf-8", "backslashreplace") if isinstance(label, bytes) else label


def answer(
    content: bytes, media: str, headers: Mapping[str, str] | None = None, status: int = 200
) -> Response:
    """A response with the security headers that every response has."""
    return Response(content, status, {**SAFE_HEADERS, **(headers or {})}, media)


def json_answer(data: Any, headers: Mapping[str, str] | None = None, status: int = 200) -> Response:
    """A JSON response; raises ValueError for NaN and infinities, which would be a bug of the server."""
    return answer(json.dumps(data, allow_nan=False, separators=(",", ":")).encode(), JSON, headers, status)


def error_answer(problem: BaseException) -> Response:
    """An error as a JSON response; with status 503 it also says when to try again."""
    status = status_of(problem)
    error: dict[str, Any] = {"type": type(problem).__name__, "message": clean(problem)[:LONGEST]}
    if status == 500:
        error = {"type": "InternalError", "message": "an error of the server; its log has the details"}
    if isinstance(problem, DataError):
        error |= {
            "row": problem.index,
            "column": None if problem.column is None else clean(problem.column)[:200],
        }
    headers = {"retry-after": RETRY_AFTER} if status == 503 else {}
    if status == 413:
        headers["connection"] = "close"  # the rest of the body is not read
    return json_answer({"error": error}, headers, status)


def status_of(problem: BaseException) -> int:
    """The HTTP status of an exception: 500 unless the library raised it on purpose."""
    if isinstance(problem, ServeError):
        return problem.status
    if isinstance(problem, NotFittedError | UnsupportedError):
        return 409
    return 422 if isinstance(problem, BayouError) else 500


def named(classes: Sequence[Any], place: int) -> Any:
    """The predicted class label; None where a decision rule abstained (`place` is negative)."""
    return classes[place] if place >= 0 else None


def predictions(name: str, result: Predictions, form: str, single: bool) -> Response:
    """The response to `predict`, in the media type in which the rows came."""
    headers = {SNAPSHOT: result.published.digest, ROWS: str(result.published.rows)}
    if form == ARROW:
        return answer(_arrow(result), ARROW, headers)
    classes = [plain(label) for label in result.classes]
    if form == JSON_LINES:
        return answer(b"".join(_lines(result, classes)), JSON_LINES, headers)
    document: dict[str, Any] = {
        "model": name,
        "snapshot": result.published.digest,
        "rows": result.published.rows,
        "classes": classes,
    }
    if single:
        document |= {
            "prediction": named(classes, result.decided[0]),
            "probabilities": result.proba[0].tolist(),
        }
    else:
        document |= {
            "predictions": [named(classes, i) for i in result.decided],
            "probabilities": result.proba.tolist(),
        }
    if result.ignored:
        document["ignored"] = list(result.ignored)
    return json_answer(document, headers)


def _lines(result: Predictions, classes: list[Any]) -> Iterator[bytes]:
    for place, row in zip(result.decided, result.proba.tolist(), strict=True):
        line = {"prediction": named(classes, place), "classes": classes, "probabilities": row}
        yield json.dumps(line, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def _arrow(result: Predictions) -> bytes:
    """An Arrow stream with the columns `prediction` and, for every class, `p(class)`."""
    import pyarrow as pa

    names = [str(plain(label)) for label in result.classes]
    decided = np.array(result.decided, np.int32)
    places = pa.array(decided, pa.int32(), mask=decided < 0)
    columns = {"prediction": pa.DictionaryArray.from_arrays(places, pa.array(names))}
    columns |= {f"p({name})": pa.array(result.proba[:, i]) for i, name in enumerate(names)}
    table = pa.table(columns)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
