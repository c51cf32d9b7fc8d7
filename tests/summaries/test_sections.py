"""Sections of a stream: which rows lie outside the latest one."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

from bayou.encoding import Encoder
from bayou.schema import Schema
from bayou.summaries.sections import Sections
from bayou.testing.laws import filled


def outside(rows: list[dict[str, Any]]) -> list[bool]:
    """The naive twin: of every row what the rows before it say."""
    found = []
    for i, row in enumerate(rows):
        is_outside = False
        for name, value in row.items():
            before = [r[name] for r in rows[:i] if not _missing(r[name])]
            if _missing(value) or not before:
                continue
            changes = sum(a != b for a, b in zip(before[1:], before, strict=False))
            departures = sum(b != before[0] for b in before)
            is_outside |= changes**2 < departures and value != before[-1]
        found.append(is_outside)
    return found


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def rows_in_sections(seed: int, n: int = 120) -> list[dict[str, Any]]:
    """Columns that change rarely, often and always, with gaps."""
    rng = np.random.default_rng(seed)
    place = np.sort(rng.integers(4, size=n))
    return [
        {
            "part": None if rng.random() < 0.1 else f"p{place[i]}",
            "grade": float("nan") if rng.random() < 0.1 else float(place[i] // 2),
            "name": f"v{rng.integers(3)}",
            "rare": float(rng.random() < 0.03),
            "number": float(rng.normal()),
        }
        for i in range(n)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_the_naive_twin_says_the_same_of_every_row(seed: int) -> None:
    rows = rows_in_sections(seed)
    schema = Schema()
    block, growth = Encoder(schema, False).encode(rows, [0] * len(rows), None, learn=True)
    schema.grow(growth)
    expected = outside(rows)
    for size in (1, 7, len(rows)):
        sections = filled(Sections, block.rows(0, 0), schema)
        found = [
            sections.outside(block.rows(i, min(i + size, len(rows))), learn=True)
            for i in range(0, len(rows), size)
        ]
        assert np.concatenate(found).tolist() == expected
    assert 0 < sum(expected) < len(rows) / 4
    assert sections.outside(block).mean() > 0.5  # of all rows, those of the last section are inside


def test_a_row_without_label_or_weight_is_not_learned() -> None:
    rows = rows_in_sections(0)
    schema = Schema()
    block, growth = Encoder(schema, False).encode(rows, [0] * len(rows), None, learn=True)
    schema.grow(growth)
    sections = filled(Sections, block, schema)
    before = copy.deepcopy(sections.arrays())
    block.w[::2] = 0.0
    block.y[1::2] = -1
    sections.update(block)
    assert all(
        np.array_equal(a, before[name], equal_nan=a.dtype.kind == "f")
        for name, a in sections.arrays().items()
    )


def test_two_models_that_have_learned_begin_the_record_again() -> None:
    rows = rows_in_sections(1)
    schema = Schema()
    block, growth = Encoder(schema, False).encode(rows, [0] * len(rows), None, learn=True)
    schema.grow(growth)
    one, two = filled(Sections, block.rows(0, 60), schema), filled(Sections, block.rows(60, 120), schema)
    one.merge(two)
    assert one.rows[0] == 120
    assert not one.outside(block).any()
