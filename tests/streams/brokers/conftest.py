from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from tests.persist.forge import Forge


class _Watched(Forge):
    """A forge that knows whether its child still runs: one that follows a log would never end by itself."""

    child: int | None = None

    def start(self, **command: Any) -> int:
        self.child = super().start(**command)
        return self.child

    def status(self) -> int:
        found = super().status()
        self.child = None
        return found


@pytest.fixture(scope="session")
def _forge() -> Iterator[_Watched]:
    made = _Watched()
    yield made
    made.close()


@pytest.fixture
def forge(_forge: _Watched) -> Iterator[Forge]:
    yield _forge
    if _forge.child is not None:  # a test that failed has left it behind
        with contextlib.suppress(ProcessLookupError):  # it ended by itself
            os.kill(_forge.child, signal.SIGKILL)
        _forge.status()
