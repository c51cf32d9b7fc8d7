"""Every command, as a person types it."""

from __future__ import annotations

import csv
import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from tests.cli.invoke import bayou

from bayou import Threshold, classifiers
from bayou.classifiers import NaiveBayes
from bayou.cli import meter
from bayou.files import load
from bayou.streams import open_stream


def test_help_tells_commands_and_exit_codes() -> None:
    text = bayou("--help").stdout
    for (
        command
    ) in "demo evaluate compare learn predict explain inspect export merge models generate warm".split():
        assert command in text
        assert "Exit codes" in bayou(command, "--help").stdout
    assert "130" in text
    assert re.fullmatch(
        r"bayou 0\.1\.0 \(Python 3\.\S+, numba \S+, numpy \S+, pyarrow \S+\)\n", bayou("--version").stdout
    )
    assert bayou(code=2).output.count("Usage") == 1


def test_evaluate_needs_nothing_but_an_arff_file(tmp_path: Path) -> None:
    path = tmp_path / "tiny.arff"
    path.write_text("@relation r\n@attribute a {x,y}\n@attribute c {p,q}\n@data\n" + "x,p\ny,q\n" * 40)
    result = bayou("evaluate", path)
    assert "80 rows, 1 nominal column, target c" in result.stdout
    lines = {line.split()[0]: line.split() for line in reversed(result.stdout.splitlines()) if line}
    assert lines["auto"][1] == "95.00"
    assert "No model was named, so auto was used" in result.stdout
    assert "\nauto follows " in result.stdout
    assert lines["no-change"][1] == "0.00"
    assert {"accuracy", "kappa-T", "kappa-M", "log-loss"} <= set(lines["model"])
    assert "No model beats" not in result.stdout


def test_a_csv_without_target_lists_columns_and_a_guess(folder: Path) -> None:
    result = bayou("evaluate", folder / "mixed.csv", code=2)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: which column is the target? The columns are 'x0', 'x1'")
    assert "--target class" in line


def test_evaluate_several_models_as_json(folder: Path) -> None:
    models = "nb, nb(smoothing=0.5, prior=laplace), majority"
    result = bayou("evaluate", folder / "mixed.csv", "-t", "class", "-m", models, "--json", "--quiet")
    data = json.loads(result.stdout)
    assert result.stderr == ""
    assert [m["name"] for m in data["models"]] == [
        "nb",
        "nb(smoothing=0.5, prior=laplace)",
        "majority",
        "no-change",
    ]
    assert data["models"][1]["model"] == "NaiveBayes(smoothing=0.5, prior='laplace')"
    assert data["rows"] == 2000
    assert "curve" not in data["models"][0]


def test_evaluate_reads_standard_input_and_stops_at_rows(folder: Path) -> None:
    text = (folder / "mixed.csv").read_text()
    result = bayou("evaluate", "-", "-t", "class", "-m", "nb", "-n", "1e2", "--window", "10", stdin=text)
    assert "standard input: 100 rows" in result.stdout
    assert "last 10" in result.stdout


def test_evaluate_writes_curves_and_a_report(folder: Path, tmp_path: Path) -> None:
    curve, page = tmp_path / "curve.csv", tmp_path / "report.html"
    bayou(
        "evaluate",
        folder / "mixed.csv",
        "-t",
        "class",
        "-m",
        "nb",
        "--curve",
        curve,
        "--report",
        page,
        "--confusion",
    )
    lines = curve.read_text().splitlines()
    assert lines[0].startswith("model,rows,running_accuracy")
    assert [line.split(",")[:2] for line in lines[1:3]] == [["nb", "1000"], ["nb", "2000"]]
    assert page.read_text().startswith("<!doctype html>")
    assert "<polyline" in page.read_text()


def test_rows_without_a_label_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text("x,y\n" + "1,p\n2,n\n3,\n" * 20)
    told = bayou("evaluate", path, "-t", "y", "-m", "nb").stderr
    assert "20 of 60 rows have no label: they were neither scored nor learned" in told
    path.write_text("x,y\n" + "1,p\n2,n\n" * 20)
    assert "no label" not in bayou("evaluate", path, "-t", "y", "-m", "nb").stderr


