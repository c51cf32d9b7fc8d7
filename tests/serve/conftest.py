"""Servers on free ports of the loopback, and raw requests to them."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from bayou import NaiveBayes
from bayou.serve import LivingModel, RunningServer
from bayou.serve.settings import Settings

ROWS = [{"sky": ("blue", "grey", "dark")[i % 3], "wind": float(i % 7)} for i in range(60)]
LABELS = ["dry" if i % 3 == 0 else "wet" for i in range(60)]


def weather() -> NaiveBayes:
    model = NaiveBayes()
    model.learn_many(ROWS, LABELS)
    return model


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Asking:
    """A server, and how to ask it."""

    def __init__(self, server: RunningServer) -> None:
        self.server = server

    def __call__(self, path: str, body: Any = None, method: str | None = None, **headers: str) -> Reply:
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and "Content-Type" not in named:
            named["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        try:
            connection.request(method or ("GET" if body is None else "POST"), path, content, named)
            got = connection.getresponse()
            return Reply(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read())
        finally:
            connection.close()


@pytest.fixture
def serving() -> Iterator[Callable[..., Asking]]:
    """Start servers that end with the test."""
    with ExitStack() as stack:

        def start(*models: LivingModel, settings: Settings | None = None) -> Asking:
            chosen = models or (LivingModel("weather", weather(), learns=True),)
            server = RunningServer({each.name: each for each in chosen}, port=0, settings=settings)
            return Asking(stack.enter_context(server))

        yield start


@pytest.fixture(scope="module")
def ask() -> Iterator[Asking]:
    """One server for all tests of a file that change nothing others look at."""
    living = LivingModel("weather", weather(), learns=True)
    with RunningServer({"weather": living}, port=0) as server:
        yield Asking(server)
