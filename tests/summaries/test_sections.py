"""Sections of a stream: which rows lie outside the latest one."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

from bayou.block import Floats
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
            sections.outside(block.rows(i, min(i + size, len(rows))), learn=True)[0]
            for i in range(0, len(rows), size)
        ]
        assert np.concatenate(found).tolist() == expected
    assert 0 < sum(expected) < len(rows) / 4
    assert sections.outside(block)[0].mean() > 0.5  # of all rows, those of the last section are inside


def far(values: Floats) -> list[bool]:
    """The naive twin of one column: of every value what the values before it say."""
    found = []
    for i, value in enumerate(values):
        past = values[:i][~np.isnan(values[:i])]
        steps = np.diff(past)
        least = min((steps > 0).sum(), (steps < 0).sum())
        by_steps = len(past) >= 30 and np.mean(steps**2) * len(steps) < 0.2 * past.var() * len(past)
        ages = np.arange(len(past))[::-1]
        recent = np.where(ages < len(past) - 1000, 0.001 * 0.999**ages, 0.0)  # those after the first thousand
        recent[:1000] = (1 - recent.sum()) / max(min(len(past), 1000), 1)
        if by_steps and least**2 >= len(past) and not np.isnan(value):
            here = recent @ past
            found.append(bool(abs(value - here) > 2 * np.sqrt(recent @ (past - here) ** 2)))
        else:
            found.append(False)
    return found


def walks(seed: int, n: int) -> dict[str, Floats]:
    """A column that goes by small steps, with gaps; one in any order; a clock; one that is huge at times."""
    rng = np.random.default_rng(seed)
    walk = np.cumsum(rng.normal(size=n)) * 1e-3 + 5.0
    walk[rng.random(n) < 0.05] = np.nan
    return {
        "walk": walk,
        "any": rng.normal(size=n),
        "clock": np.arange(n) * 0.5,
        "huge": rng.choice([1.0, 1e300], n),
    }


@pytest.mark.parametrize(("seed", "n"), [(0, 400), (1, 400), (2, 1500)])
def test_the_naive_twin_says_the_same_rows_are_far_away(seed: int, n: int) -> None:
    columns = walks(seed, n)
    schema = Schema()
    block, growth = Encoder(schema, False).encode(columns, [0] * n, None, learn=True)
    schema.grow(growth)
    sections = filled(Sections, block.rows(0, 0), schema)
    found = [sections.outside(block.rows(i, min(i + 7, n)), learn=True)[1] for i in range(0, n, 7)]
    expected = far(columns["walk"])
    assert np.concatenate(found).tolist() == expected
    assert 0 < sum(expected) < n
    assert not any(far(columns["any"]))
    assert not any(far(columns["clock"]))


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
    assert not np.any(one.outside(block))
