from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.persist.forge import Forge


@pytest.fixture(scope="session")
def forge() -> Iterator[Forge]:
    made = Forge()
    yield made
    made.close()
