"""What must hold between the numbers of a state, checked before a kernel sees them.

A summary says it itself by a method `check(arrays)` (the capability `Checks`), called once it is realigned to the
schema. Where it has none, its floats must be finite and its integers not negative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.errors import ModelFileError
from bayou.persist.container import Arrays
from bayou.protocols import Checks
from bayou.schema import Kind, Schema
from bayou.summaries.class_counts import ClassCounts
from bayou.summaries.last_label import LastLabel
from bayou.summaries.moments import Moments
from bayou.summaries.value_counts import ValueCounts
from bayou.summaries.word_counts import WordCounts

READING = "reading."
SLACK = 1e-6  # relative: what real weights, decay and unlearning may leave behind


def require(holds: object, what: str) -> None:
    if not holds:
        raise ModelFileError(f"the state contradicts itself: {what}")


def finite(name: str, array: NDArray[Any]) -> None:
    """No NaN and no infinity; integers not negative."""
    if array.dtype.kind == "f":
        require(np.isfinite(array).all(), f"{name} holds NaN or infinity")
    elif array.dtype.kind == "i":
        require(array.min(initial=0) >= 0, f"{name} holds a negative number")


def counts(name: str, array: NDArray[Any]) -> None:
    """Finite, and not negative beyond rounding."""
    finite(name, array)
    floor = -SLACK * max(1.0, float(array.max(initial=0.0)))
    require(array.min(initial=0.0) >= floor, f"{name} holds negative counts")


def _class_counts(arrays: Arrays, schema: Schema) -> None:
    counts("the class weights", arrays["weight"])
    declared = schema.classes.size if schema.closed else 0
    require(arrays["declared"].tolist() == [declared], f"{declared} classes are declared by the schema")


def _last_label(arrays: Arrays, schema: Schema) -> None:
    require(-1 <= arrays["last"][0] < schema.classes.size, "the last label is not a class")


def _value_counts(arrays: Arrays, schema: Schema) -> None:
    vocabularies = schema.vocabulary_list(Kind.NOMINAL)
    require(arrays["sizes"].tolist() == [v.size for v in vocabularies], "sizes are not those of the schema")
    require(
        arrays["declared"].tolist() == [v.declared for v in vocabularies],
        "the declared numbers of values are not those of the schema",
    )
    cells, present = arrays["counts"], arrays["present"]
    counts("the value counts", cells)
    counts("the counts of rows with a value", present)
    ends = np.cumsum(arrays["sizes"])
    for j, (lo, hi) in enumerate(zip(ends - arrays["sizes"], ends, strict=True)):
        gap = np.abs(cells[lo:hi].sum(axis=0) - present[j])
        require((gap <= SLACK * (1.0 + present[j])).all(), f"the counts of nominal column {j} do not add up")


def _moments(arrays: Arrays, schema: Schema) -> None:
    counts("the weights of numeric columns", arrays["n"])
    finite("the means", arrays["mean"])
    counts("the squared deviations", arrays["m2"])


def _word_counts(arrays: Arrays, schema: Schema) -> None:
    vocabularies = schema.vocabulary_list(Kind.TEXT)
    sizes = [[v.size, v.declared] for v in vocabularies]
    require(arrays["sizes"].tolist() == sizes, "the numbers of words are not those of the schema")
    for j in range(len(sizes)):
        counts("the word counts", arrays[f"{j}.counts"])
        counts("the total weights of words", arrays[f"{j}.total"])


_KNOWN: dict[type[Any], Callable[[Arrays, Schema], None]] = {
    ClassCounts: _class_counts,
    LastLabel: _last_label,
    Moments: _moments,
    ValueCounts: _value_counts,
    WordCounts: _word_counts,
}


def parts(model: Any, arrays: Arrays) -> Iterator[tuple[str, Any, dict[str, NDArray[Any]]]]:
    """Name, view and arrays of every view of a model that is made of views."""
    for name, view in getattr(model, "_views", {}).items():
        prefix = f"{name}."
        mine = {k.removeprefix(prefix): a for k, a in arrays.items() if k.startswith(prefix)}
        yield name, view, mine


def loose_views(model: Any) -> set[str]:
    """Views whose summary answers for the lengths of its arrays itself."""
    return {name for name, view, _ in parts(model, {}) if isinstance(view.summary, Checks) or view.searched}


def check_state(model: Any, arrays: Arrays, schema: Schema) -> None:
    """Refuse arrays that no sequence of rows can have left in a model that has begun over the schema."""
    checked: set[str] = set()
    for name, view, mine in parts(model, arrays):
        kept = {k: a for k, a in mine.items() if not k.startswith(READING)}
        check = _KNOWN.get(type(view.summary))
        if isinstance(view.summary, Checks):
            _asked(view.summary.check, kept)
        elif check is not None:
            check(kept, schema)
        else:
            for k, a in kept.items():
                finite(f"{name}.{k}", a)
        checked |= {f"{name}.{k}" for k in mine}
    for name, array in arrays.items():
        if name not in checked:
            finite(name, array)


def _asked(check: Callable[[Arrays], None], arrays: Arrays) -> None:
    try:
        check(arrays)
    except ModelFileError:
        raise
    except Exception as problem:  # an objection of any type is an objection
        raise ModelFileError(f"the state contradicts itself: {problem}") from problem
