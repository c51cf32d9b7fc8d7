"""The real data sets, with the row, attribute, class and missing counts of their README."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bayou.streams import open_stream

DATA = Path(__file__).parents[2].parent / "shared" / "data"
OPTIONS: dict[str, dict[str, Any]] = {
    "SMSSpamCollection.tsv.gz": {"format": "text"},
    "airlines.csv.gz": {"target": "delay"},
    "covtype.csv.gz": {"target": "Cover_Type"},
    "keystroke.csv.gz": {"target": "user"},
    "phishing.csv.gz": {"target": "is_phishing"},
    "adult-test.csv.gz": {"target": "class"},
    "adult-train.csv.gz": {"target": "class"},
}
_FOLDER = re.compile(r"^## .*\((\w+)/\)")
_ROW = re.compile(
    r"^\| (\S+\.\S+) \| (\d+) \| (\w+) \| (\d*) \| (\d+)(?: \(of (\d+) declared\))? \| (\d+) \|"
)


def listed() -> list[tuple[str, tuple[str, ...]]]:
    readme = DATA / "README.md"
    out, folder = [], ""
    for line in readme.read_text().splitlines() if readme.exists() else []:
        if match := _FOLDER.match(line):
            folder = match[1]
        elif match := _ROW.match(line):
            out.append((f"{folder}/{match[1]}", match.groups()[1:]))
    return out


@pytest.mark.skipif(not DATA.exists(), reason="the folder of real data sets is not here")
def test_the_readme_lists_what_is_there() -> None:
    assert {name for name, _ in listed()} == {str(path.relative_to(DATA)) for path in DATA.glob("*/*")}


@pytest.mark.skipif(not DATA.exists(), reason="the folder of real data sets is not here")
@pytest.mark.parametrize(("name", "counts"), listed())
def test_counts_of_the_readme(name: str, counts: tuple[str | None, ...]) -> None:
    rows, numeric, nominal, classes, declared, missing = counts
    seen, absent, total = set(), 0, 0
    with open_stream(DATA / name, **OPTIONS.get(Path(name).name, {})) as stream:
        while (part := stream.read(4_000)) is not None:
            total += len(part)
            absent += sum(column.null_count for column in part.columns.values())
            seen |= set(part.labels.unique().to_pylist())
        kinds = [column.kind for column in stream.columns.values()]
        if stream.vocabulary is not None:
            assert kinds == []
            kinds = ["numeric"] * len(stream.vocabulary)
        assert total == int(rows or 0)
        if numeric == "text":
            assert kinds == ["text"]
        else:
            assert kinds.count("numeric") == int(numeric or 0)
            assert kinds.count("nominal") == int(nominal or 0)
        assert len(seen) == int(classes or 0)
        assert None not in seen
        assert absent == int(missing or 0)
        if name.endswith((".arff", ".arff.gz")):
            assert len(stream.classes or ()) == int(declared or classes or 0)
