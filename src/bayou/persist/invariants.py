"""Invariants of a model's arrays, checked before a kernel reads them.

Every summary checks its own arrays (`State.check`), once it is realigned to the schema. Readings are checked by their
readers' `restore`, and arrays of an engine besides its views by the engine's `restore`. `bayou.checks` has helpers.
"""

from __future__ import annotations

from typing import Any

from bayou.checks import require
from bayou.engines.engine import under, views_of
from bayou.errors import ModelFileError
from bayou.persist.container import Arrays
from bayou.summaries.array_summary import State

READING = "reading."


def loose_views(model: Any) -> tuple[str, ...]:
    """Prefixes of the arrays whose lengths are checked by their summary or reader."""
    return tuple(
        prefix
        for prefix, view in views_of(model.engine)
        if view.searched or not isinstance(view.summary, State) or view.summary.has_free_axes()
    )


def check_state(model: Any, arrays: Arrays) -> None:
    """Refuse arrays that no sequence of rows can have left in a model that has begun."""
    for prefix, view in views_of(model.engine):
        remaining = under(prefix, arrays)
        for state in view.states():
            names = state.arrays()
            if not hasattr(state, "check"):
                raise ModelFileError(
                    f"{type(state).__name__} does not say what its arrays must satisfy; derive it from ArraySummary "
                    "and declare them"
                )
            state_names = [name for name in remaining if name in names]
            try:
                state.check({name: remaining.pop(name) for name in state_names})
            except ModelFileError:
                raise
            except Exception as problem:  # a check that fails in any way refuses the file
                raise ModelFileError(f"the state contradicts itself: {problem}") from problem
        require(
            all(name.startswith(READING) for name in remaining),
            f"arrays that belong to nobody: {', '.join(remaining)}",
        )
