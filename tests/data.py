"""Where the real data sets lie, beside the checkout; tests that want them skip, with a reason, where they are not."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).parents[2] / "shared" / "data"
needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"the real data sets are not at {DATA.name} beside the checkout"
)
