"""Columns put side by side, against NumPy's own way of doing it."""

from __future__ import annotations

import numpy as np
import pytest

from bayou.kernels.side_by_side import TILE, put_side_by_side


def addresses(columns: dict[int, np.ndarray]) -> np.ndarray:
    return np.array([(j, column.ctypes.data) for j, column in columns.items()], np.int64).reshape(-1, 2)


@pytest.mark.parametrize("rows", [0, 1, TILE, TILE + 1, 3 * TILE - 1])
@pytest.mark.parametrize(("integers", "doubles"), [(0, 1), (1, 0), (8, 8), (17, 3), (7, 16)])
def test_rows_hold_the_columns(rows: int, integers: int, doubles: int) -> None:
    random, first = np.random.default_rng(rows), 5
    order = random.permutation(integers + doubles).tolist()
    large = random.integers(-(1 << 63), (1 << 63) - 1, (integers, first + rows))
    columns: dict[int, np.ndarray] = dict(
        zip(order, [*large, *random.normal(size=(doubles, first + rows))], strict=True)
    )
    out = np.full((rows, integers + doubles), 7.0)
    whole, broken = ({j: c for j, c in columns.items() if c.dtype == kind} for kind in (np.int64, np.float64))
    assert put_side_by_side(out, addresses(whole), addresses(broken), first)
    np.testing.assert_array_equal(
        out, np.column_stack([columns[j][first:].astype(float) for j in range(len(columns))])
    )


@pytest.mark.parametrize("rows", [7, 8, 64, TILE + 13])
@pytest.mark.parametrize("gap", [None, 0, 3, 8, 20])
def test_adjacent_columns_of_integers(rows: int, gap: int | None) -> None:
    """Eight adjacent columns have code of their own; a column of doubles at `gap` divides them."""
    random, first = np.random.default_rng(rows), 3
    cells = random.integers(-(1 << 63), (1 << 63) - 1, (21, first + rows))
    cells[:, first] = [(1 << 53) + 1, (1 << 63) - 1, -(1 << 63)] * 7
    doubles = {} if gap is None else {gap: random.normal(size=first + rows)}
    integers = {j: column for j, column in enumerate(cells) if j != gap}
    out = np.full((rows, len(cells)), 7.0)
    assert put_side_by_side(out, addresses(integers), addresses(doubles), first)
    columns = integers | doubles
    np.testing.assert_array_equal(
        out, np.column_stack([columns[j][first:].astype(float) for j in range(len(columns))])
    )


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1.0001e140, -1e141])
@pytest.mark.parametrize("columns", [1, 8, 11])
def test_a_number_that_cannot_be_used_is_told(value: float, columns: int) -> None:
    cells = np.full((columns, 700), 1e140)
    out, nothing = np.empty((700, columns)), addresses({})
    assert put_side_by_side(out, nothing, addresses(dict(enumerate(cells))), 0)
    for j in range(columns):
        cells[j, 600] = value
        assert not put_side_by_side(out, nothing, addresses(dict(enumerate(cells))), 0)
        np.testing.assert_array_equal(out, cells.T)
        assert put_side_by_side(out[:50], nothing, addresses(dict(enumerate(cells))), 601)
        cells[j, 600] = 0.0
