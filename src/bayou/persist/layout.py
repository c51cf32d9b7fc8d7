"""The arrays that a kind of model has over a schema: names, types, and the axis of the schema that each axis follows.

No classifier declares this. It is found by starting an empty model over two tiny schemas whose axes all have
different lengths: an axis that is 3 long over the first and 5 over the second is the axis of the classes. So the
arrays of a file are compared with what its kind and schema imply before anything of their size is allocated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from bayou.errors import ModelFileError
from bayou.persist.container import Arrays
from bayou.persist.invariants import loose_views
from bayou.persist.schema_file import axes
from bayou.persist.size import least_bytes
from bayou.schema import Declared, Kind, Schema

OWN = "own"  # the axis of the vocabulary of an array's own column
READING = ".reading."
LARGE = 8 << 20  # bytes of an empty model, beyond which none is made to find its layout
_NUMBER = re.compile(r"(?<=\.)\d+(?=\.)")
_HOMES = {"nominal": Kind.NOMINAL, "text": Kind.TEXT}


@dataclass(frozen=True)
class Slot:
    """Type and axes of an array, or of a numbered family with one array per class or column (`per`).

    An axis is one of the schema's (`OWN`: the vocabulary of the array's column), of fixed length, or free (None).
    """

    dtype: str
    axes: tuple[str | int | None, ...]
    per: str | None = None

    def shape(self, sizes: Mapping[str, int], fixed: bool) -> tuple[int | None, ...]:
        """The implied lengths, None for any; unless `fixed`, only axes of the schema other than values are implied."""
        free = () if fixed else ("values",)
        lengths = {**sizes, **dict.fromkeys(free)}
        return tuple(lengths[a] if isinstance(a, str) else a if fixed else None for a in self.axes)


@dataclass(frozen=True)
class Layout:
    """Slots by name, with "#" for the number of a column, and the prefixes of arrays without a slot (`unknown`).

    Under the prefixes in `loose` fixed lengths may differ: their summary or reader checks them.
    """

    slots: Mapping[str, Slot]
    unknown: tuple[str, ...]
    loose: tuple[str, ...]


def _probe(classes: int, numeric: int, values: tuple[int, ...], words: tuple[int, ...]) -> Schema:
    schema = Schema(Declared())
    schema.classes.extend(f"c{i}" for i in range(classes))
    for j in range(numeric):
        schema.add_column(f"n{j}", Kind.NUMERIC)
    for kind, sizes in ((Kind.NOMINAL, values), (Kind.TEXT, words)):
        for j, size in enumerate(sizes):
            schema.add_column(f"{kind}{j}", kind, (f"v{i}" for i in range(size)))
    return schema


def probe_schemas() -> tuple[Schema, Schema]:
    """Two small schemas over which no two axes have the same pair of lengths."""
    return _probe(3, 11, (5, 8), (16, 1, 2, 4)), _probe(5, 19, (4, 3, 4, 6, 6, 6), (10, 21))


def layout_of(make: Callable[[], Any]) -> Layout | None:
    """The layout of the models that `make` returns; None if these cannot start over small schemas, or are too large."""
    schemas = probe_schemas()
    families = []
    try:
        engine = make().build_engine()
        if any(least_bytes(engine, schema.shape()) > LARGE for schema in schemas):
            return None
        for schema in schemas:
            model = make()
            model.begin(schema)
            families.append(_families(model.arrays()))
        empty = make()
        empty.begin(Schema())
    except Exception:  # a model for certain classes or columns, or impossible parameters
        return None
    slots: dict[str, Slot] = {}
    unknown = set()
    for name in {*families[0], *families[1]}:
        members = families[0].get(name, {}), families[1].get(name, {})
        # The same numbers over both schemas: a slot for each array
        if "#" in name and set(members[0]) == set(members[1]):
            singles = {
                name.replace("#", str(i)): ({i: members[0][i]}, {i: members[1][i]}) for i in members[0]
            }
        else:
            singles = {name: members}
        for single, pair in singles.items():
            slot = _slot(single, pair, schemas)
            if slot is None:
                unknown.add(_home(single))
            else:
                slots[single] = slot
    return Layout(slots, tuple(unknown), loose_views(empty))


def _home(name: str) -> str:
    """The prefix that an array shares with the others of its summary."""
    return name.partition("#")[0] if "#" in name else name.rpartition(".")[0] + "."


def _families(arrays: Arrays) -> dict[str, dict[int, Any]]:
    """Arrays by name, the last number replaced by "#", and by that number."""
    out: dict[str, dict[int, Any]] = {}
    for name, array in arrays.items():
        numbers = list(_NUMBER.finditer(name))
        if numbers:
            begin, end = numbers[-1].span()
            out.setdefault(f"{name[:begin]}#{name[end:]}", {})[int(name[begin:end])] = array
        else:
            out.setdefault(name, {})[0] = array
    return out


def _slot(
    name: str, families: tuple[dict[int, Any], dict[int, Any]], schemas: tuple[Schema, Schema]
) -> Slot | None:
    arrays_by_schema = [[family[i] for i in sorted(family)] for family in families]
    sizes = [axes(schema) for schema in schemas]
    symbols = {(sizes[0][axis], sizes[1][axis]): axis for axis in sizes[0]}
    per = symbols.get((len(arrays_by_schema[0]), len(arrays_by_schema[1]))) if "#" in name else None
    members = [array for arrays in arrays_by_schema for array in arrays]
    if ("#" in name) != (per is not None) or len({(a.dtype.str, a.ndim) for a in members}) != 1:
        return None
    slot_axes: list[str | int | None] = []
    for axis in range(members[0].ndim):
        lengths = [[a.shape[axis] for a in arrays] for arrays in arrays_by_schema]
        distinct = [set(row) for row in lengths]
        if per in _HOMES and lengths == [_own_sizes(schema, _HOMES[per]) for schema in schemas]:
            slot_axes.append(OWN)
        elif len(distinct[0]) != 1 or len(distinct[1]) != 1:
            slot_axes.append(None)
        else:
            n, m = lengths[0][0], lengths[1][0]
            slot_axes.append(symbols.get((n, m), n if n == m > 0 else None))
    return Slot(members[0].dtype.str, tuple(slot_axes), per)


def _own_sizes(schema: Schema, kind: Kind) -> list[int]:
    return [v.size for v in schema.vocabulary_list(kind)]


def check_layout(layout: Layout, arrays: Arrays, schema: Schema) -> None:
    """Refuse arrays that the layout does not imply."""
    sizes = axes(schema)
    expected: dict[str, tuple[Slot, Mapping[str, int]]] = {}
    for name, slot in layout.slots.items():
        if slot.per is None:
            expected[name] = slot, sizes
            continue
        own_sizes = _own_sizes(schema, _HOMES[slot.per]) if slot.per in _HOMES else [0] * sizes[slot.per]
        if len(own_sizes) > len(arrays):
            raise ModelFileError(
                f"{len(own_sizes):,} arrays {name!r} are implied, and the file has {len(arrays):,} in all"
            )
        for i, size in enumerate(own_sizes):
            expected[name.replace("#", str(i))] = slot, {**sizes, OWN: size}
    checked = {name: a for name, a in arrays.items() if not name.startswith(layout.unknown)}
    _check_names([name for name in expected if not name.startswith(layout.unknown)], checked)
    for name, array in checked.items():
        slot, lengths = expected[name]
        implied = slot.shape(lengths, fixed=not name.startswith(layout.loose))
        if READING in name:  # its length depends on the search, and its reader checks it
            implied = (None,) * len(implied)
        fits = len(implied) == array.ndim and all(
            w is None or w == n for w, n in zip(implied, array.shape, strict=True)
        )
        if array.dtype.str != slot.dtype or not fits:
            shown = ", ".join("any" if w is None else str(w) for w in implied)
            raise ModelFileError(
                f"array {name!r} is {array.dtype}{list(array.shape)}; its kind and schema imply {slot.dtype}[{shown}]"
            )


def check_alike(expected: Arrays, arrays: Arrays) -> None:
    """Without a layout: refuse arrays whose names, types or numbers of axes differ from those of a new model."""
    _check_names(expected, arrays)
    for name, array in arrays.items():
        if array.dtype != expected[name].dtype or array.ndim != expected[name].ndim:
            raise ModelFileError(
                f"array {name!r} must be {expected[name].dtype} with {expected[name].ndim} axes"
            )


def _check_names(expected: Collection[str], actual: Collection[str]) -> None:
    if set(expected) != set(actual):
        differ = ", ".join(sorted(set(expected) ^ set(actual))[:5])
        raise ModelFileError(f"arrays that are missing or do not belong: {differ[:200]}")
