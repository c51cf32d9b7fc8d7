"""What is said, and how: advice in the words of the command line, progress, numbers of rows, sinks."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from bayou.cli import console, meter, options
from bayou.cli.files import check_writable
from bayou.cli.sinks import opened_sink
from bayou.errors import DataError
from bayou.kernels import compiling
from bayou.plain_text import clean, shortened


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("python", "command"),
    [
        ("perhaps target='my class'", "perhaps --target 'my class'"),
        ('target="" reads a stream without one', "--target '' reads a stream without one"),
        ("say format=; known are", "say --format; known are"),
        (
            "declare it: nominal=['a b']; or policy=\"skip\" or",
            "declare it: --nominal 'a b'; or --policy skip or",
        ),
        ("schema=Declared(columns={'day': 'nominal'})", "--nominal day"),
        ("nothing to do", "nothing to do"),
    ],
)
def test_advice_in_the_words_of_the_command_line(python: str, command: str) -> None:
    assert console.as_options(python) == command


def test_a_bug_is_called_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    @console.guarded
    def broken() -> None:
        raise ZeroDivisionError("oh\x1b[1m")

    with pytest.raises(typer.Exit) as left:
        broken()
    assert left.value.exit_code == 1
    assert "error: ZeroDivisionError: oh (this is a bug in bayou; BAYOU_DEBUG=1" in capsys.readouterr().err
    monkeypatch.setenv("BAYOU_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        broken()


def test_errors_of_the_system_name_the_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    @console.guarded
    def reading() -> None:
        (tmp_path / "none").read_text()

    with pytest.raises(typer.Exit):
        reading()
    assert capsys.readouterr().err == f"error: {tmp_path / 'none'}: No such file or directory\n"


def test_colours_only_where_somebody_sees_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert console.coloured(Terminal())
    assert not console.coloured(io.StringIO())
    monkeypatch.setenv("TERM", "dumb")
    assert not console.coloured(Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not console.coloured(Terminal())


def test_progress_on_a_terminal_is_one_line_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(meter, "_LIVE", 0.0)
    shown = meter.Meter("evaluate")
    shown.update(1000, 0.25, lambda: {"nb\x1b[2J": 0.5}, 3)
    shown.update(2000, 0.5, lambda: {"nb": 0.5})
    shown.clear()
    text = screen.getvalue()
    assert "\n" not in text
    assert "evaluate  1,000 rows" in text
    assert "25 %" in text
    assert "left" in text
    assert "3 rejected" in text
    assert "nb 50.00" in text
    assert text.replace("\r\x1b[K", "").count("\x1b") == 0
    assert text.endswith("\r\x1b[K")


def test_time_left_leaves_out_compiling_and_what_was_done_before(monkeypatch: pytest.MonkeyPatch) -> None:
    now, compiled, screen = [100.0], [0.0], Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(meter, "_LIVE", 0.0)
    monkeypatch.setattr(meter.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(compiling, "compile_seconds", lambda: compiled[0])
    shown = meter.Meter("evaluate")
    now[0], compiled[0] = 160.0, 58.0  # a minute, nearly all of it the compiler's
    shown.update(1000, 0.5)
    assert "1,000 rows  500/s  50 %  2 s left" in screen.getvalue()
    resumed = meter.Meter("learn")
    resumed.begin(9_000, 0.9)
    now[0] = 162.0
    resumed.update(9_500, 0.95)
    assert "9,500 rows  250/s  95 %  2 s left" in screen.getvalue()
    resumed.update(9_990, 0.999)
    assert "99 %" in screen.getvalue()  # not 100: it is not the end


def test_progress_elsewhere_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    quiet = meter.Meter("learn", quiet=True)
    log = meter.Meter("learn")
    log.update(10)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(meter, "_LOGGED", 0.0)
    log.update(10)
    quiet.update(10)
    assert capsys.readouterr().err.startswith("learn  10 rows  ")


@pytest.mark.parametrize("text", ["1e6", "1_000_000", "1,000,000", "1000000.0"])
def test_numbers_of_rows(text: str) -> None:
    assert options.count(text) == 1_000_000


@pytest.mark.parametrize("text", ["-1", "1.5", "many", "nan", "inf", "1e30"])
def test_what_is_no_number_of_rows(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        options.count(text)


def test_json_has_no_nan() -> None:
    assert console.finite({"a": [float("nan"), float("inf"), 1.5, "x", None]}) == {
        "a": [None, None, 1.5, "x", None]
    }


def test_names_are_made_safe() -> None:
    assert clean("a\x1b]0;title\x07b\x1b[1;31mc\rd\u202ee\x9b31m") == "abcde31m"
    assert shortened("abcdefgh", 5) == "abcd…"


def test_places_are_checked_before_the_work(tmp_path: Path) -> None:
    check_writable(str(tmp_path / "new"))
    with pytest.raises(DataError, match="is a folder"):
        check_writable(str(tmp_path))
    with pytest.raises(DataError, match="no folder"):
        check_writable(str(tmp_path / "no" / "file"))


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.jsonl", "x.parquet"])
def test_a_sink_leaves_all_or_nothing(tmp_path: Path, name: str) -> None:
    path = tmp_path / name

    def write(fail: bool) -> None:
        with opened_sink(str(path)) as sink:
            sink.write({"a": [1.0, None], "b": ["x,\n", 'y"']})
            if fail:
                raise RuntimeError

    with pytest.raises(RuntimeError):
        write(fail=True)
    assert list(tmp_path.iterdir()) == []
    write(fail=False)
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_sinks_that_cannot_be(tmp_path: Path, capsysbinary: Any) -> None:
    with pytest.raises(DataError, match="cannot tell the format"), opened_sink(str(tmp_path / "x.zip")):
        pass
    with pytest.raises(DataError, match="standard output"), opened_sink("-", "parquet"):
        pass
    with opened_sink("-", "jsonl") as sink:
        sink.write({"a": [1.0, float("nan")]})
    lines = capsysbinary.readouterr().out.splitlines()
    assert [json.loads(line) for line in lines] == [{"a": 1.0}, {"a": None}]
