"""Chunks so small that a few hundred rows cross many of them."""

from __future__ import annotations

import pytest

from bayou.streams import limits


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CHUNK", 2_000)
    monkeypatch.setattr(limits, "BATCH", 64)
