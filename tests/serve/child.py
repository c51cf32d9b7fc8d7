"""A server in a process of its own, forked from one that has everything imported: quick to start, and to kill."""

from __future__ import annotations

import multiprocessing
import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.serve.child_imports"])


def serve(folder: str, rows: int, pipe: Connection) -> None:
    from bayou import NaiveBayes
    from bayou.serve import LivingModel, RunningServer
    from bayou.training.run import Every

    living = LivingModel("m", NaiveBayes(), learns=True, folder=folder, every=Every(rows=rows), keep_log=True)
    server = RunningServer({"m": living}, port=0)
    pipe.send(server.url)
    server.run()


class Child:
    """The process and where it answers."""

    def __init__(self, folder: Path, rows: int) -> None:
        here, there = CONTEXT.Pipe()
        self.process: Any = CONTEXT.Process(target=serve, args=(str(folder), rows, there), daemon=True)
        self.process.start()
        there.close()
        self.url = here.recv()
        here.close()

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.join()
        assert self.process.exitcode == -signal.SIGKILL

    def stop(self) -> int | None:
        """Ask it politely; its exit code."""
        os.kill(self.process.pid, signal.SIGTERM)
        self.process.join(120)
        code: int | None = self.process.exitcode
        return code
