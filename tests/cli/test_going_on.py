"""Runs that are stopped and go on from their checkpoints."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.cli.invoke import bayou

from bayou.classifiers import NaiveBayes
from bayou.cli import meter
from bayou.training import batches, train


def _stopping(patched: pytest.MonkeyPatch, largest: int = 300) -> None:
    """From now on every run is stopped after its first batch."""
    patched.setattr(batches, "LARGEST", largest)
    patched.setattr(meter.Meter, "update", lambda *a, **k: signal.raise_signal(signal.SIGINT))


def test_learning_goes_on_from_its_checkpoint(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, place = tmp_path / "m.bayou", tmp_path / "ck"
    command = ["learn", folder / "mixed.csv", "-t", "class", "-m", "nb", "-o", out, "--checkpoint", place]
    with monkeypatch.context() as patched:
        _stopping(patched)
        stopped = bayou(*command, code=130)
        assert stopped.stderr.endswith(f"interrupted after 300 rows; `bayou resume {place}` goes on\n")
        assert not out.exists(), "half a model must not look like a whole one"
        assert "going on after 300 rows" in bayou("resume", place, code=130).stderr
    assert "going on after 600 rows" in bayou(*command).stderr
    assert out.read_bytes() == (folder / "m.bayou").read_bytes()
    out.unlink()
    assert "finished after 2,000 rows" in bayou("resume", place).stderr
    assert out.read_bytes() == (folder / "m.bayou").read_bytes()
    assert (
        "was made with --model nb, not with --model majority"
        in bayou(*command, "-m", "majority", code=2).stderr
    )
    assert "with no --rows, not with --rows 50" in bayou(*command, "-n", 50, code=2).stderr
    evaluate = ["evaluate", folder / "mixed.csv", "-t", "class", "-m", "nb", "--checkpoint", place]
    assert "belongs to `bayou learn`" in bayou(*evaluate, code=2).stderr


def test_a_checkpoint_is_refused_for_another_stream(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, moved = tmp_path / "ck", tmp_path / "moved.csv"
    command = ["-t", "class", "-m", "nb", "-o", tmp_path / "m.bayou", "--checkpoint", place]
    with monkeypatch.context() as patched:
        _stopping(patched)
        bayou("learn", folder / "mixed.csv", *command, code=130)
    moved.write_text((folder / "mixed.csv").read_text()[:-40])
    other = bayou("learn", moved, *command, code=1)
    assert other.stderr.splitlines()[-1].startswith("error: ")
    assert "is not the source this checkpoint was made from" in other.stderr
    moved.write_text((folder / "mixed.csv").read_text())
    bayou("learn", moved, *command)
    assert (tmp_path / "m.bayou").read_bytes() == (folder / "m.bayou").read_bytes()


def test_resume_needs_a_checkpoint_of_ours(tmp_path: Path) -> None:
    assert "holds no checkpoint" in bayou("resume", tmp_path, code=1).stderr
    assert "holds no checkpoint" in bayou("resume", tmp_path / "nowhere", code=1).stderr
    assert not (tmp_path / "nowhere").exists()
    path = tmp_path / "x.csv"
    path.write_text("a,c\n" + "1,p\n2,q\n" * 20)
    train(NaiveBayes(), {"path": path, "target": "c"}, tmp_path / "ck")
    assert "was not made by `bayou learn`" in bayou("resume", tmp_path / "ck", code=1).stderr
    said = bayou("learn", path, "-t", "c", "-o", tmp_path / "m", "--every", "soon", code=2).stderr
    assert said == "error: --every soon: give a number of rows (10000) or a time (5s, 2min)\n"


def _numbers(text: str) -> Any:
    """A result as JSON without what depends on the clock."""
    data = json.loads(text)
    for each in (data, *data["models"]):
        each.pop("seconds")
        each.pop("rows_per_second", None)
    return data


def test_an_evaluation_goes_on_from_its_checkpoint(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bits of every number, the curve and the confusion matrices: those of a run never stopped."""
    place, models = tmp_path / "ck", "nb,tree,reset(nb),no-change"
    command = ["evaluate", folder / "mixed.csv", "-t", "class", "-m", models, "--window", 150, "--quiet"]
    alone = bayou(*command, "--json", "--curve", tmp_path / "alone.csv").stdout
    saved = ["--checkpoint", place, "--every", 170, "--curve", tmp_path / "stopped.csv"]
    with monkeypatch.context() as patched:
        _stopping(patched, 230)
        stopped = bayou(*command, *saved, code=130)
        assert "`bayou resume" in stopped.stderr
        for _ in range(4):
            bayou("resume", place, "--quiet", code=130)
    resumed = bayou("resume", place, "--json", "--quiet").stdout
    assert _numbers(resumed) == _numbers(alone)
    assert (tmp_path / "stopped.csv").read_bytes() == (tmp_path / "alone.csv").read_bytes()
    again = bayou("resume", place, "--json", "--quiet").stdout
    assert _numbers(again) == _numbers(alone), "a finished one answers at once, and the same"
