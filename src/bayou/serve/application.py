"""The ASGI application: one method per operation, and what all of them share (access, limits, errors, metrics)."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bayou import __version__, files
from bayou.errors import BayouError, DataError
from bayou.serve import answers, v2
from bayou.serve.bodies import JSON, TARGET, Batch, parse_json, read_batch
from bayou.serve.connections import THERE, Load
from bayou.serve.description import describe
from bayou.serve.errors import BusyError, DeadlineError, ServeError, TooLargeError
from bayou.serve.live import LivePage
from bayou.serve.living import LivingModel
from bayou.serve.metrics import MEDIA, Metrics
from bayou.serve.openapi import openapi
from bayou.serve.operations import OPERATIONS, Operation
from bayou.serve.predicting import Predictor, predict_rows, unknown_columns
from bayou.serve.queue import Task
from bayou.serve.settings import Settings

_KEY = re.compile(r"[\x21-\x7e]{1,200}\Z")
_HELD = "bayou.held"  # key of a request's scope: bytes of its body in memory
_TIMEOUT = "bayou-timeout-ms"
_LARGE = 1 << 15  # bytes of a body that is read in a thread, so that others need not wait for it
MOST_EXPLAINED = 1_000  # columns of a record that is explained: every one of them is left out in turn
_log = logging.getLogger("bayou.serve")
Answer = TypeVar("Answer")


class NotFoundError(ServeError):
    """A path or a model that does not exist."""

    status = 404


class Application:
    """The models of a server and what requests may do with them; the first model answers where none is named."""

    def __init__(self, models: Mapping[str, LivingModel], settings: Settings) -> None:
        self.models, self.settings = dict(models), settings
        self.load = Load()
        self.metrics = Metrics(self.models, self.load)
        self.pool = ThreadPoolExecutor(2, "bayou serve")
        self.page = LivePage(self.models, self.metrics)
        self._predictors = {name: Predictor(living, self.pool) for name, living in self.models.items()}
        self._description = openapi(settings)

    def asgi(self) -> ASGIApp:
        """The ASGI callable that a web server runs.

        Paths of known models are looked up in a dict first: Starlette's search through all routes would take as long
        as the answer itself.
        """
        routes, direct = [], {}
        for operation in OPERATIONS:
            endpoint = self._endpoint(operation)
            for path in operation.paths:
                routes.append(Route(path, endpoint, methods=[operation.method]))
                if "{version}" not in path:
                    for name in self.models if "{name}" in path else (None,):
                        known = {} if name is None else {"name": name}
                        direct[operation.method, path.format(**known)] = endpoint, known
        others = Starlette(routes=routes, exception_handlers={HTTPException: _http_error})

        async def answered(scope: Scope, receive: Receive, send: Send) -> None:
            match = direct.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
            if match is None:
                await others(scope, receive, send)
                return
            endpoint, scope["path_params"] = match
            response = await endpoint(Request(scope, receive))
            await response(scope, receive, send)

        return answered

    def _endpoint(self, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
        work: Callable[[Request], Awaitable[Response]] = getattr(self, f"_{operation.name}")
        access, metrics, load = self.settings.access, self.metrics, self.load

        async def answered(request: Request) -> Response:
            begin = request.scope.get(THERE) or time.perf_counter()
            request.scope[_HELD] = 0
            try:
                if operation.role is not None:
                    headers = request.headers
                    access.check(
                        operation.role,
                        headers.get("authorization"),
                        headers.get("host"),
                        headers.get("origin"),
                    )
                response = await work(request)
            except DeadlineError as problem:
                if _TIMEOUT in request.headers:
                    response = answers.error_answer(problem)
                else:  # the client set no deadline: the server is too slow
                    response = answers.error_answer(BusyError(f"{problem}; try again"))
            except BayouError as problem:
                response = answers.error_answer(problem)
                if response.status_code == 401:
                    response.headers["www-authenticate"] = "Bearer"
            except asyncio.CancelledError:  # the server stops, and has waited long enough
                response = answers.error_answer(BusyError("the server stops before this is done; ask again"))
            except ClientDisconnect:
                response = answers.json_answer({}, status=400)
            except Exception as problem:
                _log.exception("%s failed", operation.name)
                response = answers.error_answer(problem)
            finally:
                load.held -= request.scope[_HELD]
            now = time.perf_counter()
            load.answered(now)
            metrics.request(operation.name, response.status_code, now - begin)
            return response

        return answered

    # -- reading requests --

    def _living(self, request: Request) -> LivingModel:
        name = request.path_params.get("name")
        if name is None:
            return next(iter(self.models.values()))
        if name not in self.models:
            raise NotFoundError(f"there is no model {str(name)[:80]!r}")
        return self.models[name]

    async def _body(self, request: Request) -> bytes:
        most = self.settings.max_body
        declared = request.headers.get("content-length", "0")
        if declared.isdigit() and int(declared) > most:
            raise TooLargeError(f"a body of {int(declared):,} bytes; at most {most:,} are taken")
        parts, size = [], 0
        with self.load:  # a slow sender must not count against the limit of requests
            async for part in request.stream():
                size += len(part)
                if size > most:
                    raise TooLargeError(f"a body of more than {most:,} bytes")
                self.load.hold(len(part))
                request.scope[_HELD] += len(part)
                parts.append(part)
        return b"".join(parts)

    def _seconds(self, request: Request) -> float:
        """Seconds the request may take: what its header asks for, at most what the server allows."""
        milliseconds = request.headers.get(_TIMEOUT)
        if milliseconds is None:
            return self.settings.timeout
        if not milliseconds.isdigit() or not 1 <= int(milliseconds[:9]):
            raise DataError("Bayou-Timeout-Ms is a whole number of milliseconds", value=milliseconds)
        return min(self.settings.timeout, int(milliseconds[:9]) / 1000)

    async def _batch(self, request: Request, labelled: bool) -> Batch:
        form = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
        target = request.query_params.get("target", TARGET)
        body = await self._body(request)
        most = self.settings.max_rows
        if len(body) < _LARGE:
            return read_batch(body, form, labelled=labelled, target=target, most=most)
        return await self._in_thread(read_batch, body, form, labelled=labelled, target=target, most=most)

    async def _in_thread(self, work: Callable[..., Answer], *arguments: Any, **keywords: Any) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(
            self.pool, partial(work, *arguments, **keywords)
        )

    # -- plain JSON --

    async def _predict(self, request: Request) -> Response:
        living, seconds = self._living(request), self._seconds(request)
        deadline = asyncio.get_running_loop().time() + seconds
        batch = await self._batch(request, labelled=False)
        result = await self._predictors[living.name].predict(batch, deadline)
        self.metrics.rows(living.name, "predict", batch.size)
        return answers.predictions(living.name, result, batch.form, batch.single)

    async def _learn(self, request: Request) -> Response:
        return await self._learn_or_unlearn(request, "learn")

    async def _unlearn(self, request: Request) -> Response:
        return await self._learn_or_unlearn(request, "unlearn")

    async def _learn_or_unlearn(self, request: Request, verb: str) -> Response:
        living, seconds = self._living(request), self._seconds(request)
        deadline = time.monotonic() + seconds
        batch = await self._batch(request, labelled=True)
        durable, visible = _flag(request, "durable"), _flag(request, "visible")
        task = Task(verb, batch, _key(request), durable, visible, deadline)
        receipt = await self._submit(living, task)
        if not receipt["repeated"]:
            self.metrics.rows(living.name, verb, batch.size)
        return answers.json_answer(receipt)

    async def _promote(self, request: Request) -> Response:
        living = self._living(request)
        document = parse_json(await self._body(request), "body")
        if (
            not isinstance(document, dict)
            or set(document) != {"variant"}
            or not isinstance(document["variant"], str)
        ):
            raise DataError("the body is not what was expected", remedy='send {"variant": "its name"}')
        task = Task.promotion(document["variant"], _key(request), time.monotonic() + self._seconds(request))
        await self._submit(living, task)
        return answers.json_answer({"model": living.name, "answering": living.answering})

    async def _submit(self, living: LivingModel, task: Task) -> dict[str, Any]:
        """Hand a task to the learner and wait for its result; cancel it at its deadline unless it has begun."""
        living.submit(task)
        waiting = asyncio.wrap_future(task.future)
        with self.load:
            try:
                left = (task.deadline or 0.0) - time.monotonic()
                return await asyncio.wait_for(asyncio.shield(waiting), left)
            except TimeoutError:
                if task.future.cancel():
                    raise DeadlineError(
                        "the deadline passed before the batch was begun; nothing was learned"
                    ) from None
                return await waiting

    async def _explain(self, request: Request) -> Response:
        living = self._living(request)
        document = parse_json(await self._body(request), "body")
        allowed = {"record", "label", "against"}
        if not isinstance(document, dict) or "record" not in document or set(document) - allowed:
            raise DataError("the body is not what was expected", remedy='send {"record": {...}}')
        batch = read_batch(_json_bytes({"record": document["record"]}), JSON, labelled=False)
        published, record = living.published, batch.rows[0]
        predict_rows(published, [record])  # raises if the record cannot be scored
        ignored = set(unknown_columns(published.model, [record]))
        known = {name: value for name, value in record.items() if name not in ignored and value is not None}
        if len(known) > MOST_EXPLAINED:
            raise TooLargeError(
                f"a record of {len(known):,} columns; at most {MOST_EXPLAINED:,} are explained"
            )
        explanation = await self._in_thread(
            published.model.explain, known, document.get("label"), document.get("against")
        )
        out = {
            name: answers.plain(value) if isinstance(value, bytes) else value
            for name, value in asdict(explanation).items()
        }
        return answers.json_answer({"model": living.name, "snapshot": published.digest, **out})

    async def _models(self, request: Request) -> Response:
        return answers.json_answer({"models": list(self.models)})

    async def _model(self, request: Request) -> Response:
        living = self._living(request)
        return answers.json_answer(await self._in_thread(describe, living))

    async def _file(self, request: Request) -> Response:
        living = self._living(request)
        published = living.published
        data = await self._in_thread(files.dumps, published.model)
        headers = {
            answers.SNAPSHOT: published.digest,
            "content-disposition": f'attachment; filename="{living.name}.bayou"',
        }
        return answers.answer(data, "application/octet-stream", headers)

    async def _metrics(self, request: Request) -> Response:
        return answers.answer(await self._in_thread(self.metrics.text), MEDIA)

    async def _openapi(self, request: Request) -> Response:
        return answers.json_answer(self._description)

    async def _alive(self, request: Request) -> Response:
        return answers.json_answer({"live": True})

    async def _ready(self, request: Request) -> Response:
        stopped = {name: living.broken for name, living in self.models.items() if living.broken}
        return answers.json_answer({"ready": not stopped, "stopped": stopped}, status=503 if stopped else 200)

    # -- the live page --

    async def _page(self, request: Request) -> Response:
        return self.page.html()

    async def _asset(self, request: Request) -> Response:
        return self.page.asset(request.url.path.lstrip("/"))

    async def _events(self, request: Request) -> Response:
        return self.page.events(self._living(request))

    # -- Open Inference Protocol --

    async def _v2_server(self, request: Request) -> Response:
        document = {"name": "bayou", "version": __version__, "extensions": ["binary_tensor_data"]}
        return answers.json_answer(document)

    async def _v2_model(self, request: Request) -> Response:
        living = self._versioned(request)
        return answers.json_answer(v2.metadata(living.name, living.published))

    async def _v2_ready(self, request: Request) -> Response:
        model = self._versioned(request).published.model
        ready = bool(model.started and model.labels())
        return answers.json_answer({"ready": ready}, status=200 if ready else 409)

    async def _v2_infer(self, request: Request) -> Response:
        living = self._versioned(request)
        body = await self._body(request)
        length = request.headers.get(v2.HEADER)
        if length is not None and not length.isdigit():
            raise DataError(f"{v2.HEADER} is a number of bytes", value=length)
        most = self.settings.max_rows
        inputs = v2.InferRequest(body, None if length is None else int(length[:18]), most)
        result = await self._in_thread(predict_rows, living.published, inputs.rows)
        self.metrics.rows(living.name, "predict", inputs.size)
        content, header = v2.infer_answer(living.name, inputs, result)
        if header is None:
            return answers.answer(content, JSON)
        return answers.answer(content, "application/octet-stream", {v2.HEADER: str(header)})

    def _versioned(self, request: Request) -> LivingModel:
        living = self._living(request)
        version = request.path_params.get("version")
        if version not in (None, living.published.digest):
            raise NotFoundError(f"{living.name} has gone on from version {str(version)[:80]!r}")
        return living


def _key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and not _KEY.match(key):
        raise DataError("an idempotency key has 1 to 200 printable characters without blanks", value=key)
    return key


def _flag(request: Request, name: str) -> bool:
    text = request.query_params.get(name, "false")
    if text not in ("true", "false"):
        raise DataError(f"{name} is true or false", value=text)
    return text == "true"


def _json_bytes(data: Any) -> bytes:
    import json

    return json.dumps(data).encode()


async def _http_error(request: Request, problem: Exception) -> Response:
    """The JSON response for a path or a method that no route has."""
    assert isinstance(problem, HTTPException)
    error = {"type": "HTTPError", "message": str(problem.detail)}
    return answers.json_answer({"error": error}, problem.headers, problem.status_code)
