"""The place among the views of what an engine teaches and reads itself."""

from __future__ import annotations

from typing import Any, Self

from bayou.views.view import View


class LearnedView(View[Any]):
    """A summary that merges, grows and is saved with the others, while the engine alone learns and reads it."""

    def fresh(self) -> Self:
        return type(self)(self.summary.fresh())
