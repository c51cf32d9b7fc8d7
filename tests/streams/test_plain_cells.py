"""Chunks read without Arrow: the same columns as with it, or none."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from bayou.streams import cells, plain_cells
from bayou.streams.delimited import parse
from bayou.streams.plain_cells import PlainCells

NAMES = ("x", "skipped", "day", "z", "y")
WANTED: dict[str, Callable[[str], bool] | None] = {
    "x": None,
    "day": lambda name: True,
    "z": None,
    "y": lambda name: True,
}
TYPES = {name: pa.float64() if fits is None else cells.NOMINAL for name, fits in WANTED.items()}


def reader() -> PlainCells:
    return PlainCells(NAMES, WANTED, ",", cells.MISSING)


def shown(columns: dict[str, pa.Array]) -> dict[str, list[str]]:
    """Cells as text, so that NaN and -0.0 show; the columns in their order."""
    return {name: list(map(repr, column.to_pylist())) for name, column in columns.items()}


def numbers(texts: list[str]) -> list[float | None] | None:
    found = PlainCells(["x"], {"x": None}, ",", cells.MISSING).read("\n".join(texts).encode())
    return None if found is None else found["x"].to_pylist()


PIECES = [
    *(
        "1",
        "0",
        "-0",
        "-3.25",
        "59.0",
        "1e3",
        "2.5E-7",
        "12345678901234567",
        "0.1234567890123456789",
        "1e400",
        "+1",
    ),
    *(
        "5.",
        ".5",
        "-",
        "e5",
        "1e",
        "1 ",
        " 1",
        "0x10",
        "inf",
        "nan",
        "NaN",
        "NA",
        "?",
        "",
        "mon",
        "a b",
        "täg",
    ),
    *("it's", '"q"', "x" * 30),
]


def test_the_same_as_arrow_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that goes on from chunk to chunk, some of which are not plain."""
    monkeypatch.setattr(plain_cells, "TRIES", 10_000)
    r, ours = random.Random(1), reader()
    plain = others = 0
    for trial in range(1500):
        some = PIECES if trial % 3 == 0 else [*PIECES[:9], "?", "", "mon", "a b", f"new {trial}"]
        lines = []
        for _ in range(r.choice([1, 2, 30])):
            width = 5 if r.random() < 0.98 else r.choice([1, 4, 6])
            line = [r.choice(some) for _ in range(width)]
            for j in (0, 3):
                if j < width and r.random() < 0.9:
                    line[j] = r.choice(PIECES[:9])
            lines.append(",".join(line))
        text = r.choice(["\n", "\n", "\r\n", "\n\n"]).join(lines) + r.choice(["", "\n", "\r\n"])
        found = ours.read(text.encode())
        if found is None:
            others += 1
            continue
        plain += 1
        assert shown(found) == shown(parse(text.encode(), NAMES, TYPES))
        assert all(column.null_count == column.to_pylist().count(None) for column in found.values())
    assert plain > 100
    assert others > 100


def test_numbers_are_the_nearest_doubles() -> None:
    r = random.Random(2)
    texts = []
    for _ in range(20_000):
        digits = "".join(r.choice("0123456789") for _ in range(r.randrange(1, 19)))
        point = r.randrange(1, len(digits) + 1)
        text = digits[:point] + (f".{digits[point:]}" if point < len(digits) else "")
        texts.append(r.choice(["", "-"]) + text)
    texts += [repr(struct.unpack("<d", struct.pack("<d", r.gauss(0, 1)))[0]) for _ in range(20_000)]
    halves = [(1 << 53) + 1, (1 << 54) + 2, 9007199254740993, 450359962737049599]
    texts += [str(half) for half in halves] + [f"{half // 10}.{half % 10}" for half in halves]
    read = 0
    pieces = [
        texts[i : i + 20] for i in range(0, len(texts), 20)
    ]  # each as a column: one alone takes as long
    while pieces:
        piece = pieces.pop()
        found = numbers(piece)
        if found is not None:
            read += len(piece)
            assert repr(found) == repr([float(text) for text in piece])
        elif len(piece) > 1:
            pieces += [[text] for text in piece]
    assert read > 0.98 * len(texts)


@pytest.mark.parametrize(
    "text", ["1e23", "123456789012345678e1", "1234567890123456789", "1e-23", "1.5x", "1_0"]
)
def test_numbers_that_are_left_to_arrow(text: str) -> None:
    assert numbers([text]) is None


def test_a_dictionary_stays_the_same_while_no_new_name_comes() -> None:
    ours = reader()
    first = ours.read(b"1,-,mon,2,up\n1,-,tue,2,down\n")
    again = ours.read(b"1,-,tue,2,up\n")
    longer = ours.read(b"1,-,?,2,up\n1,-,wed,2,up\n")
    assert first is not None
    assert again is not None
    assert longer is not None
    assert again["day"].dictionary.equals(first["day"].dictionary)
    assert again["day"].to_pylist() == ["tue"]
    assert longer["day"].dictionary.to_pylist() == ["mon", "tue", "wed"]
    assert longer["day"].to_pylist() == [None, "wed"]


def test_many_names_find_room_and_are_forgotten_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_cells, "MOST_NAMES", 3000)
    ours = reader()
    sizes = []
    for start in range(0, 10_000, 1000):
        days = [f"day {i} of a long year" for i in range(start, start + 1000)]
        found = ours.read("".join(f"{i},-,{day},1,{i % 3}\n" for i, day in enumerate(days)).encode())
        assert found is not None
        assert found["day"].to_pylist() == days
        assert found["y"].to_pylist() == [str(i % 3) for i in range(1000)]
        sizes.append(len(found["day"].dictionary))
    assert max(sizes) <= 4000


def test_names_that_do_not_fit_or_are_no_text_are_not_plain() -> None:
    ours = PlainCells(["a"], {"a": {"yes", "no"}.__contains__}, ",", ["?"])
    found = ours.read(b"yes\n?\nno\n")
    assert found is not None
    assert found["a"].to_pylist() == ["yes", None, "no"]
    assert ours.read(b"yes\nperhaps\n") is None
    assert ours.read(b"yes\n") is not None
    assert reader().read(b"1,-,m\xff,2,up\n") is None


def test_nobody_tries_for_ever() -> None:
    ours = reader()
    for _ in range(plain_cells.TRIES):
        assert ours.read(b"one,-,mon,2,up\n") is None
    assert ours.read(b"1,-,mon,2,up\n") is None


def test_zero_keeps_its_sign() -> None:
    found = numbers(["0", "-0", "-0.000"])
    assert found is not None
    assert np.signbit(np.array(found, float)).tolist() == [False, True, True]
