"""The simulation of many workers, with few of them."""

from __future__ import annotations

from reproduce.scale import levels_of, simulate


def test_losses_repeats_and_reorderings_leave_no_trace() -> None:
    found = simulate(workers=70, epochs=2, rows=5, columns=3)
    assert found["levels"] == levels_of(70) == [3, 1]
    assert found["lost"] > 0
    assert found["dropped as repeats"] > 0
    assert found["digest equals one process"]
