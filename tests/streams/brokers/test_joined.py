"""Labels that come later, against a naive twin: any order and delay, repeated, lost, unknown; resumed anywhere."""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.seeds import LONG
from tests.streams.brokers.twin import Sent, as_messages, joined

from bayou.errors import DataError, OptionError
from bayou.streams import open_stream
from bayou.streams.brokers.address import Address
from bayou.streams.brokers.joined import JoinedSource, JoinOptions
from bayou.streams.brokers.log import Batch, Log
from bayou.streams.brokers.side import OpenedLog
from bayou.streams.read_options import ReadOptions


class Memory(Log):
    """A log in memory that hands out a few messages at a time, of some partitions and not of others."""

    counted = True

    def __init__(self, parts: Sequence[Sequence[tuple[bytes, int]]], seed: int) -> None:
        self.parts, self.partitions, self._draw = parts, range(len(parts)), random.Random(seed)
        self._here = dict.fromkeys(self.partitions, 0)

    def identity(self) -> Mapping[str, str | int]:
        return {}

    def first(self, partition: int) -> int:
        return 0

    def end(self, partition: int) -> int:
        return len(self.parts[partition])

    def seek(self, offsets: Mapping[int, int]) -> None:
        self._here = dict(offsets)

    def fetch(self, most: int, seconds: float, only: Collection[int]) -> list[Batch]:
        out = []
        for p in only:
            begin = self._here[p]
            end = min(begin + self._draw.randrange(4), len(self.parts[p]))
            if end > begin:
                values, times = zip(*self.parts[p][begin:end], strict=True)
                out.append(Batch(p, list(values), list(range(begin + 1, end + 1)), list(times)))
                self._here[p] = end
        return out

    def at_end(self, partition: int) -> bool:
        return self._here[partition] == len(self.parts[partition])

    def close(self) -> None:
        pass


def memory(parts: Sequence[Sequence[Sent]], time: bool, until: bool, seed: int) -> OpenedLog:
    stored = [
        [(json.dumps(m).encode(), t) for m, (_, t, _) in zip(as_messages(p, "y", time), p, strict=True)]
        for p in parts
    ]
    address = Address.of("kafka://host/topic" + "?until=end" * until)
    return OpenedLog(Memory(stored, seed), address, "json")


KEYS = st.sampled_from(["a", "b", "c", "d", "e", "f"])
TIMES = st.integers(0, 40)
RECORDS = st.lists(st.tuples(KEYS, TIMES, st.fixed_dictionaries({"x": st.integers(0, 3)})), max_size=14)
LABELS = st.lists(st.tuples(KEYS, TIMES, st.sampled_from(["yes", "no"])), max_size=14)


@settings(deadline=None, max_examples=1_500 if LONG else 60)
@given(data=st.data())
def test_joined_logs_are_their_naive_twin(data: st.DataObject) -> None:
    records, labels = (
        [sorted(part, key=lambda sent: sent[1]) if data.draw(st.booleans()) else part for part in parts]
        for parts in (
            data.draw(st.lists(RECORDS, min_size=1, max_size=3)),
            data.draw(st.lists(LABELS, min_size=1, max_size=2)),
        )
    )
    # Each log has a first message, or it is waited for; nobody knows its key.
    records[0].insert(0, ("first", 0, {"x": 0}))
    labels[0].insert(0, ("nobody", 0, "no"))
    within, most = data.draw(st.integers(0, 30)), data.draw(st.sampled_from([1, 2, 3, 100]))
    time, until, arrive = (data.draw(st.booleans()) for _ in range(3))
    seed = data.draw(st.integers(0, 1 << 16))

    def opened() -> JoinedSource:
        options = JoinOptions("id", within, "at" if time else None, most, arrive)
        two = [memory(parts, time, until, seed) for parts in (records, labels)]
        return JoinedSource(*two, options, ReadOptions("y"))

    source, twin = opened(), joined(records, labels, within, most)
    found: list[tuple[int, Any, Any]] = []
    idle, draw = 0, random.Random(seed)
    while (rows := source.read(draw.randint(1, 6))) is not None and idle < 40:
        idle = 0 if len(rows) else idle + 1
        assert rows.labels is not None
        for ticket, x, label in zip(
            rows.tickets.tolist(), rows.columns["x"].to_pylist(), rows.labels.to_pylist(), strict=True
        ):
            found.append((ticket, {"x": x}, label))
        if draw.random() < 0.2:  # another process goes on
            position, arrays, identity = source.position(), source.arrays(), source.identity
            source = opened()
            source.recall(identity)
            assert source.identity == identity
            source.seek(position, {name: array.copy() for name, array in arrays.items()})
    if until:
        assert rows is None
    wanted = twin.events if arrive else [event for event in twin.events if event[2] is not None]
    assert found == wanted
    assert asdict(source.counts) == twin.counts


