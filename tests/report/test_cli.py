"""`bayou report` and `bayou evaluate --report`, as a person types them."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from tests.cli.invoke import bayou

from bayou.ensembles import ResetOnDrift
from bayou.evaluate.drifts import Drifts


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report")
    bayou("generate", "mixed", "--rows", "2e3", "--out", path / "mixed.csv", "--seed", 1)
    bayou("learn", path / "mixed.csv", "--target", "class", "-m", "nb", "--out", path / "m.bayou")
    return path


def test_a_model_file_becomes_a_page_beside_it(folder: Path) -> None:
    said = bayou("report", folder / "m.bayou").stderr
    page = (folder / "m.html").read_text(encoding="utf-8")
    assert "m.html" in said
    assert "What each attribute says" in page
    assert "2,000" in page
    assert bayou("report", folder / "m.bayou", "--out", folder / "other.html", "-q").stderr == ""
    assert (folder / "other.html").read_text(encoding="utf-8") == page


def test_a_description_becomes_a_page_without_the_model(folder: Path) -> None:
    bayou("export", folder / "m.bayou", "--to", "json", "--out", folder)
    said = bayou("report", folder / "m.json", "--out", folder / "described.html").stderr
    page = (folder / "described.html").read_text(encoding="utf-8")
    described = json.loads((folder / "m.json").read_text(encoding="utf-8"))
    assert "described.html" in said
    tables = [node for node in described["nodes"] if node["op"] == "table"]
    assert tables
    for node in tables:
        cell = described["cells"][node["cells"][0]]
        kind = "numeric" if cell["op"] == "interval" else "nominal"
        assert f"<caption>{described['columns'][kind][cell['column']]['name']}" in page
        assert f'data-value="{node["values"][0][0]!r}"' in page


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not JSON"),
        ("[]", "no description"),
        ('{"format": "bayou scorer", "version": 2}', "version 1"),
        ('{"format": "bayou scorer", "version": 1}', "damaged"),
    ],
)
def test_what_is_no_description_is_told(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "m.json").write_text(text)
    assert why in bayou("report", tmp_path / "m.json", code=1).stderr
    assert not (tmp_path / "m.html").exists()


def test_an_evaluation_with_its_figures_and_command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    args = [
        "evaluate",
        folder / "mixed.csv",
        "-t",
        "class",
        "-m",
        "nb",
        "--report",
        folder / "e.html",
        "--json",
    ]
    monkeypatch.setattr(sys, "argv", ["bayou", *map(str, args), "-m", "nb(smoothing=0.5)"])
    told = json.loads(bayou(*args, "-m", "nb(smoothing=0.5)").stdout)
    page = (folder / "e.html").read_text(encoding="utf-8")
    for model in told["models"]:
        for name in ("accuracy", "kappa", "log_loss", "calibration_error"):
            assert f'data-value="{model[name]!r}"' in page
    command = re.search(r"<pre[^>]*><code>(.*?)</code>", page)
    assert command is not None
    assert command[1].startswith("bayou evaluate ")
    assert command[1].endswith("-m &#x27;nb(smoothing=0.5)&#x27;")


def test_a_page_that_cannot_be_written_is_told_before_the_work(folder: Path) -> None:
    said = bayou(
        "evaluate",
        folder / "mixed.csv",
        "-t",
        "class",
        "-m",
        "nb",
        "--report",
        folder / "no" / "e.html",
        code=1,
    )
    assert "there is no folder" in said.stderr
    assert said.stdout == ""
    assert (
        "there is no folder"
        in bayou("report", folder / "m.bayou", "-o", folder / "no" / "x.html", code=1).stderr
    )


def test_drifts_are_remembered_by_the_row_they_were_noticed_at() -> None:
    model = ResetOnDrift()
    drifts = Drifts({"reset": model, "other": object()})
    for i in range(2000):
        model.learn_one({"x": i % 2}, (i % 2 == 0) == (i < 1000))
        if i % 100 == 99:
            drifts.collect(i + 1)
    assert list(drifts.rows) == ["reset"]
    assert len(drifts.rows["reset"]) == model.drifts == 1
    assert drifts.rows["reset"] == model.drift_rows
    assert 1000 < drifts.rows["reset"][0] <= 1200
