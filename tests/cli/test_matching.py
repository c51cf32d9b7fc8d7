"""Rows that have little or nothing of what a model learned: an error, or a warning that quiet does not silence."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet
import pytest
from tests.cli.invoke import bayou

from bayou.files import load


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models of words: from columns of numbers, from text, from sparse rows."""
    home = tmp_path_factory.mktemp("words")
    (home / "counts.csv").write_text("a,b,c\n" + "1,2,x\n2,1,y\n" * 3)
    (home / "text.csv").write_text("text,c\n" + "a b,x\nb c,y\n" * 3)
    (home / "sparse.arff").write_text(
        "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute c {x,y}\n@data\n"
        + "{0 1,2 x}\n{1 2,2 y}\n" * 3
    )
    bayou("learn", home / "counts.csv", "-t", "c", "-m", "mnb", "-o", home / "counts.bayou", "-q")
    bayou(
        "learn", home / "text.csv", "-t", "c", "--text", "text", "-m", "mnb", "-o", home / "text.bayou", "-q"
    )
    bayou("learn", home / "sparse.arff", "-m", "mnb", "-o", home / "sparse.bayou", "-q")
    return home


@pytest.mark.parametrize("model", ["counts", "text", "sparse"])
@pytest.mark.parametrize("command", ["predict", "explain"])
def test_models_of_words_know_their_columns_too(
    words: Path, model: str, command: str, tmp_path: Path
) -> None:
    typo = tmp_path / "typo.csv"
    typo.write_text("aa,txet\n1,hello\n")
    said = bayou(command, words / f"{model}.bayou", typo, code=1)
    assert "typo.csv has none of the" in said.stderr
    assert said.stdout == ""
    known = tmp_path / "known.csv"
    known.write_text("a,b,text\n1,2,a b\n")
    assert bayou(command, words / f"{model}.bayou", known).stdout


