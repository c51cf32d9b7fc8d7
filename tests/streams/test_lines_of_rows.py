"""An error about a row that a model refuses names the line of the file, however the file is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bayou import Declared, NaiveBayes, open_stream, prequential
from bayou.errors import DataError
from bayou.streams import limits
from bayou.training import Learning
from bayou.training.loop import feed

BAD = 700  # the row with the third class


def csv(path: Path) -> int:
    """Quoted cells over two lines, a blank line, and a row that is too short; the line of the row."""
    lines = ["a,note,y"]
    for i in range(1000):
        note = '"two\nlines"' if i % 3 == 0 else "one"
        lines += [f"{i},{note},{'r' if i == BAD else 'pq'[i % 2]}"] + [""] * (i == 10) + ["short"] * (i == 20)
    path.write_text("\n".join(lines) + "\n")
    return 1 + path.read_text().splitlines().index(f"{BAD},one,r")


def arff(path: Path) -> int:
    rows = [f"{i},{'r' if i == BAD else 'pq'[i % 2]}\n" + "% a remark\n" * (i == 5) for i in range(1000)]
    path.write_text("@relation r\n@attribute a real\n@attribute y string\n\n@data\n" + "".join(rows))
    return 1 + path.read_text().splitlines().index(f"{BAD},r")


def jsonl(path: Path) -> int:
    rows = [
        json.dumps({"a": i, "y": "r" if i == BAD else "pq"[i % 2]}) + "\n" * (1 + (i == 7))
        for i in range(1000)
    ]
    path.write_text("\n".join(rows) + "\n")
    return 1 + next(i for i, line in enumerate(path.read_text().splitlines()) if '"r"' in line)


@pytest.mark.parametrize("chunk", [1 << 10, limits.CHUNK])
@pytest.mark.parametrize("block", [1, 64, 999])
@pytest.mark.parametrize("write", [csv, arff, jsonl])
def test_a_class_too_many(tmp_path: Path, monkeypatch, write, block: int, chunk: int) -> None:
    monkeypatch.setattr(limits, "CHUNK", chunk)
    path = tmp_path / f"rows.{write.__name__}"
    line = write(path)
    model = NaiveBayes(schema=Declared(max_classes=2))
    model.learn_many([{"a": 0.0}] * 13, ["p"] * 13)  # rows that the model has seen elsewhere are not counted
    with open_stream(path, target="y", policy="skip") as stream:
        with pytest.raises(DataError, match=f"line {line}, row {BAD}: one class more") as told:
            feed(stream, Learning(model).step, pace=block)
        assert (told.value.line, told.value.row, told.value.value) == (line, BAD, "r")
    with open_stream(path, target="y", policy="skip") as stream:
        stream.read(333)
        place = stream.position()
    with open_stream(path, target="y", policy="skip") as stream:
        stream.seek(place)
        with pytest.raises(DataError, match=f"line {line}, row {BAD}: one class more"):
            prequential(NaiveBayes(schema=Declared(max_classes=2)), stream, block=block)
