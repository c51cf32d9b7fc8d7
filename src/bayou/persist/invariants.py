"""What must hold between the numbers of a state, checked before a kernel sees them.

Every summary answers for its own arrays (`State.check`, the capability `Checks`), once it is realigned to the schema;
a classifier that is not made of views may have the same method for the whole. Readings are checked by their readers'
`restore`. `bayou.checks` has the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from numpy.typing import NDArray

from bayou.checks import finite, require
from bayou.errors import ModelFileError
from bayou.persist.container import Arrays
from bayou.protocols import Checks
from bayou.schema import Schema
from bayou.summaries.array_summary import State

READING = "reading."
MEMBER = "member."


def views(model: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every view of a model and of the models it is made of, with the prefix of its arrays: the one walk there is."""
    for name, view in getattr(model, "_views", {}).items():
        yield f"{prefix}{name}.", view
    for i, member in enumerate(getattr(model, "_members", ())):
        yield from views(member, f"{prefix}{MEMBER}{i}.")


def states(view: Any) -> list[Any]:
    """What answers for the arrays of a view: its summary, and the record of its predictions where it keeps one."""
    return [view.summary, view.record] if hasattr(view, "record") else [view.summary]


def loose_views(model: Any) -> tuple[str, ...]:
    """Prefixes of the arrays for whose lengths a summary or reader answers itself."""
    fixed = [
        prefix
        for prefix, view in views(model)
        if not view.searched and isinstance(view.summary, State) and not view.summary.has_free_axes()
    ]
    return tuple(prefix for prefix, _ in views(model) if prefix not in fixed)


def check_state(model: Any, arrays: Arrays, schema: Schema) -> None:
    """Refuse arrays that no sequence of rows can have left in a model that has begun over the schema."""
    for name, array in arrays.items():
        if name.rpartition(".")[2] in ("rows", "learned"):  # of the model and of the models it is made of
            require(array.shape == (1,), f"{name} must be one number")
            finite(name, array)
    if isinstance(model, Checks):
        _asked(model.check, arrays)
        return
    for prefix, view in views(model):
        left = _under(prefix, arrays)
        for state in states(view):
            names = state.arrays()
            if not isinstance(state, Checks):
                raise ModelFileError(
                    f"{type(state).__name__} does not say what its arrays must satisfy; derive it from ArraySummary "
                    "and declare them"
                )
            own = [name for name in left if name in names]
            _asked(state.check, {name: left.pop(name) for name in own})
        require(
            all(name.startswith(READING) for name in left), f"arrays that belong to nobody: {', '.join(left)}"
        )


def _under(prefix: str, arrays: Arrays) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}


def _asked(check: Callable[[Arrays], None], arrays: Arrays) -> None:
    try:
        check(arrays)
    except ModelFileError:
        raise
    except Exception as problem:  # an objection of any type is an objection
        raise ModelFileError(f"the state contradicts itself: {problem}") from problem
