"""What must hold between the numbers of a state, checked before a kernel sees them.

Every summary answers for its own arrays (`State.check`), once it is realigned to the schema.
Readings are checked by their readers' `restore`, and what an engine keeps besides its views by the engine's.
`bayou.checks` has the parts.
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
    """Prefixes of the arrays for whose lengths a summary or reader answers itself."""
    return tuple(
        prefix
        for prefix, view in views_of(model.engine)
        if view.searched or not isinstance(view.summary, State) or view.summary.has_free_axes()
    )


def check_state(model: Any, arrays: Arrays) -> None:
    """Refuse arrays that no sequence of rows can have left in a model that has begun."""
    for prefix, view in views_of(model.engine):
        left = under(prefix, arrays)
        for state in view.states():
            names = state.arrays()
            if not hasattr(state, "check"):
                raise ModelFileError(
                    f"{type(state).__name__} does not say what its arrays must satisfy; derive it from ArraySummary "
                    "and declare them"
                )
            own = [name for name in left if name in names]
            try:
                state.check({name: left.pop(name) for name in own})
            except ModelFileError:
                raise
            except Exception as problem:  # an objection of any type is an objection
                raise ModelFileError(f"the state contradicts itself: {problem}") from problem
        require(
            all(name.startswith(READING) for name in left), f"arrays that belong to nobody: {', '.join(left)}"
        )
