"""A process that has everything imported and compiled, and forks trainers that can be killed.

Starting Python and bayou takes over a second; forking from here takes a few milliseconds, so hundreds of kills fit
into a short test. Commands come as JSON lines; each is answered by the child's process id, and, when the child has
ended, by its exit status. Run as a script; used through `Forge`.

Who sends a signal from outside may come too late on a busy machine. `after=("checkpoints", 3, "SIGKILL")` lets the
child send it to itself when it has written its third checkpoint; a fourth number is so many seconds later, while it
goes on.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any


class Forge:
    """The test's side: start children, wait for them, kill them."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        self._said = b""  # and not asked for yet: two answers may come at once
        assert self._line() == "ready"

    def _line(self, seconds: float = 300.0) -> str:
        while b"\n" not in self._said:
            assert self._answers(seconds), "the forge does not answer"
        line, _, self._said = self._said.partition(b"\n")
        return line.decode()

    def _answers(self, seconds: float) -> bool:
        """Take in what the forge says within the time given."""
        assert self.process.stdout is not None
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            return False
        heard = os.read(self.process.stdout.fileno(), 4096)
        self._said += heard
        assert heard, "the forge has ended"
        return True

    def start(self, **command: Any) -> int:
        """Fork a child that carries the command out; its process id."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command, default=os.fspath).encode() + b"\n")
        return int(self._line())

    def ended(self, seconds: float = 0.0) -> bool:
        """Whether the child has ended within the time given."""
        return b"\n" in self._said or self._answers(seconds)

    def status(self) -> int:
        """Exit code of the child; negative: the signal it died of."""
        return os.waitstatus_to_exitcode(int(self._line()))

    def carry_out(self, **command: Any) -> int:
        self.start(**command)
        return self.status()

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(120)
        self.process.stdout.close()


def train(command: dict[str, Any]) -> None:
    """Train, or go on; write the final model, or what was found about several, beside the checkpoints."""
    from bayou import files
    from bayou.evaluate import Prequential
    from bayou.persist.checkpoint import Checkpoint
    from bayou.training import Every, resume
    from bayou.training import train as begin

    pace: dict[str, Any] = {"every": Every(rows=command["every"]), "block": command["block"]}
    folder = Path(command["folder"])
    if command.get("wait"):  # until somebody has attached to this process
        while not Path(command["wait"]).exists():
            select.select([], [], [], 0.002)
    models = made(command["model"])
    if Checkpoint(folder, files.kinds()).latest() is None:
        work = next(iter(models.values())) if len(models) == 1 else Prequential(models, window=100)
        done = begin(work, command["stream"], folder, **pace)
    else:
        done = resume(folder, work=None if len(models) == 1 else lambda m: Prequential(m, window=100), **pace)
    if not done.finished:
        sys.exit(3)
    if isinstance(done.work, Prequential):
        found = done.work.evaluation().to_dict()
        for each in (found, *found["models"]):
            each["seconds"] = each["rows_per_second"] = None
        Path(command["out"]).write_text(json.dumps(found))
    else:
        files.save(done.model, command["out"])


def fit_in_processes(command: dict[str, Any]) -> None:
    """Learn a file with two processes; write the model."""
    from bayou import files, fit_files

    (model,) = made(command["model"]).values()
    options = {"target": command["target"], "shard_bytes": command["shard_bytes"]}
    files.save(fit_files(command["path"], model, jobs=2, **options), command["out"])


def learn_by_command(command: dict[str, Any]) -> None:
    """Learn a file with two processes by the command line."""
    import bayou.backends.shards
    from bayou.cli import main

    bayou.backends.shards.LEAST = command["shard_bytes"]  # a small file has several shards, too
    os.dup2(2, 1)
    sys.argv = ["bayou", "learn", command["path"], "--target", command["target"], "--model", command["model"]]
    sys.argv += ["--out", command["out"], "--jobs", "2"]
    main()


def by_command(command: dict[str, Any]) -> None:
    """Run the command line; what it prints goes to a file of its own, or to the log."""
    from bayou.cli import main

    os.dup2(os.open(command["out"], os.O_WRONLY | os.O_CREAT) if "out" in command else 2, 1)
    if "stdin" in command:
        os.dup2(os.open(command["stdin"], os.O_RDONLY), 0)
    sys.argv = ["bayou", *map(str, command["arguments"])]
    main()


def read(command: dict[str, Any]) -> None:
    """Load a model file again and again, until all versions of it were met; note every digest seen."""
    import hashlib
    import time

    from bayou import files

    end, seen, count = time.monotonic() + command["seconds"], set(), 0
    while time.monotonic() < end or count < 20 or len(seen) < command["versions"]:
        data = Path(command["path"]).read_bytes()
        files.loads(data)
        seen.add(hashlib.sha256(data).hexdigest())
        count += 1
    Path(command["out"]).write_text(json.dumps({"seen": sorted(seen), "count": count}))


def made(text: str) -> dict[str, Any]:
    from bayou.cli import specs

    return specs.models([text])


def warm(text: str) -> None:
    """Load or compile, here, all that models need, so that no child has to."""
    from bayou import files, prequential

    rows = [{"a": "x", "b": 1.0}, {"a": "y", "b": 2.0}] * 40, ["p", "q"] * 40
    prequential(made(text), rows)
    for learner in made(text).values():
        learner.learn_many(*rows)
        files.loads(files.dumps(learner))


def _warm() -> None:
    import pyarrow as pa
    import pyarrow.compute

    import bayou.cli
    import bayou.cli.app
    import bayou.inspection
    import bayou.report
    import bayou.streams.arff
    import bayou.streams.columnar
    import bayou.streams.delimited
    from bayou import set_threads, training

    set_threads(1)
    warm("nb")
    assert training.train
    assert bayou.streams
    assert bayou.cli.app.functions(("learn", "evaluate", "resume"))
    # Arrow's first array imports pandas, where it is installed
    pyarrow.compute.fill_null(pa.array([1, None]), 0)
    gc.freeze()  # a child that searched all this for garbage would copy its pages


def signal_after(what: str, times: int, name: str, later: float = 0.0) -> None:
    """Have this process send itself a signal when it has written so many checkpoints, or learned so many batches."""
    if times == 0:
        return send(name, later)
    from bayou.persist.checkpoint import Checkpoint
    from bayou.training import Learning

    kind, method = {"checkpoints": (Checkpoint, "write"), "batches": (Learning, "step")}[what]
    plain, done = getattr(kind, method), 0

    def do_and_send(*args: Any) -> Any:
        nonlocal done
        found = plain(*args)
        done += 1
        if done == times:
            send(name, later)
        return found

    setattr(kind, method, do_and_send)


def send(name: str, later: float) -> None:
    """Send this process a signal, now or from a thread beside its work."""
    if later:
        threading.Timer(later, send, (name, 0.0)).start()
    else:
        os.kill(os.getpid(), signal.Signals[name])


DO = {
    "train": train, "read": read, "warm": bool, "fit_files": fit_in_processes, "bayou learn --jobs 2": learn_by_command,
    "bayou": by_command,
}  # fmt: skip


def main() -> None:
    _warm()
    print("ready", flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        if command["do"] == "warm":
            warm(command["model"])
        child = os.fork()
        if child == 0:
            code = 1
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                log = os.open(command.get("log", os.devnull), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                os.dup2(log, 2)
                if "after" in command:
                    signal_after(*command["after"])
                DO[command["do"]](command)
                code = 0
            except SystemExit as leaving:
                code = int(leaving.code or 0)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        print(child, flush=True)
        print(os.waitpid(child, 0)[1], flush=True)


if __name__ == "__main__":
    main()