def test_curves_on_standard_output_are_all_there_is(folder: Path) -> None:
    command = ("evaluate", folder / "mixed.csv", "-t", "class", "-m", "nb", "--curve", "-")
    lines = list(csv.DictReader(bayou(*command).stdout.splitlines()))
    assert {line["model"] for line in lines} == {"nb", "no-change", "majority"}
    assert "standard output" in bayou(*command, "--json", code=2).stderr


def test_evaluate_says_what_it_rejected(tmp_path: Path) -> None:
    path, letters = tmp_path / "x.csv", tmp_path / "letters.jsonl"
    path.write_text("a,c\n" + "1,p\n2,q\n" * 600 + "oops,p\n")
    result = bayou("evaluate", path, "-t", "c", "-m", "nb", code=1)
    assert "row 1200, column 'a'" in result.stderr
    assert "--nominal a" in result.stderr
    result = bayou("evaluate", path, "-t", "c", "-m", "nb", "--policy", "skip", "--dead-letters", letters)
    assert "rejected: 1 x not a number" in result.stderr
    assert json.loads(letters.read_text())["value"] == "oops"


def test_ctrl_c_shows_what_was_found_so_far(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: Any, **kwargs: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(meter.Meter, "update", interrupted)
    result = bayou("evaluate", folder / "mixed.csv", "-t", "class", "-m", "nb", code=130)
    assert "2,000 rows" in result.stdout or "1,000 rows" in result.stdout
    assert "interrupted after" in result.stderr


def test_ctrl_c_saves_what_was_learned(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meter.Meter, "update", lambda *a, **k: signal.raise_signal(signal.SIGINT))
    result = bayou(
        "learn", folder / "mixed.csv", "-t", "class", "-m", "nb", "-o", tmp_path / "part.bayou", code=130
    )
    assert "interrupted after" in result.stderr
    assert load(tmp_path / "part.bayou").started


def test_ctrl_c_elsewhere_leaves_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bayou.cli.specs.classifiers", interrupted)
    assert bayou("models", code=130).stderr == "interrupted\n"


def test_learn_equals_learning_in_python(folder: Path) -> None:
    with open_stream(folder / "mixed.csv", target="class") as stream:
        rows = stream.read(2000)
    assert rows is not None
    model = NaiveBayes()
    model.learn_batch(rows, rows.labels)
    assert load(folder / "m.bayou").refresh().digest() == model.refresh().digest()


@pytest.mark.parametrize("name", ["scored.csv", "scored.jsonl", "scored.parquet", "scored.csv.gz"])
def test_predict_writes_every_format(folder: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    result = bayou("predict", folder / "m.bayou", folder / "mixed.csv", "-o", out, "-t", "class")
    assert "2,000 rows scored" in result.stderr
    assert "accuracy" in result.stderr
    if name.endswith("parquet"):
        names = pyarrow.parquet.read_table(out).column_names
    else:
        with open_stream(out, target="") as stream:
            names = list(stream.columns)
            rows = stream.read(5000)
            assert rows is not None
            assert len(rows) == 2000
    assert names[-4:] == ["class", "prediction", "p(c0)", "p(c1)"]
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_predictions_are_the_models_own(folder: Path) -> None:
    result = bayou("predict", folder / "m.bayou", folder / "mixed.csv", "--only", "--quiet", "-n", 50)
    lines = result.stdout.splitlines()
    assert lines[0] == '"prediction","p(c0)","p(c1)"'
    with open_stream(folder / "mixed.csv", target="class") as stream:
        rows = stream.read(50)
    model = load(folder / "m.bayou")
    proba = model.proba(model.encode(rows))
    found = [[float(cell) for cell in line.split(",")[1:]] for line in lines[1:]]
    assert found == pytest.approx(proba, abs=1e-12)


def test_predict_reads_columns_as_the_model_learned_them(tmp_path: Path) -> None:
    """A column of digits that was nominal stays nominal."""
    train, new = tmp_path / "t.csv", tmp_path / "n.csv"
    train.write_text("day,c\n" + "1,p\n2,q\n" * 20)
    new.write_text("day,other\n1,5\n2,6\n")
    bayou("learn", train, "-t", "c", "-m", "nb", "--nominal", "day", "-o", tmp_path / "m.bayou")
    result = bayou("predict", tmp_path / "m.bayou", new, "--only", "-q")
    assert [line.split(",")[0] for line in result.stdout.splitlines()[1:]] == ['"p"', '"q"']
    piped = bayou("predict", tmp_path / "m.bayou", "-", "--only", stdin=new.read_text(), code=1)
    assert "nominal in the model" in piped.stderr


def test_predict_and_explain_know_the_columns_of_the_model(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    said = bayou("predict", folder / "m.bayou", other, code=1).stderr
    assert said.startswith("error: other.csv has none of the columns the model learned")
    other.write_text("x0,x1,b\n1,2,3\n")
    said = bayou("predict", folder / "m.bayou", other)
    assert "not in the file, taken as missing: n0, n1, n2, x2, x3, x4" in said.stderr
    told = bayou("explain", folder / "m.bayou", other).stdout
    assert "x0 = 1.0" in told
    assert "b = " not in told


def test_a_prediction_that_fails_leaves_no_file(folder: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("x0,x1\n" + "1,2\n" * 1500 + "oops,3\n")
    out = tmp_path / "scored.csv"
    bayou("predict", folder / "m.bayou", bad, "-o", out, code=1)
    assert [p.name for p in tmp_path.iterdir()] == ["bad.csv"]


def learn_moments(rows: Path, out: Path) -> None:
    bayou("learn", rows, "-t", "class", "-m", "nb(numeric=gaussian)", "-o", out, "-q")


def test_merge_equals_learning_all(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "mixed.csv").read_text().splitlines(keepends=True)
    for name, part in (("a", lines[1:701]), ("b", lines[701:])):
        (tmp_path / f"{name}.csv").write_text(lines[0] + "".join(part))
        learn_moments(tmp_path / f"{name}.csv", tmp_path / f"{name}.bayou")
    learn_moments(folder / "mixed.csv", tmp_path / "m.bayou")
    result = bayou("merge", tmp_path / "a.bayou", tmp_path / "b.bayou", "-o", tmp_path / "ab.bayou")
    assert "2 models merged" in result.stderr
    merged, whole = load(tmp_path / "ab.bayou"), load(tmp_path / "m.bayou")
    with open_stream(folder / "mixed.csv", target="class") as stream:
        rows = stream.read(200)
    ours, theirs = merged.proba(merged.encode(rows)), whole.proba(whole.encode(rows))
    assert ours == pytest.approx(theirs, abs=1e-10)


def test_inspect_tells_what_is_in_a_model(folder: Path) -> None:
    text = bayou("inspect", folder / "m.bayou").stdout
    assert "NaiveBayes()" in text
    assert "2: c0 " in text
    assert "5: x0, x1, x2, x3, x4" in text
    data = json.loads(bayou("inspect", folder / "m.bayou", "--json").stdout)
    assert data["rows"] == 2000
    assert data["nominal columns"] == ["n0", "n1", "n2"]


def test_inspect_tells_intervals_groups_levels_words_and_trees(tmp_path: Path) -> None:
    path, out = tmp_path / "x.csv", tmp_path / "m.bayou"
    rows = [f"{i % 10},{'red' if i % 10 < 3 else 'green' if i % 10 < 6 else 'blue'},{'no' if i % 10 < 6 else 'yes'}"
            for i in range(400)]  # fmt: skip
    path.write_text("size,colour,c\n" + "\n".join(rows) + "\n")
    bayou("learn", path, "-t", "c", "-m", "nb(numeric=gk, bins=modl, groups=modl)", "-o", out, "-q")
    text = bayou("inspect", out).stdout
    assert "classes          2: no 240 (60.0 %), yes 160 (40.0 %)" in text
    (line,) = [line for line in text.splitlines() if line.startswith("size")]
    assert "2 intervals: ≤ 5, > 5" in line
    (line,) = [line for line in text.splitlines() if line.startswith("colour")]
    assert "2 groups: {" in line
    assert "{green, red}" in line or "{red, green}" in line
    columns = {
        column["name"]: column for column in json.loads(bayou("inspect", out, "--json").stdout)["columns"]
    }
    assert columns["size"]["parts"][0] == {"part": "≤ 5", "weights": {"no": 240.0, "yes": 0.0}}
    assert 0.9 < columns["colour"]["level"] <= columns["colour"]["information"] <= 1.0
    bayou("learn", path, "-t", "c", "--ignore", "size", "-m", "tree(grace=20)", "-o", out, "-q")
    assert "\nroot\n  colour in {green, red}: " in bayou("inspect", out).stdout
    path.write_text("note,c\n" + "cheap pills,spam\nsee you,ham\n" * 20)
    bayou("learn", path, "-t", "c", "-m", "nb", "--text", "note", "-o", out, "-q")
    assert "\n  spam: cheap, pills\n" in bayou("inspect", out).stdout


def test_without_a_model_named_auto_learns_and_what_is_merged_is_naive_bayes(
    folder: Path, tmp_path: Path
) -> None:
    out, rows = tmp_path / "m.bayou", folder / "mixed.csv"
    told = bayou("learn", rows, "-t", "class", "-n", 300, "-o", out).stderr
    assert "No model was named, so auto was used" in told
    assert "auto follows " in told
    shown = bayou("inspect", out).stdout
    assert "\nWhom it follows, the greatest share first:\n" in shown
    told = json.loads(bayou("inspect", out, "--json").stdout)["candidates"]
    assert set(told) == set(load(out).record_)
    assert "whom the model follows" in _page(out, tmp_path).lower()
    said = bayou("merge", out, out, "-o", tmp_path / "two.bayou", code=1).stderr
    assert "with a model that merges, as --model nb" in said
    said = bayou("unlearn", out, rows, "-t", "class", "-o", tmp_path / "two.bayou", code=1).stderr
    assert "--model nb can" in said
    told = bayou("learn", rows, rows, "-t", "class", "-o", out).stderr
    assert "No model was named, so nb was used" in told
    assert type(load(out)).__name__ == "NaiveBayes"


def _page(model: Path, folder: Path) -> str:
    bayou("report", model, "-o", folder / "page.html")
    return (folder / "page.html").read_text(encoding="utf-8")


def test_rows_that_a_rule_leaves_unanswered_are_empty_cells(tmp_path: Path) -> None:
    rows, out, scored = tmp_path / "rows.csv", tmp_path / "m.bayou", tmp_path / "out.csv"
    rows.write_text("x,c\n" + "a,p\na,p\nb,p\nb,q\n" * 20)
    spec = "nb(decision=Abstain(0.7))"
    bayou("learn", rows, "-t", "c", "-m", spec, "-o", out, "-q")
    bayou("predict", out, rows, "-t", "c", "-o", scored, "-n", 4)
    answers = [line.split(",")[2].strip('"') for line in scored.read_text().splitlines()]
    assert answers == ["prediction", "p", "p", "", ""]
    found = json.loads(
        bayou("evaluate", rows, "-t", "c", "-m", "nb(decision=Abstain(cost=0.3))", "--json").stdout
    )
    assert 0 < found["models"][0]["cost"] < 0.3
    assert found["models"][0]["accuracy_answered"] > found["models"][0]["accuracy"]
    shown = bayou("evaluate", rows, "-t", "c", "-m", spec).stdout
    assert "answered  right if so" in shown


def test_inspect_refuses_what_is_no_model(folder: Path) -> None:
    result = bayou("inspect", folder / "mixed.csv", code=1)
    assert result.stderr.startswith("error: ")
    assert len(result.stderr.splitlines()) == 1
    assert "No such file" in bayou("inspect", folder / "nothing.bayou", code=1).stderr


def test_compare_tells_significance(folder: Path) -> None:
    result = bayou("compare", folder / "mixed.csv", "-t", "class", "-m", "nb,nb(smoothing=9)", "--folds", 3)
    assert "3-fold stratified cross-validation" in result.stdout
    assert "corrected resampled t-test on accuracy against nb" in result.stdout
    data = json.loads(
        bayou("compare", folder / "mixed.csv", "-t", "class", "-m", "nb", "--folds", 2, "--json", "-q").stdout
    )
    assert data["against"]["majority"]["mark"] == "worse"


def test_models_lists_every_classifier_with_its_options() -> None:
    text = bayou("models").stdout
    for name in classifiers.__all__:
        assert name in text
    assert "smoothing=1.0" in text
    data = json.loads(bayou("models", "nb", "--json").stdout)
    assert list(data) == ["nb"]
    assert data["nb"]["options"]["prior"]["default"] == "'empirical'"


def test_generate_is_seeded_and_knows_its_best(tmp_path: Path) -> None:
    one = bayou("generate", "sea(noise=0.2)", "-n", 50, "--seed", 3)
    two = bayou("generate", "sea(noise=0.2, seed=3)", "-n", 50)
    assert one.stdout == two.stdout
    assert len(one.stdout.splitlines()) == 51
    assert "80.00 %" in one.stderr
    assert bayou("generate", "sea", "-n", 50).stdout != one.stdout
    assert "--rows" in bayou("generate", "sea", "-o", tmp_path / "x.csv", code=2).stderr
    bayou("generate", "words(words=30)", "-n", 20, "-o", tmp_path / "w.jsonl", "-q")
    first = json.loads((tmp_path / "w.jsonl").read_text().splitlines()[0])
    assert set(first) == {"text", "class"}
    assert set(first["text"].split()) <= {f"w{i}" for i in range(30)}


def test_demo_tells_its_story() -> None:
    text = bayou("demo", "--rows", 4000).stdout
    for name in ("naive Bayes, reset on drift", "Hoeffding tree", "no-change", "majority"):
        assert f"\n{name} " in text
    for step in range(1, 8):
        assert f"\n{step}. " in f"\n{text}"
    one, merged, unlearned, never, resumed, straight = re.findall(r"digest.* ([0-9a-f]{16})\b", text)
    assert one == merged
    assert unlearned == never
    assert resumed == straight
    assert "signal 9 (kill -9)" in text
    page = Path(text[text.index("7. ") :].splitlines()[1])
    assert "naive Bayes, reset on drift" in page.read_text()
    shutil.rmtree(page.parent)


def test_explain_takes_a_row_from_anywhere(folder: Path) -> None:
    model = folder / "m.bayou"
    told = bayou("explain", model, folder / "mixed.csv", "--row", 3).stdout
    assert all(f"  {name} = " in told for name in ("x0", "n2"))
    told = bayou("explain", model, "-", stdin='{"x0": 1.5, "n0": "v1"}').stdout
    assert "x0 = 1.5" in told
    assert "n2 = " not in told
    data = json.loads(bayou("explain", model, "-", "--json", stdin='{"x0": 1.5, "n0": "v1"}').stdout)
    assert data["values"] == {"x0": 1.5, "n0": "v1"}
    assert data["base"] + sum(data["terms"].values()) + data["together"] == pytest.approx(data["log_odds"])
    assert "not JSON" in bayou("explain", model, "-", stdin="{", code=1).stderr
    assert "none of the columns" in bayou("explain", model, "-", stdin='{"zz": 1}', code=1).stderr
    assert "no row 9" in bayou("explain", model, "-", "--row", 9, stdin="{}", code=1).stderr
    far = bayou("explain", model, folder / "mixed.csv", "--row", 5000, code=1).stderr
    assert "no row 5000" in far


def test_predict_decides_as_the_model_does(tmp_path: Path) -> None:
    rows, model = tmp_path / "rows.csv", NaiveBayes(decision=Threshold("p", 0.1))
    rows.write_text("day,c\n" + "1,p\n" + "1,q\n" * 5)
    bayou("learn", rows, "-t", "c", "-m", "nb(decision=Threshold(p, 0.1))", "-o", tmp_path / "m.bayou")
    result = bayou("predict", tmp_path / "m.bayou", rows, "--only", "-q")
    assert {line.split(",")[0] for line in result.stdout.splitlines()[1:]} == {'"p"'}
    assert model.fit([[1.0]] * 6, ["p", *"qqqqq"]).predict([[1.0]]) == ["p"]


def test_a_model_without_classes_and_an_address_are_told_apart_from_bugs(
    tmp_path: Path, folder: Path
) -> None:
    NaiveBayes().save(tmp_path / "m.bayou")
    assert "no class" in bayou("predict", tmp_path / "m.bayou", folder / "mixed.csv", code=1).stderr
    address = "https://example.org/rows.csv"
    said = bayou("learn", address, "-t", "c", "-m", "nb", "-o", tmp_path / "m.bayou", code=1).stderr
    assert f"not addresses: '{address}'" in said


def test_whatever_is_wrong_with_an_option_ends_with_2(folder: Path, tmp_path: Path) -> None:
    rows, out = folder / "mixed.csv", tmp_path / "m.bayou"
    (tmp_path / "rows.xyz").write_text("a,c\n1,p\n")
    (tmp_path / "rows.libsvm").write_text("1 1:2\n")
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n')
    for wrong in (
        (rows, "-t", "nosuch"),
        (rows, "-t", "class", "--format", "nosuch"),
        (rows, "-t", "class", "--nominal", "nosuch"),
        (rows, "-t", "class", "--ignore", "class"),
        (rows, "-t", "class", "--nominal", "x0", "--numeric", "x0"),
        (rows, "-t", "class", "--dead-letters", rows),
        (rows, "-t", "class", "--every", "never"),
        (rows, "-t", "class", "--rows", "many"),
        (rows, "-t", "class", "--policy", "nosuch"),
        (rows, "-t", "class", "-m", "nosuch"),
        (rows, "-t", "class", "-m", "nb(smoothing=-1)"),
        (rows, "-t", "class", "-m", "nb(numeric=nosuch)"),
        (rows, "-t", "class", "-m", "bagging(tree(grace=0))"),
        (tmp_path / "rows.xyz", "-t", "c"),
        (tmp_path / "rows.libsvm", "-t", "1"),
        (tmp_path / "rows.jsonl", "-t", "c"),
    ):
        said = bayou("learn", *wrong, "-o", out, code=2)
        assert said.stdout == ""
        assert "rror: " in said.stderr
    bayou("predict", folder / "m.bayou", rows, "-o", tmp_path / "out.nosuch", code=2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["rows.jsonl", "rows.libsvm", "rows.xyz"]


def test_a_result_never_overwrites_what_is_read(folder: Path, tmp_path: Path) -> None:
    data, model = tmp_path / "own.csv", tmp_path / "own.bayou"
    data.write_bytes((folder / "mixed.csv").read_bytes())
    bayou("learn", data, "-t", "class", "-m", "nb", "-o", model, "-q")
    (tmp_path / "link.csv").symlink_to(data)
    before = data.read_bytes(), model.read_bytes()
    for command in (
        ("learn", data, "-t", "class", "-m", "nb", "-o", data),
        ("learn", data, "-t", "class", "-m", "nb", "-o", tmp_path / "link.csv"),
        ("evaluate", data, "-t", "class", "-m", "nb", "--curve", data),
        ("evaluate", data, "-t", "class", "-m", "nb", "--report", data),
        ("predict", model, data, "--only", "-o", data),
        ("report", model, "-o", model),
    ):
        assert "would overwrite" in bayou(*command, code=2).stderr
    assert (data.read_bytes(), model.read_bytes()) == before


def test_data_and_models_in_each_others_places_are_named(folder: Path, tmp_path: Path) -> None:
    data, model = folder / "mixed.csv", folder / "m.bayou"
    assert (
        f"{data}: not a bayou model" in bayou("merge", model, data, "-o", tmp_path / "x.bayou", code=1).stderr
    )
    assert "m.bayou is a model, not rows" in bayou("predict", model, model, code=2).stderr
    assert "one file at a time" in bayou("evaluate", folder, "-t", "class", code=1).stderr


def test_what_is_wrong_with_files_ends_with_1(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("a,c\n" + "1,p\n" * 5 + "oops,q\n")
    (tmp_path / "no.bayou").write_bytes(b"nothing")
    bayou("learn", tmp_path / "none.csv", "-t", "c", "-m", "nb", "-o", tmp_path / "m.bayou", code=1)
    bayou("learn", tmp_path / "bad.csv", "-t", "c", "-m", "nb", "-o", tmp_path / "m.bayou", code=1)
    bayou("inspect", tmp_path / "no.bayou", code=1)
    bayou(
        "learn",
        folder / "mixed.csv",
        "-t",
        "class",
        "-m",
        "nb",
        "-o",
        tmp_path / "nowhere" / "m.bayou",
        code=1,
    )


def test_explain_refuses_a_row_that_repeats_a_key(folder: Path) -> None:
    said = bayou("explain", folder / "m.bayou", "-", stdin='{"x0": 1, "x0": 2}', code=1).stderr
    assert "column 'x0': a key that is repeated" in said


def test_models_speak_plainly() -> None:
    text = bayou("models").stdout
    assert "$" not in text
    assert "\\" not in text
    assert "As in" not in text
    fanc, collection = (json.loads(bayou("models", name, "--json").stdout) for name in ("fanc", "collection"))
    assert collection["collection"]["options"]["order"] == fanc["fanc"]["options"]["order"]
    assert "P(c) ∏_i (P(x_i|c) + Σ_(j<i) P(x_i|c,x_j))" in fanc["fanc"]["about"]
    fan = json.loads(bayou("models", "fan", "--json").stdout)["fan"]["options"]["numeric"]["about"]
    assert fan.startswith("How numeric columns are cut")
    many = json.loads(bayou("models", "read-many", "--json").stdout)["read-many"]["options"]["prior"]["about"]
    assert many.startswith("Class prior: ")
    assert many.endswith("; AODE has a prior of its own.")


def test_inspect_marks_information_that_was_not_counted(folder: Path, tmp_path: Path) -> None:
    learn_moments(folder / "mixed.csv", tmp_path / "m.bayou")
    text = bayou("inspect", tmp_path / "m.bayou").stdout
    assert "so much the means of the classes tell at the least" in text
    columns = json.loads(bayou("inspect", tmp_path / "m.bayou", "--json").stdout)["columns"]
    assert {c["name"]: c["information_from"] for c in columns if c["name"] in ("x0", "n0")} == {
        "x0": "means",
        "n0": "counts",
    }


@pytest.mark.parametrize(
    ("options", "files"),
    [
        (["--to", "json"], {"m.json"}),
        (["--to", "sql", "--dialect", "sqlite", "--table", "visits"], {"m.sql"}),
        (["--to", "c", "--float"], {"m.h", "m.c"}),
        (["--to", "js"], {"m.mjs", "m.html"}),
        (["--to", "onnx"], {"m.onnx"}),
    ],
)
def test_export_writes_files_beside_the_model_or_where_it_is_told(
    tmp_path: Path, options: list[str], files: set[str]
) -> None:
    NaiveBayes().fit([[1.0], [2.0], [5.0]], ["a", "a", "b"]).save(tmp_path / "m.bayou")
    (tmp_path / "there").mkdir()
    bayou("export", str(tmp_path / "m.bayou"), *options, "--out", str(tmp_path / "there"))
    assert {path.name for path in (tmp_path / "there").iterdir()} == files
    bayou("export", str(tmp_path / "m.bayou"), *options)
    assert files <= {path.name for path in tmp_path.iterdir()}


def test_python_runs_the_command_line_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "bayou", "--version"], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.startswith("bayou ")
