"""Mutated files: accepted by the stated policy, or our own error; and the same whatever the read size."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from tests.streams.drain import outcome, records, write

from bayou import NaiveBayes, files
from bayou.errors import BayouError
from bayou.streams import limits, open_stream
from bayou.training.loop import declare_columns

TRIALS = 20_000 if os.environ.get("BAYOU_LONG") else 200
BASES: dict[str, dict[str, Any]] = {
    "s.csv": {"target": "y"},
    "s.arff": {},
    "sparse.arff": {},
    "s.jsonl": {"target": "y"},
}
TOKENS = [
    *(
        b",",
        b"\n",
        b"\r",
        b"\r\n",
        b'"',
        b"'",
        b"\\",
        b"?",
        b"NaN",
        b"inf",
        b"1e999",
        b"0x1F",
        b"\0",
        b"\xff",
        b"%",
    ),
    *(
        b"\xef\xbb\xbf",
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b"@data",
        b"@attribute",
        b"@attribute q date\n",
        b"\t",
        b" ",
    ),
    *(
        b"null",
        b"true",
        b'"\\ud800"',
        b"-",
        b"+",
        b"[" * 40,
        b'{"a":' * 40,
        b"9" * 400,
        b",,",
        b"y",
        b"x",
        b"\xc3",
    ),
]


def mutate(data: bytes, r: random.Random) -> bytes:
    """The bytes with a few pieces cut, doubled, or replaced by something nasty."""
    for _ in range(r.choice([1, 1, 2, 5])):
        a = r.randrange(len(data) + 1)
        b = min(len(data), a + r.choice([0, 1, 2, 8, 40]))
        change = r.randrange(7)
        if change == 0:
            data = data[:a] + data[b:]
        elif change == 1:
            data = data[:b] + data[a:b] + data[b:]
        elif change < 5:
            data = data[:a] + r.choice(TOKENS) + data[b:]
        elif change == 5:
            data = data[:a] + bytes([r.randrange(256)]) + data[a + 1 :]
        elif r.random() < 0.2:
            data = data[:a]
    return data


@pytest.mark.parametrize("name", BASES)
def test_mutated_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    base = write(tmp_path, name, rows=records(24)).read_bytes()
    path = tmp_path / name
    r = random.Random(f"fuzz {name}")
    accepted = refused = rejected = 0
    for _ in range(TRIALS):
        path.write_bytes(mutate(base, r))
        options = BASES[name] | {"policy": r.choice(["strict", "skip", "missing"])}
        monkeypatch.setattr(limits, "CHUNK", r.choice([400, 1 << 20]))
        rows, error, counts = outcome(path, [1000], **options)  # any other exception fails the test
        assert outcome(path, [r.choice([1, 3, 7])], **options) == (rows, error, counts)
        accepted += not error
        refused += bool(error)
        rejected += bool(counts)
    assert accepted > TRIALS / 20
    assert refused > TRIALS / 20
    assert rejected > TRIALS / 100


@pytest.mark.parametrize("name", ["s.csv", "s.arff", "s.jsonl"])
def test_noise(tmp_path: Path, name: str) -> None:
    r = random.Random(f"noise {name}")
    path = tmp_path / name
    for _ in range(TRIALS // 5):
        path.write_bytes(b"".join(r.choice(TOKENS) for _ in range(r.randrange(12))))
        outcome(path, [2], target=r.choice(["", "y"]), policy=r.choice(["skip", "missing"]))


def test_both_ways_of_reading_csv_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bayou.streams.delimited import DelimitedSource
    from bayou.streams.policy import Chunk, flush

    def careful(self: DelimitedSource, record: int) -> Chunk | None:
        chunk = self._records.take()
        return flush(self._rows_of.draft(chunk), self._read_options.policy, record) if chunk else None

    base = write(tmp_path, "s.csv", rows=records(24)).read_bytes()
    path = tmp_path / "s.csv"
    r = random.Random("both ways")
    for _ in range(TRIALS):
        path.write_bytes(mutate(base, r))
        usual = outcome(path, target="y", policy="skip")
        with monkeypatch.context() as patch:
            patch.setattr(DelimitedSource, "_load", careful)
            assert outcome(path, target="y", policy="skip") == usual


@pytest.mark.parametrize("name", ["s.csv", "s.arff", "s.jsonl"])
def test_a_model_learns_what_was_accepted_and_nothing_else(tmp_path: Path, name: str) -> None:
    """Up to an error, and behind rejects, whatever the read size; a batch that is refused leaves no trace."""
    base = write(tmp_path, name, rows=records(24)).read_bytes()
    path = tmp_path / name
    r = random.Random(f"model {name}")
    stopped = 0
    for _ in range(TRIALS // 25):
        path.write_bytes(mutate(base, r))
        options = BASES[name] | {"policy": r.choice(["strict", "skip", "missing"])}
        (one, error), (other, again) = (learned(path, size, options) for size in (1000, r.choice([1, 3, 7])))
        assert error == again
        assert one == other
        stopped += bool(error)
    assert 0 < stopped < TRIALS // 25


def learned(path: Path, size: int, options: dict[str, Any]) -> tuple[bytes, str]:
    """The model file after learning a stream, and why it stopped early."""
    model = NaiveBayes()
    try:
        with open_stream(path, **options) as stream:
            declare_columns(model, stream)
            while (rows := stream.read(size)) is not None:
                before = files.dumps(model)
                try:
                    model.learn_batch(rows, rows.labels)
                except BayouError:
                    assert files.dumps(model) == before
                    raise
    except BayouError as error:
        return files.dumps(model), str(error)
    return files.dumps(model), ""
