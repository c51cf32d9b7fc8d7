"""Sizes of batches follow the time that batches take."""

from __future__ import annotations

from bayou.training import batches
from bayou.training.batches import LARGEST, SMALLEST, Pace


def sizes(monkeypatch, seconds: list[float], size: int | None = None) -> list[int]:
    """Sizes of batches of which each takes so long."""
    now = [100.0]
    monkeypatch.setattr(batches.time, "perf_counter", lambda: now[0])
    pace, found = Pace(size), []
    for passed in seconds:
        now[0] += passed
        found.append(pace.next())
    return found


def test_batches_grow_while_they_are_quick_and_shrink_when_they_are_slow(monkeypatch):
    assert sizes(monkeypatch, [0.0, 0.05, 0.2, 0.6, 0.05]) == [8192, 16_384, 16_384, 8192, 16_384]


def test_very_quick_batches_grow_at_once(monkeypatch):
    assert sizes(monkeypatch, [0.001] * 3) == [8192, LARGEST, LARGEST]


def test_batches_have_a_least_and_a_largest_size(monkeypatch):
    assert sizes(monkeypatch, [0.05] * 9)[-1] == LARGEST
    assert sizes(monkeypatch, [9.0] * 9)[-1] == SMALLEST


def test_a_given_size_stays(monkeypatch):
    assert sizes(monkeypatch, [0.001, 9.0, 0.05], 500) == [500, 500, 500]
