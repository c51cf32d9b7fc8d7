"""Models added up, and rows taken out again."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.invoke import bayou

from bayou.files import load
from bayou.streams import open_stream


def _learned(home: Path, name: str, text: str, *options: str) -> Path:
    (home / f"{name}.csv").write_text(text)
    bayou("learn", home / f"{name}.csv", "-t", "c", "-m", "nb", "-o", home / f"{name}.bayou", "-q", *options)
    return home / f"{name}.bayou"


def test_strangers_are_merged_only_by_force(tmp_path: Path) -> None:
    one = _learned(tmp_path, "one", "a,b,c\n1,x,p\n2,y,q\n")
    other = _learned(tmp_path, "other", "d,c\n1,p\n2,q\n")
    sorted_ = _learned(tmp_path, "sorted", "a,b,c\n1,x,r\n2,y,s\n")
    out = tmp_path / "out.bayou"
    said = bayou("merge", one, other, "-o", out, code=2).stderr
    assert "other.bayou has no column in common with the models before it ('d'; they know 'a', 'b')" in said
    assert "--force" in said
    said = bayou("merge", one, sorted_, "-o", out, code=2).stderr
    assert (
        "sorted.bayou has no class in common with the models before it ('r', 's'; they know 'p', 'q')" in said
    )
    assert not out.exists()
    told = bayou("merge", one, other, sorted_, "-o", out, "--force").stderr
    assert "only in other.bayou: column 'd'" in told
    assert "not in other.bayou: columns 'a', 'b'" in told
    assert "only in sorted.bayou: classes 'r', 's'" in told
    assert load(out).labels() == ["p", "q", "r", "s"]


def test_what_differs_a_little_is_merged_and_told(tmp_path: Path) -> None:
    one = _learned(tmp_path, "one", "a,b,c\n1,x,p\n2,y,q\n")
    other = _learned(tmp_path, "other", "a,c\n1,p\n2,r\n")
    told = bayou("merge", one, other, "-o", tmp_path / "out.bayou").stderr.splitlines()
    assert told[1:] == [
        "not in other.bayou: column 'b'",
        "only in other.bayou: class 'r'",
        "not in other.bayou: class 'q'",
    ]


def test_rows_unlearned_were_never_seen(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "mixed.csv").read_text().splitlines(keepends=True)
    gone, kept = tmp_path / "gone.csv", tmp_path / "kept.csv"
    gone.write_text(lines[0] + "".join(lines[501:901]))
    kept.write_text("".join(lines[:501] + lines[901:]))
    for rows, model in ((kept, "kept"), (folder / "mixed.csv", "m")):
        moments = ("-m", "nb(numeric=gaussian)")
        bayou("learn", rows, "-t", "class", *moments, "-o", tmp_path / f"{model}.bayou", "-q")
    out = tmp_path / "out.bayou"
    told = bayou("unlearn", tmp_path / "m.bayou", gone, "-t", "class", "-o", out)
    assert "400 rows taken out of NaiveBayes(numeric='gaussian'), saved as " in told.stderr
    ours, theirs = load(out), load(tmp_path / "kept.bayou")
    with open_stream(folder / "mixed.csv", target="class") as stream:
        rows = stream.read(200)
    assert ours.proba(ours.encode(rows)) == pytest.approx(theirs.proba(theirs.encode(rows)), abs=1e-9)


def test_what_cannot_be_unlearned_is_told_and_nothing_is_written(folder: Path, tmp_path: Path) -> None:
    out, model = tmp_path / "out.bayou", folder / "m.bayou"
    other = tmp_path / "other.csv"
    other.write_text("x0,class\n1,new\n")
    assert "never learned" in bayou("unlearn", model, other, "-t", "class", "-o", out, code=1).stderr
    other.write_text("zz,class\n1,c0\n")
    assert "none of the columns" in bayou("unlearn", model, other, "-t", "class", "-o", out, code=1).stderr
    other.write_text("x0,class\n")
    assert "has no rows" in bayou("unlearn", model, other, "-t", "class", "-o", out, code=1).stderr
    tree = tmp_path / "tree.bayou"
    bayou("learn", folder / "mixed.csv", "-t", "class", "-m", "wnb", "-o", tree, "-q", "-n", 200)
    assert "unlearn" in bayou("unlearn", tree, folder / "mixed.csv", "-t", "class", "-o", out, code=1).stderr
    assert not out.exists()