def test_a_sparse_stream_of_other_words(words: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.arff"
    other.write_text("@relation r\n@attribute q numeric\n@attribute r numeric\n@data\n{0 1}\n{1 2}\n")
    assert "none of the words" in bayou("predict", words / "sparse.bayou", other, code=1).stderr


def test_many_columns_lacking_is_a_warning_also_for_the_quiet(folder: Path, tmp_path: Path) -> None:
    few, most = tmp_path / "few.csv", tmp_path / "most.csv"
    few.write_text("x0,x1,n0\n1,2,v1\n")
    most.write_text("x0,x1,x2,x3,n0,n1\n1,2,3,4,v1,v1\n")
    for command in ("predict", "explain"):
        warned = bayou(command, folder / "m.bayou", few, "-q").stderr
        assert warned.startswith("warning: 5 of the 8 columns the model learned are not in the file")
        assert bayou(command, folder / "m.bayou", most, "-q").stderr == ""
        assert "taken as missing: n2, x4" in bayou(command, folder / "m.bayou", most).stderr


def test_a_file_without_rows_is_no_model_and_no_evaluation(folder: Path, tmp_path: Path) -> None:
    head = tmp_path / "head.csv"
    head.write_text((folder / "mixed.csv").read_text().splitlines()[0] + "\n")
    out = tmp_path / "m.bayou"
    for command in (("learn", "-o", out), ("evaluate",), ("compare",)):
        said = bayou(command[0], head, "-t", "class", *command[1:], code=1)
        assert "has no rows" in said.stderr
        assert said.stdout == ""
    assert not out.exists()
    bare = tmp_path / "bare.csv"
    bare.write_text("a,c\n1,\n2,\n")
    assert "no row has a label" in bayou("learn", bare, "-t", "c", "-m", "nb", "-o", out, code=1).stderr
    assert "no row has a label" in bayou("evaluate", bare, "-t", "c", "-m", "nb", code=1).stderr
    assert not out.exists()
    assert "2 rows were rejected" in bayou(
        "learn", _misfits(tmp_path), "-t", "c", "-m", "nb", "-o", out, "--policy", "skip", "--numeric", "a", code=1
    ).stderr  # fmt: skip


def _misfits(home: Path) -> Path:
    path = home / "misfits.csv"
    path.write_text("a,c\nx,p\ny,q\n")
    return path


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_scoring_no_rows_still_names_the_columns(folder: Path, tmp_path: Path, name: str) -> None:
    head = tmp_path / "head.csv"
    head.write_text((folder / "mixed.csv").read_text().splitlines()[0] + "\n")
    bayou("predict", folder / "m.bayou", head, "-o", tmp_path / name, "-t", "class")
    if name.endswith("csv"):
        (found,) = csv.reader((tmp_path / name).read_text().splitlines())
    else:
        found = pyarrow.parquet.read_schema(tmp_path / name).names
    assert found[-4:] == ["class", "prediction", "p(c0)", "p(c1)"]


def test_numbers_taken_for_classes_are_told(tmp_path: Path) -> None:
    path, out = tmp_path / "x.csv", tmp_path / "m.bayou"
    rows = [f"{i % 7},{i % 90}" for i in range(1_000)] + [f"{i % 7},{i}" for i in range(300)]
    path.write_text("a,price\n" + "\n".join(rows) + "\n")
    warning = "warning: the target price has 300 different numbers, and each was taken as a class of its own"
    assert warning in bayou("learn", path, "-t", "price", "-m", "nb", "-o", out, "-q").stderr
    assert warning in bayou("evaluate", path, "-t", "price", "-m", "majority", "-q").stderr
    assert bayou("learn", path, "-t", "price", "-m", "nb", "--nominal", "price", "-o", out, "-q").stderr == ""


def test_a_target_that_is_a_quantity_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path, out = tmp_path / "x.csv", tmp_path / "m.bayou"
    path.write_text("a,price\n" + "".join(f"{i % 7},{i * 1.37:.2f}\n" for i in range(400)))
    for command in (("learn", "-o", out), ("evaluate",), ("compare",), ("learn", "-o", out, "-j", 2)):
        said = bayou(command[0], path, "-t", "price", *command[1:], code=1).stderr
        assert "column 'price': the target is a quantity, not a class: 400 different numbers" in said
        assert "--nominal price" in said
    assert not out.exists()


def test_the_advice_about_too_many_classes_can_be_typed(tmp_path: Path) -> None:
    path, out = tmp_path / "x.csv", tmp_path / "m.bayou"
    path.write_text("a,c\n" + "".join(f"{i % 7},k{i}\n" for i in range(10_001)))
    said = bayou("learn", path, "-t", "c", "-m", "majority", "-o", out, code=1).stderr
    assert 'as in --model "nb(schema=Declared(max_classes=100000))"' in said
    bayou("learn", path, "-t", "c", "-m", "majority(schema=Declared(max_classes=100000))", "-o", out)
    assert len(load(out).labels()) == 10_001


def test_dates_are_learned_as_parts_and_told_once(tmp_path: Path) -> None:
    path, out = tmp_path / "x.csv", tmp_path / "m.bayou"
    path.write_text("when,a,c\n" + "".join(f"2026-01-{1 + i % 28:02},{i},{'pq'[i % 2]}\n" for i in range(60)))
    said = bayou("learn", path, "-t", "c", "-m", "nb", "-o", out).stderr
    assert said.startswith("warning: dates in 'when' are learned as seconds (a trend) and as .hour")
    assert said.count("dates in 'when'") == 1
    assert "--nominal when" in said
    assert "1 numeric + 1 date columns" in said
    assert {"when", "when.weekday", "when.month", "a"} == {*load(out).schema_.place}
    assert "dates in" not in bayou("learn", path, "-t", "c", "-m", "nb", "-o", out, "-q").stderr
    both = bayou("evaluate", path, "-t", "c", "-m", "nb,wnb", "--json").stderr
    assert both.count("dates in 'when'") == 1
    shards = bayou("learn", path, path, "-t", "c", "-o", out, "-j", 2).stderr
    assert shards.count("dates in 'when'") == 1
    said = bayou("predict", out, path, "-o", tmp_path / "out.csv").stderr
    assert "60 rows scored" in said
    assert "not in the file" not in said
    assert "dates in" not in said
    assert (tmp_path / "out.csv").read_text().splitlines()[1].startswith('"2026-01-01",0,"p",')
    explained = bayou("explain", out, path, "--row", 3).stdout
    assert "when = 2026-01-04  -0.06" in explained  # all that the date tells
    (tmp_path / "row.json").write_text('{"when": "2026-01-04", "a": 3, "c": "p"}')
    assert bayou("explain", out, tmp_path / "row.json").stdout == explained.replace("a = 3.0", "a = 3  ")
    for word in ("nominal", "ignore"):
        assert (
            "dates in"
            not in bayou("learn", path, "-t", "c", "-m", "nb", f"--{word}", "when", "-o", out).stderr
        )
        assert "when.month" not in load(out).schema_.place


def test_a_file_without_any_date_is_read_as_the_model_learned_it(tmp_path: Path) -> None:
    path, out, later = tmp_path / "x.csv", tmp_path / "m.bayou", tmp_path / "y.csv"
    path.write_text(
        "when,c\n" + "".join(f"2026-01-{1 + i % 28:02}T1{i % 2}:00,{'pq'[i % 2]}\n" for i in range(60))
    )
    bayou("learn", path, "-t", "c", "-m", "nb", "-o", out, "-q")
    later.write_text('when\n""\n' + "?\n" * 1000 + "2026-02-01T10:00\n")
    lines = bayou("predict", out, later, "-q").stdout.splitlines()
    assert lines[-1].startswith('"2026-02-01T10:00","p",')
    later.write_text("when\n2026-02-01T10:00\n2026-02-01T10:00\nnever\n")
    said = bayou("predict", out, later, "-o", tmp_path / "out.csv", code=1).stderr
    assert "line 4, row 2, column 'when': not a date: 'never'" in said
    assert "--nominal when" in said
    said = bayou("predict", out, later, "-o", tmp_path / "out.csv", "--policy", "missing").stderr
    assert "rejected: 1 x not a date" in said


def test_dates_in_other_forms_are_told(tmp_path: Path) -> None:
    path, out = tmp_path / "x.csv", tmp_path / "m.bayou"
    path.write_text("when,a,c\n" + "".join(f"{1 + i % 28}/1/2026,{i},{'pq'[i % 2]}\n" for i in range(60)))
    said = bayou("learn", path, "-t", "c", "-m", "nb", "-o", out).stderr
    assert said.startswith("warning: column 'when' looks like dates, and is read as names")
    assert said.count("looks like dates") == 1
    assert "--ignore when" in said
    assert (
        "like dates" not in bayou("learn", path, "-t", "c", "-m", "nb", "--nominal", "when", "-o", out).stderr
    )
    assert (
        "like dates" not in bayou("learn", path, "-t", "c", "-m", "nb", "--ignore", "when", "-o", out).stderr
    )
    shards = bayou("learn", path, path, "-t", "c", "-o", out, "-j", 2).stderr
    assert shards.count("looks like dates") == 1
    assert "Warning:" not in shards  # a line of Python's
    assert "like dates" not in bayou("predict", out, path, "-o", tmp_path / "out.csv").stderr


def test_formulas_can_be_made_harmless(folder: Path, tmp_path: Path) -> None:
    rows, model = tmp_path / "rows.csv", tmp_path / "m.bayou"
    rows.write_text('=A1,n,c\n"=HYPERLINK(""http://x"")",-1,@p\n+1+1,2,-q\n"-x",3,@p\nplain,-4,-q\n')
    bayou("learn", rows, "-t", "c", "-m", "nb", "-o", model, "-q")
    plain = bayou("predict", model, rows, "-q").stdout
    assert '"=HYPERLINK' in plain
    safe = list(csv.reader(bayou("predict", model, rows, "-q", "--escape-formulas").stdout.splitlines()))
    assert safe[0][:2] == ["'=A1", "n"]
    assert [line[0] for line in safe[1:]] == ['\'=HYPERLINK("http://x")', "'+1+1", "'-x", "plain"]
    assert [line[1] for line in safe[1:]] == ["-1", "2", "3", "-4"]  # numbers are numbers
    assert {line[3] for line in safe[1:]} <= {"'@p", "'-q"}
    out = tmp_path / "out.jsonl"
    bayou("predict", model, rows, "-q", "--escape-formulas", "-o", out)
    assert json.loads(out.read_text().splitlines()[1])["=A1"] == "+1+1"  # JSON says that it is text


def test_explain_prints_hostile_names_on_one_line_each(tmp_path: Path) -> None:
    rows, model = tmp_path / "rows.jsonl", tmp_path / "m.bayou"
    name, value, label = "\x1b[2Jevil\nP = 1.0", "\x9b31mred\u202e", "\x1b]0;title\x07p"
    records = [{name: value, "x": i, "c": label if i % 2 else "q"} for i in range(20)]
    rows.write_text("".join(json.dumps(record) + "\n" for record in records))
    bayou("learn", rows, "-t", "c", "-m", "nb", "-o", model, "-q")
    for args in ((), ("--json",)):
        told = bayou("explain", model, rows, "-q", *args).stdout
        assert not {*told} & {*"\x1b\x9b\x07\u202e"}
    lines = bayou("explain", model, rows, "-q").stdout.splitlines()
    assert len(lines) == 5
    assert any(line.startswith("  evil P = 1.0 = 31mred") for line in lines)
