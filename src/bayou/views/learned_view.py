"""A view of a summary that the engine updates and reads itself."""

from __future__ import annotations

from typing import Any, Self

from bayou.views.view import View


class LearnedView(View[Any]):
    """A summary that is merged, realigned and saved with the other views, but updated and read by the engine alone."""

    def fresh(self) -> Self:
        return type(self)(self.summary.fresh())