def write(path: Path, rows: Sequence[Mapping[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"tail://{path}?until=end"


def both(
    home: Path, records: Sequence[Mapping[str, Any]], labels: Sequence[Mapping[str, Any]], **more: Any
) -> Any:
    first, second = write(home / "r.jsonl", records), write(home / "l.jsonl", labels)
    options: dict[str, Any] = {"target": "y", "join": "id", "within": "10s", "time": "at"} | more
    return open_stream(first, labels=second, **options)


def test_keys_are_text_times_are_numbers_or_dates_and_neither_is_learned(tmp_path: Path) -> None:
    records = [{"id": 17, "at": 0, "x": 1.5}, {"id": "18", "at": 1.25, "x": 2.5}]
    labels = [{"id": "17", "at": "1970-01-01T00:00:01.5Z", "y": 3}, {"id": 18, "at": 11.25, "y": 4}]
    with both(tmp_path, records, labels) as source:
        rows = source.read(10)
        assert list(source.columns) == ["x"]
        assert rows.columns["x"].to_pylist() == [1.5, 2.5]
        assert rows.labels.to_pylist() == [3, 4]  # exactly ten seconds later is in time
        assert source.read(10) is None


def test_csv_on_both_sides(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("id,at,x,y\nk1,0,1,leak\nk2,1,2,leak\n")
    (tmp_path / "l.csv").write_text("y;id;at;who\nno;k2;2;me\nyes;k1;3;me\n")
    with open_stream(
        f"tail://{tmp_path}/r.csv?until=end", labels=f"tail://{tmp_path}/l.csv?until=end",
        target="y", join="id", within=60, time="at",
    ) as source:  # fmt: skip
        rows = source.read(10)
        assert list(source.columns) == ["x"], "the label of a record is not handed out with it"
        assert rows.columns["x"].to_pylist() == [2.0, 1.0]
        assert rows.labels.to_pylist() == ["no", "yes"]


def test_messages_that_do_not_fit_stop_the_stream_before_them(tmp_path: Path) -> None:
    records = [{"id": "a", "at": 0, "x": 1}, {"id": "b", "at": 1, "x": "much"}, {"id": "c", "at": 2, "x": 3}]
    labels = [{"id": "a", "at": 0.5, "y": "no"}, {"id": "b", "at": 4, "y": "no"}]
    with both(tmp_path, records, labels, numeric=["x"]) as source:
        assert source.read(10).labels.to_pylist() == ["no"]
        for _ in range(2):
            with pytest.raises(DataError, match=r"records, partition 0, offset .* not a number"):
                source.read(10)


def test_messages_that_do_not_fit_are_put_aside_with_reason_and_place(tmp_path: Path) -> None:
    records = [
        {"id": "a", "at": 0, "x": 1}, {"id": "b", "at": 1, "x": "much"}, {"at": 2, "x": 3},
        {"id": "d", "at": "soon", "x": 1},
    ]  # fmt: skip
    labels = [
        {"id": "a", "at": 3, "y": "no"},
        {"id": "b", "at": 4, "y": "no"},
        {"id": "a", "at": 5, "y": None},
    ]
    bad = tmp_path / "bad.jsonl"
    with both(tmp_path, records, labels, numeric=["x"], policy="skip", dead_letters=bad) as source:
        assert source.read(10).labels.to_pylist() == ["no"]
        assert source.read(10) is None
        assert source.rejects.counts == {
            "not a number": 1, "no key to join by": 1, "not a time": 1, "no label": 1,
        }  # fmt: skip
        source.position()
    letters = [json.loads(line) for line in bad.read_text().splitlines()]
    assert [letter["at"].split(",")[0] for letter in letters] == ["records"] * 3 + ["labels"]
    with both(tmp_path, records, labels, numeric=["x"], policy="missing") as source:
        assert source.read(10).columns["x"].to_pylist() == [1.0, None]
        assert (source.rejects.rows, source.rejects.cells) == (3, 1)


def test_what_cannot_be_joined_is_refused_in_words(tmp_path: Path) -> None:
    records = [{"id": "a", "at": 0, "x": 1}]
    labels = [{"id": "a", "at": 3, "y": "no"}]
    for wrong, said in (
        ({"time": None}, "no time of their own"),
        ({"join": None}, "need their log, the column of the key"),
        ({"within": "soon"}, "not a length of time"),
        ({"waiting": 0}, "at least one"),
        ({"target": None}, "which column of the labels"),
    ):
        with pytest.raises(OptionError, match=said):
            both(tmp_path, records, labels, **wrong)
    with (
        both(tmp_path, records, labels, join="key") as source,
        pytest.raises(OptionError, match="no column 'key'"),
    ):
        source.read(1)
    with both(tmp_path, records, labels, at_arrival=True) as source:
        source.read(1)
        place = source.position()
        with pytest.raises(DataError, match="what waited at this position is not there"):
            source.seek(place)


def test_states_that_cannot_be_are_refused(tmp_path: Path) -> None:
    """What waits comes from a file: whatever is cut, moved or doubled in it is noticed."""
    import numpy as np

    records = [{"id": f"k{i}", "at": i, "x": i} for i in range(5)]
    labels = [{"id": "early", "at": 2, "y": "no"}, {"id": "k0", "at": 3, "y": "yes"}]
    with both(tmp_path, records, labels) as source:
        while source.read(10) is not None:
            pass
        place, arrays = source.position(), dict(source.arrays())
        source.seek(place, arrays)
        changes = 0
        for name, array in arrays.items():
            for changed in (
                array[1:],
                np.concatenate([array, array]),
                array.astype(np.float32),
                array - 1,
                None,
            ):
                if changed is not None and changed.dtype == array.dtype and np.array_equal(changed, array):
                    continue
                if (
                    name.endswith((".messages", ".keys"))
                    and changed is not None
                    and changed.shape == array.shape
                ):
                    continue  # other bytes are another message
                if (
                    changed is not None
                    and name.endswith(("times", "numbers"))
                    and changed.shape == array.shape
                ):
                    continue  # another time
                other = {k: v for k, v in arrays.items() if k != name} | (
                    {} if changed is None else {name: changed}
                )
                with pytest.raises(DataError):
                    source.seek(place, other)
                changes += 1
        assert changes > 30


@pytest.mark.parametrize("most", [3, 50])
def test_what_waits_is_bounded(tmp_path: Path, most: int) -> None:
    rows = 20_000 if LONG else 2_000
    records = [{"id": f"k{i}", "at": i, "x": i % 5} for i in range(rows)]
    labels = [{"id": f"s{i}", "at": i, "y": "no"} for i in range(rows)]
    with both(tmp_path, records, labels, within="1000d", waiting=most) as source:
        while source.read(100) is not None:
            assert len(source.join.waiting) <= most
            assert len(source.join.early) <= most
        assert (source.counts.crowded_out, source.counts.without_record) == (rows - most, rows - most)
        assert source.join.waiting.bytes == sum(256 + len(k) + len(r.message) for k, r in source.join.waiting)
