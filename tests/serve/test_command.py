"""The command: started, stopped by a signal, started again; and what it refuses."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.serve.conftest import LABELS, ROWS, weather
from typer.testing import CliRunner

from bayou.cli.app import app
from bayou.client import Client


@contextmanager
def running(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`bayou serve` in a process of its own, and where it says that it answers."""
    command = [sys.executable, "-c", "from bayou.cli import main; main()", "serve", *arguments, "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            line = next(line for line in process.stderr if " on http" in line)
            yield process, line.split(" on ")[1].split()[0].rstrip(";")
        finally:
            process.kill()


def test_a_signal_stops_it_and_a_start_goes_on(tmp_path: Path) -> None:
    path, folder = tmp_path / "weather.bayou", tmp_path / "ck"
    weather().save(path)
    expected = weather()
    arguments = [str(path), "--learn", "--checkpoint", str(folder), "--publish", str(tmp_path / "out")]
    for start in range(2):
        with running(*arguments) as (process, url), Client(url) as client:
            client.learn_many(ROWS[:7], LABELS[:7])
            expected.learn_many(ROWS[:7], LABELS[:7])
            process.send_signal((signal.SIGTERM, signal.SIGINT)[start])
            assert process.stderr is not None
            assert f"learned {7 * (start + 1)} rows" in process.stderr.read()
            assert process.wait(60) == 0
    from bayou import load

    assert load(tmp_path / "out" / "weather.bayou").digest() == expected.digest()
    with (
        running(str(tmp_path / "out" / "weather.bayou"), "--follow") as (process, url),
        Client(url) as client,
    ):
        assert client.predict_one(ROWS[0]) == expected.predict_one(ROWS[0])
        assert client.digest() == expected.digest()


BAD = [
    (["m.bayou", "--host", "0.0.0.0"], 2, "--tokens"),
    (["m.bayou", "--learn", "--follow"], 2, "either learns or follows"),
    (["M!=m.bayou"], 2, "cannot be the name"),
    (["m.bayou", "m.bayou"], 2, "same name"),
    (["m.bayou", "--shadow", "other:new=m.bayou"], 2, "--shadow m:new=other.bayou"),
    (["nothing.bayou"], 1, "No such file"),
    (["m.bayou", "--tokens", "tokens"], 2, "chmod 600"),
]


@pytest.mark.parametrize(("arguments", "code", "message"), BAD)
def test_what_cannot_be_meant_is_refused(
    arguments: list[str], code: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    weather().save("m.bayou")
    Path("tokens").write_text("admin 0123456789abcdef\n")
    Path("tokens").chmod(0o644)
    found = CliRunner().invoke(app, ["serve", *arguments])
    assert (found.exit_code, message in found.stderr) == (code, True), found.stderr
