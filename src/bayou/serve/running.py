"""The HTTP server around the application: listening, starting, stopping."""

from __future__ import annotations

import socket
import sys
import threading
import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from types import FrameType
from typing import Any, Self

import uvicorn

from bayou.errors import ColumnWarning, OptionError
from bayou.serve.application import Application
from bayou.serve.connections import protocol
from bayou.serve.living import LivingModel
from bayou.serve.roles import is_loopback
from bayou.serve.settings import Settings, check_name

DRAIN = 5  # seconds for requests to end when the server stops
BACKLOG = 1_024  # connections that wait to be accepted
SWITCH = 0.001  # seconds after which a learning thread yields to others


class _Server(uvicorn.Server):
    """uvicorn's server; a signal ends the streams of events and then the server, and is not raised again afterwards.

    There is more to do when all requests have ended: to learn what waits, and to write checkpoints.
    """

    application: Application

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.application.page.close()
        self.force_exit = self.should_exit  # the second time
        self.should_exit = True


class RunningServer:
    """Living models behind HTTP, in the process that makes it.

    Parameters
    ----------
    models
        Living models by name; they are started and stopped with the server.
    host, port
        Where to listen; port 0 takes a free one. Any host but the loopback needs tokens in the settings.
    settings
        Limits, and who may use it.

    Examples
    --------
    >>> from bayou import NaiveBayes
    >>> from bayou.client import Client
    >>> model = NaiveBayes()
    >>> model.learn_many([{"sky": "blue"}, {"sky": "grey"}], ["dry", "wet"])
    >>> with RunningServer({"weather": LivingModel("weather", model)}, port=0) as server, Client(server.url) as client:
    ...     client.predict_one({"sky": "grey"})
    'wet'
    """

    def __init__(
        self,
        models: Mapping[str, LivingModel],
        *,
        host: str = "127.0.0.1",
        port: int = 8080,
        settings: Settings | None = None,
    ) -> None:
        settings = settings or Settings()
        if not models:
            raise OptionError("a server needs a model")
        for name in models:
            check_name(name)
        if not is_loopback(host) and not settings.access.tokens:
            raise OptionError(
                f"{host} can be reached from other machines", remedy="give a file of tokens: --tokens FILE"
            )
        self.models = dict(models)
        self.application = Application(self.models, settings)
        self._listening = _listen(host, port)
        self.host, self.port = host, int(self._listening.getsockname()[1])
        config = uvicorn.Config(
            self.application.asgi(), http=protocol(self.application.load, settings.arrival), ws="none", lifespan="off",
            log_config=None, access_log=False, server_header=False, timeout_keep_alive=30,
            timeout_graceful_shutdown=DRAIN, loop="auto", backlog=BACKLOG, proxy_headers=False,
        )  # fmt: skip
        self._server = _Server(config)
        self._server.application = self.application
        self._thread: threading.Thread | None = None
        self._stack = ExitStack()

    @property
    def url(self) -> str:
        """Where the server answers."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    def run(self) -> None:
        """Answer until a signal says to stop; then learn what waits and write the last checkpoints."""
        interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH)
        try:
            with self._stack:
                self._begin()
                self._server.run(sockets=[self._listening])
        finally:
            sys.setswitchinterval(interval)

    def __enter__(self) -> Self:
        """Answer in a thread, from now on."""
        self._begin()
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._listening]}, name="bayou serve", daemon=True
        )
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            self._thread.join(0.005)
        return self

    def __exit__(self, *exception: Any) -> None:
        self.application.page.close()
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join()
        self._stack.close()

    def _begin(self) -> None:
        self._stack.callback(self._listening.close)
        self._stack.callback(self.application.pool.shutdown)
        self._stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", ColumnWarning)  # answers say which columns are unknown
        for living in self.models.values():
            self._stack.enter_context(living)


def _listen(host: str, port: int) -> socket.socket:
    try:
        address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listening = socket.socket(address[0], socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address[4])
        listening.listen(BACKLOG)  # connections wait from now on until the models are loaded
        listening.setblocking(False)
    except OSError as problem:
        raise OptionError(
            f"cannot listen on {host}:{port}: {problem.strerror or problem}", remedy="give another --port"
        ) from problem
    return listening
