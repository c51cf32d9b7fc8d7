"""What is declared about an array decides how it moves, merges, fades, starts afresh and is checked."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayou.align import Alignment, Axis
from bayou.errors import MergeError, ModelFileError
from bayou.laws import MergeLaw
from bayou.summaries import valid
from bayou.summaries.array_summary import ArraySummary, DecayingSummary, State
from bayou.summaries.state import ADD, KEEP, MAX, declare, declared_classes, from_schema


class Example(DecayingSummary):
    law: ClassVar[MergeLaw] = MergeLaw.EXACT
    counts: Any = declare("classes", 2, "numeric", merge=ADD, scales=True, valid=valid.non_negative)
    largest: Any = declare("numeric", fill=-np.inf, merge=MAX, valid=lambda name, array, summary: None)
    room: Any = declare("size", merge=KEEP, frame=True, valid=valid.finite)
    label: Any = declare(1, dtype=np.int64, fill=-1, codes=True, merge=KEEP, valid=valid.class_codes)
    pending: Any = declare("*rows", "numeric", merge=KEEP, valid=valid.finite)
    labels: Any = declare("*rows", dtype=np.int32, merge=KEEP, codes=True, valid=valid.class_codes)
    declared: Any = from_schema(1, follows=declared_classes)

    def __init__(self, size: int = 3) -> None:
        self.size = size
        super().__init__()

    def config(self) -> dict[str, int]:
        return {"size": self.size}


def plan(classes: tuple[list[int], int], numeric: tuple[list[int], int], declared: int = 0) -> Alignment:
    nothing = Axis(np.arange(0), 0)
    return Alignment(
        Axis(np.array(classes[0], dtype=np.int64), classes[1], declared),
        Axis(np.array(numeric[0], dtype=np.int64), numeric[1]),
        nothing, (), nothing, (),
    )  # fmt: skip


def example(k: int = 2, p: int = 3, rows: int = 2, seed: int = 0) -> Example:
    draw = np.random.default_rng(seed)
    summary = Example()
    summary.realign(plan(([], k), ([], p)))
    summary.counts[:] = draw.integers(0, 9, summary.counts.shape)
    summary.largest[:] = draw.normal(size=p)
    summary.room[:] = draw.random(3)
    summary.label[0] = draw.integers(-1, k)
    summary.pending, summary.labels = draw.normal(size=(rows, p)), draw.integers(0, k, rows).astype(np.int32)
    return summary


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_realigning_moves_every_array_along_its_axes(data: st.DataObject) -> None:
    k, p, seed = (data.draw(st.integers(1, 4)) for _ in range(3))
    more_classes, more_columns = k + data.draw(st.integers(0, 3)), p + data.draw(st.integers(0, 3))
    to_class = data.draw(st.permutations(range(more_classes)))[:k]
    to_column = data.draw(st.permutations(range(more_columns)))[:p]
    before, after = example(k, p, 2, seed), example(k, p, 2, seed)
    after.realign(plan((to_class, more_classes), (to_column, more_columns), declared=more_classes))
    assert after.counts.shape == (more_classes, 2, more_columns)
    assert after.counts.sum() == before.counts.sum()
    for c in range(k):
        for j in range(p):
            np.testing.assert_array_equal(after.counts[to_class[c], :, to_column[j]], before.counts[c, :, j])
    new = np.setdiff1d(np.arange(more_columns), to_column)
    assert (after.largest[new] == -np.inf).all()
    np.testing.assert_array_equal(after.largest[to_column], before.largest)
    np.testing.assert_array_equal(after.room, before.room)
    np.testing.assert_array_equal(after.labels, np.array(to_class)[before.labels])
    assert after.label[0] == (to_class[before.label[0]] if before.label[0] >= 0 else -1)
    assert after.declared.tolist() == [more_classes]
    after.check(after.arrays())


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 99), factor=st.floats(0.01, 1.0))
def test_merge_scale_fresh_and_copy_follow(seed: int, factor: float) -> None:
    one, other = example(seed=seed), example(seed=seed + 1)
    merged, faded = one.copy(), one.copy()
    merged.merge(other)
    np.testing.assert_array_equal(merged.counts, one.counts + other.counts)
    np.testing.assert_array_equal(merged.largest, np.maximum(one.largest, other.largest))
    np.testing.assert_array_equal(merged.room, one.room)
    faded.scale(factor)
    np.testing.assert_array_equal(faded.counts, one.counts * factor)
    np.testing.assert_array_equal(faded.pending, one.pending)
    empty = one.fresh()
    assert not empty.counts.any()
    assert empty.counts.shape == one.counts.shape
    assert empty.pending.shape == (0, 3)
    assert empty.labels.shape == (0,)
    assert (empty.largest == -np.inf).all()
    np.testing.assert_array_equal(empty.room, one.room)
    for name, array in one.copy().arrays().items():
        np.testing.assert_array_equal(array, one.arrays()[name])
        assert not np.shares_memory(array, one.arrays()[name])


def test_other_configurations_do_not_merge() -> None:
    with pytest.raises(MergeError, match="size=3 here and 4 there"):
        Example(3).merge(Example(4))


WRONG: dict[str, tuple[str, Any]] = {
    "another type": ("counts", np.zeros((2, 2, 3), dtype=np.int64)),
    "another number of axes": ("counts", np.zeros((2, 2))),
    "another number of classes": ("counts", np.zeros((3, 2, 3))),
    "another fixed length": ("counts", np.zeros((2, 3, 3))),
    "another configured length": ("room", np.zeros(4)),
    "rows that do not agree": ("labels", np.zeros(3, dtype=np.int32)),
    "negative counts": ("counts", np.full((2, 2, 3), -1.0)),
    "no number": ("counts", np.full((2, 2, 3), np.nan)),
    "no class": ("label", np.array([2])),
    "below no class": ("label", np.array([-2])),
    "other declared classes": ("declared", np.array([1])),
}


@pytest.mark.parametrize("case", WRONG)
def test_check_names_the_array_that_is_wrong(case: str) -> None:
    name, array = WRONG[case]
    summary = example()
    summary.check(summary.arrays())
    with pytest.raises(ModelFileError, match=name):
        summary.check({**summary.arrays(), name: array})


def test_arrays_that_are_missing_or_not_declared_are_refused() -> None:
    summary = example()
    with pytest.raises(ModelFileError, match="other arrays"):
        summary.check({**summary.arrays(), "more": np.zeros(1)})
    with pytest.raises(ModelFileError, match="other arrays"):
        summary.check({k: a for k, a in summary.arrays().items() if k != "room"})


def test_an_array_without_an_invariant_cannot_be_declared() -> None:
    with pytest.raises(TypeError, match="valid"):

        class Careless(ArraySummary):
            counts = declare("classes", merge=ADD)  # type: ignore[call-arg]


def test_an_array_without_a_merge_rule_needs_a_merge() -> None:
    with pytest.raises(TypeError, match="counts"):

        class Undecided(ArraySummary):
            counts = declare("classes", valid=valid.finite)


def test_an_array_that_decays_needs_a_scale() -> None:
    with pytest.raises(TypeError, match="DecayingSummary"):

        class Everlasting(ArraySummary):
            counts = declare("classes", merge=ADD, scales=True, valid=valid.finite)


def test_a_summary_of_which_nothing_decays_needs_no_scale() -> None:
    class Everlasting(ArraySummary):
        law: ClassVar[MergeLaw] = MergeLaw.EXACT
        counts: Any = declare("classes", merge=ADD, valid=valid.finite)

    assert not hasattr(Everlasting(), "scale")


def test_a_state_inside_another_is_moved_saved_and_checked_with_it() -> None:
    class Inner(State):
        n: Any = declare("classes", valid=valid.non_negative)

    class Outer(State):
        m: Any = declare("numeric", valid=valid.finite)

        def __init__(self) -> None:
            super().__init__()
            self.inner = Inner()

        def parts(self) -> list[tuple[str, State]]:
            return [("inner.", self.inner)]

    outer = Outer()
    outer.realign(plan(([], 2), ([], 3)))
    assert {name: a.shape for name, a in outer.arrays().items()} == {"m": (3,), "inner.n": (2,)}
    outer.restore({"m": np.ones(3), "inner.n": np.ones(2)})
    assert outer.inner.n.tolist() == [1.0, 1.0]
    with pytest.raises(ModelFileError, match="n holds"):
        outer.check({"m": np.ones(3), "inner.n": -np.ones(2)})
