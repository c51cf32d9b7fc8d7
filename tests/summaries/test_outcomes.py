"""Track records: counted by hand, whatever the blocks, merged, realigned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayou.block import Block
from bayou.errors import MergeError, ModelFileError
from bayou.laws import MergeLaw
from bayou.readings.metrics import faded_scores, recent_scores
from bayou.summaries import first_scores
from bayou.summaries.fading import FadedOutcomes
from bayou.summaries.first_scores import FirstScores
from bayou.summaries.outcomes import Confusion, Losses, class_plan, scored_rows
from bayou.summaries.recent import RecentOutcomes
from bayou.summaries.rivals import MajorityHits, NoChangeHits

LABELS = ["a", "b", "c"]
MAKERS = [
    Confusion,
    Losses,
    NoChangeHits,
    MajorityHits,
    lambda: RecentOutcomes(7),
    lambda: FadedOutcomes(0.9),
    FirstScores,
]
NAMES = ["confusion", "losses", "no change", "majority", "recent", "faded", "first"]
every_summary = pytest.mark.parametrize("make", MAKERS, ids=NAMES)


def empty(make: Any, labels: list[str] = LABELS) -> Any:
    summary = make()
    summary.realign(class_plan([], labels))
    return summary


def random_rows(seed: int, n: int = 60, integer: bool = True) -> Block:
    random = np.random.default_rng(seed)
    proba = random.dirichlet([1, 1, 1], n)
    proba[random.random(n) < 0.1] = 0.0
    w = random.integers(0, 3, n).astype(float) if integer else random.random(n)
    return scored_rows(random.integers(-1, 3, n), proba, w)


def state(summary: Any) -> dict[str, Any]:
    return {name: array.tolist() for name, array in summary.arrays().items()}


def test_confusion_by_hand() -> None:
    confusion = empty(Confusion)
    confusion.update(
        scored_rows(
            [0, 1, 1, 2, 2],
            [[1, 0, 0], [0.5, 0.5, 0], [0, 1, 0], [0, 0, 0], [0.2, 0.3, 0.5]],
            [1, 2, 3, 4, 5],
        )
    )
    assert confusion.counts.tolist() == [[1, 0, 0], [2, 3, 0], [0, 0, 5]]
    assert confusion.unanswered.tolist() == [0, 0, 4]


def test_losses_by_hand() -> None:
    losses = empty(Losses, ["a", "b"])
    losses.update(scored_rows([0, 1, 1], [[0.5, 0.5], [1, 0], [0, 0]], [1, 2, 5]))
    assert losses.sums.tolist() == pytest.approx([np.log(2) + 2 * 52 * np.log(2), 0.5 + 2 * 2, 3], abs=1e-12)
    assert losses.calibration[[7, 14]].tolist() == [[1, 0.5, 1], [2, 2, 0]]
    assert losses.scores[0, 128].tolist() == [0, 1]
    assert losses.scores[0, 255].tolist() == [2, 0]
    assert losses.scores[1, 0].tolist() == [0, 2]


def test_rivals_by_hand() -> None:
    rows = scored_rows([0, 0, -1, 1, 1, 0], None, [1, 1, 1, 2, 0, 1])
    no_change, majority = empty(NoChangeHits), empty(MajorityHits)
    no_change.update(rows)
    majority.update(rows)
    assert no_change.sums.tolist() == [5, 1, 1]
    assert no_change.ends.tolist() == [0, 0]
    assert majority.weight.tolist() == [3, 2, 0]
    assert majority.sums.tolist() == [5, 2, 3]  # ties go to the first class


@every_summary
@pytest.mark.parametrize("cuts", [[1], [7, 8, 30], list(range(60))])
def test_same_bits_however_the_rows_are_cut(make: Any, cuts: list[int]) -> None:
    rows = random_rows(1, integer=False)
    whole, parts = empty(make), empty(make)
    whole.update(rows)
    for _, part in rows.cut(cuts):
        parts.update(part)
    assert state(parts) == state(whole)


@every_summary
@pytest.mark.parametrize("cut", [0, 1, 5, 13, 20, 33, 59, 60])
def test_merge_equals_one_pass_by_its_law(make: Any, cut: int) -> None:
    rows = random_rows(2)
    whole, left, right = empty(make), empty(make), empty(make)
    whole.update(rows)
    left.update(rows.rows(0, cut))
    right.update(rows.rows(cut, 60))
    left.merge(right)
    if whole.law is MergeLaw.EXACT or isinstance(whole, NoChangeHits | FirstScores):
        assert state(left) == state(whole)
    elif isinstance(whole, RecentOutcomes):
        assert state(left) == state(whole)
        assert recent_scores(left).headlines() == recent_scores(whole).headlines()
    elif isinstance(whole, FadedOutcomes):
        merged, once = faded_scores(left), faded_scores(whole)
        for name in ("accuracy", "kappa", "kappa_temporal", "macro_f1", "log_loss", "brier"):
            assert getattr(merged, name) == pytest.approx(getattr(once, name), abs=1e-12)
    elif isinstance(whole, MajorityHits):  # a heuristic: the shards' own majorities
        assert left.weight.tolist() == whole.weight.tolist()
        assert left.sums[0] == whole.sums[0]
        assert abs(left.sums[1] - whole.sums[1]) <= 60 - cut
    else:
        for name, array in whole.arrays().items():
            assert left.arrays()[name] == pytest.approx(array, abs=1e-12)


@every_summary
def test_merging_is_associative_and_fresh_is_its_identity(make: Any) -> None:
    thirds = [random_rows(seed, 20) for seed in (3, 4, 5)]

    def of(*blocks: Block) -> Any:
        summary = empty(make)
        for block in blocks:
            summary.update(block)
        return summary

    a, b, c = (of(block) for block in thirds)
    bc = of(thirds[1])
    bc.merge(c)
    ab = of(thirds[0])
    ab.merge(b)
    ab.merge(of(thirds[2]))
    a.merge(bc)
    for name, array in a.arrays().items():
        assert ab.arrays()[name] == pytest.approx(array, abs=1e-12)
    before = state(a)
    a.merge(a.fresh())
    assert state(a) == before
    alone = a.fresh()
    alone.merge(a)
    assert alone.arrays().keys() == a.arrays().keys()
    if not isinstance(a, RecentOutcomes):  # its ring starts anew
        assert state(alone) == before
    assert (
        recent_scores(alone).headlines() == recent_scores(a).headlines()
        if isinstance(a, RecentOutcomes)
        else True
    )


@every_summary
def test_classes_that_come_later_change_nothing(make: Any) -> None:
    """Seen b and d first; a and c come between them in canonical order."""
    narrow = scored_rows([0, 1, 1, 0], [[0.9, 0.1], [0.3, 0.7], [0.6, 0.4], [0, 0]])
    wide = scored_rows([1, 3, 3, 1], [[0, 0.9, 0, 0.1], [0, 0.3, 0, 0.7], [0, 0.6, 0, 0.4], [0, 0, 0, 0]])
    last = scored_rows([0, 2], [[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.2, 0.1]])
    grown, known = empty(make, ["b", "d"]), empty(make, ["a", "b", "c", "d"])
    grown.update(narrow)
    grown.realign(class_plan(["b", "d"], ["a", "b", "c", "d"]))
    known.update(wide)
    for summary in (grown, known):
        summary.update(last)
    assert state(grown) == state(known)


@every_summary
def test_rows_without_label_or_weight_are_absent(make: Any) -> None:
    proba = [[0.2, 0.3, 0.5]] * 4
    with_them, without = empty(make), empty(make)
    with_them.update(scored_rows([0, -1, 1, 2], proba, [1, 1, 0, 1]))
    without.update(scored_rows([0, 2], proba[:2], [1, 1]))
    assert state(with_them) == state(without)
    with_them.update(scored_rows([], np.zeros((0, 3))))
    assert state(with_them) == state(without)


def test_weight_two_is_the_row_twice() -> None:
    for make in (Confusion, Losses):
        heavy, twice = empty(make), empty(make)
        heavy.update(scored_rows([1], [[0.25, 0.5, 0.25]], [2]))
        twice.update(scored_rows([1, 1], [[0.25, 0.5, 0.25]] * 2))
        assert state(heavy) == state(twice)


def test_restored_summaries_continue_alike() -> None:
    for make in MAKERS:
        one, rows = empty(make), random_rows(8)
        one.update(rows)
        two = one.fresh()
        two.restore(one.arrays())
        for summary in (one, two):
            summary.update(random_rows(9))
        assert state(one) == state(two)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(MergeError, match="window=5 here and 6 there"):
        RecentOutcomes(5).merge(RecentOutcomes(6))
    with pytest.raises(MergeError, match=r"alpha=0\.9 here"):
        FadedOutcomes(0.9).merge(FadedOutcomes(0.8))
    with pytest.raises(TypeError, match="scored"):
        empty(Confusion).update(scored_rows([0], None))
    with pytest.raises(ValueError, match="at least one row"):
        RecentOutcomes(0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        FadedOutcomes(1.0)


@every_summary
@pytest.mark.parametrize("rows", [0, 1, 5, 60])
def test_a_summary_accepts_what_rows_left_in_it(make: Any, rows: int) -> None:
    summary = empty(make)
    summary.update(random_rows(3, rows, integer=False))
    empty(make).check(summary.arrays())
    summary.realign(class_plan(LABELS, ["0", *LABELS]))
    summary.check(summary.arrays())


IMPOSSIBLE = [
    ("confusion", "counts", (0, 1), -5.0),
    ("confusion", "counts", (0, 1), np.nan),
    ("confusion", "unanswered", 2, np.inf),
    ("losses", "sums", 0, 1e9),
    ("losses", "sums", 1, 1e9),
    ("losses", "calibration", (3, 2), 1e9),
    ("losses", "calibration", (3, 0), 1e9),
    ("losses", "scores", (1, 7, 0), 1e9),
    ("no change", "ends", 0, 3),
    ("no change", "ends", 1, -1),
    ("no change", "sums", 1, 1e9),
    ("majority", "weight", 0, 1e9),
    ("majority", "sums", 1, 1e9),
    ("recent", "true", 2, 3),
    ("recent", "true", 2, -1),
    ("recent", "predicted", 2, -2),
    ("recent", "rows", 0, -1),
    ("recent", "classes", 0, 2),
    ("recent", "values", (0, 0), -1.0),
    ("faded", "true", 0, 1e9),
    ("faded", "predicted", 0, 1e9),
    ("faded", "right", 1, 1e9),
    ("faded", "sums", 2, 1e9),
    ("faded", "ends", 1, 7),
    ("faded", "ends", 2, -2),
    ("first", "proba", (3, 1), 1.5),
    ("first", "proba", (3, 1), -0.5),
    ("first", "truth", 2, 3),
    ("first", "truth", 2, -1),
    ("first", "weight", 2, -1.0),
    ("first", "rows", 0, 7),
    ("first", "rows", 0, first_scores.MOST_ROWS + 1),
]


@pytest.mark.parametrize(("which", "name", "place", "value"), IMPOSSIBLE)
def test_a_summary_refuses_what_no_rows_can_leave(which: str, name: str, place: Any, value: float) -> None:
    summary = empty(MAKERS[NAMES.index(which)])
    summary.update(random_rows(3))
    arrays = {key: array.copy() for key, array in summary.arrays().items()}
    arrays[name][place] = value
    with pytest.raises(ModelFileError, match="the state contradicts itself"):
        summary.check(arrays)
    with pytest.raises(ModelFileError, match="must be"):
        summary.check({**summary.arrays(), name: arrays[name][:-1]})


@pytest.mark.parametrize(("rows", "numbers"), [(40, 1000), (1000, 120)])
def test_rows_one_by_one_are_given_up_where_they_are_too_many(
    rows: int, numbers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At 40 rows of three classes or 120 probabilities all are there, at one more none, however rows are cut."""
    monkeypatch.setattr(first_scores, "MOST_ROWS", rows)
    monkeypatch.setattr(first_scores, "MOST_NUMBERS", numbers)
    random = np.random.default_rng(4)
    block = scored_rows(random.integers(0, 3, 41), random.dirichlet([1, 1, 1], 41))
    for size in (1, 7, 41):
        first = empty(FirstScores)
        for start in range(0, 40, size):
            first.update(block.rows(start, min(start + size, 40)))
        assert first.complete
        assert np.array_equal(first.proba, block.proba[:40])
        other = empty(FirstScores)
        other.update(block.rows(40, 41))
        merged = first.copy()
        merged.merge(other)
        first.update(block.rows(40, 41))
        other.merge(merged)
        for summary in (first, merged, other):
            assert not summary.complete
            assert len(summary.truth) == 0
            summary.update(block)
            assert not summary.complete
            empty(FirstScores).check(summary.arrays())


def test_many_classes_leave_no_room_for_rows_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_scores, "MOST_NUMBERS", 30)
    first = empty(FirstScores)
    first.update(scored_rows([0] * 10, [[0.2, 0.3, 0.5]] * 10))
    assert first.complete
    first.realign(class_plan(LABELS, [*LABELS, "d"]))
    assert not first.complete
