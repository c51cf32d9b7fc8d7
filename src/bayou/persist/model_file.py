"""Model files: parameters, schema and arrays of a model in one safe, versioned file.

The specification is docs/model-file.md. Loading runs in this order, and each step trusts only those before it:
size, checksum, header, document, labels, parameters, schema, types and shapes, invariants; then the model is made.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import Any

from bayou.errors import ModelFileError
from bayou.persist import labels, schema_file
from bayou.persist.atomic import write_atomic
from bayou.persist.container import MAX_ARRAYS, Arrays, Buffer, pack, strict_dumps, unpack
from bayou.persist.document import PREFIX, DocumentReader, DocumentWriter
from bayou.persist.invariants import check_state
from bayou.persist.kinds import Kinds
from bayou.persist.labels import LabelReader
from bayou.persist.layout import Layout, check_alike, check_layout, layout_of
from bayou.persist.schema_file import read_schema, write_schema
from bayou.persist.size import check_bytes, check_members
from bayou.persist.state import ModelState, restore, state_of
from bayou.schema import Schema

FORMAT = "bayou model"
STATE = "state."
MAX_BYTES = 1 << 36
LONG, MANY = 4_096, 256  # characters of a key of the cache of layouts, and its size
_KEYS = {"kind", "params", "schema", "position", "unusable", "n_features", "feature_names"}


def save(model: Any, path: str | os.PathLike[str], kinds: Kinds) -> None:
    """Write a model file; a reader of the path sees the old file or the new one, never a part.

    Threads that learn or predict with the model wait meanwhile, since the arrays are written without a copy.
    """
    with model.locked():
        write_atomic(path, buffers(model, kinds))


def load(path: str | os.PathLike[str], kinds: Kinds, max_bytes: int = MAX_BYTES) -> Any:
    """Load a model from a file, which may come from anyone; raises ModelFileError if it is not valid."""
    return loads(read_file(path, max_bytes), kinds)


def dumps(model: Any, kinds: Kinds) -> bytes:
    """The model file as bytes; equal models in the same state give equal bytes."""
    with model.locked():
        return b"".join(buffers(model, kinds))


def buffers(model: Any, kinds: Kinds) -> list[Buffer]:
    """The model file as buffers to be written one after the other."""
    writer = DocumentWriter(kinds)
    state = state_of(model)
    if state is None:
        check_members(
            model, MAX_ARRAYS
        )  # a model that could not be saved once it has learned is refused before
    document: dict[str, Any] = dict.fromkeys(sorted(_KEYS))
    document["kind"] = kinds.model_id(model)
    stored: dict[str, Any] = {}
    if state is not None:
        schema_document, stored = write_schema(state.schema, writer)
        names = state.feature_names
        document |= {
            "schema": schema_document,
            "position": int(state.position),
            "unusable": int(state.unusable),
            "n_features": None if state.n_features is None else int(state.n_features),
            "feature_names": None if names is None else writer.labels.add(names),
        }
        check_state(model, state.arrays)
        stored |= {f"{STATE}{name}": array for name, array in state.arrays.items()}
    document["params"] = writer.params(model)
    return pack(FORMAT, document, {**stored, **writer.arrays()})


def loads(data: Buffer, kinds: Kinds) -> Any:
    """Load a model from the bytes of a model file."""
    content = unpack(data, FORMAT)
    document, arrays = content.document, content.arrays
    if set(document) != _KEYS:
        raise ModelFileError(f"the document must have exactly: {', '.join(sorted(_KEYS))}")
    reader = DocumentReader(kinds, LabelReader(arrays), arrays)
    model = kinds.model(document["kind"], reader.params(document["params"]))
    check_members(model, len(arrays) if document["schema"] is not None else MAX_ARRAYS)
    state_arrays = {name.removeprefix(STATE): a for name, a in arrays.items() if name.startswith(STATE)}
    _check_names(arrays, begun=document["schema"] is not None)
    if document["schema"] is None:
        reader.check_used()
        if any(document[key] is not None for key in ("position", "unusable", "n_features", "feature_names")):
            raise ModelFileError("a model that has not begun has no position and no columns")
        return model
    state = _state(document, state_arrays, read_schema(document["schema"], arrays, reader), reader)
    reader.check_used()
    _begin_checked(model, state, len(data), document, kinds)
    return model


def read_file(path: str | os.PathLike[str], max_bytes: int = MAX_BYTES) -> bytes:
    """Read a regular file of at most `max_bytes`."""
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > max_bytes:
            raise ModelFileError(f"{os.fspath(path)} is not a file of at most {max_bytes:,} bytes")
        return file.read(status.st_size + 1)


def _check_names(arrays: Arrays, begun: bool) -> None:
    known = {*labels.NAMES, *((*schema_file.NAMES, schema_file.NOTES) if begun else ())}
    for name in arrays:
        if name not in known and not name.startswith(PREFIX) and not (begun and name.startswith(STATE)):
            raise ModelFileError(f"array {name!r} does not belong into a model file")


def _state(document: Mapping[str, Any], arrays: Arrays, schema: Schema, reader: DocumentReader) -> ModelState:
    position, unusable, features = (document[key] for key in ("position", "unusable", "n_features"))
    for number in (position, unusable, 0 if features is None else features):
        if type(number) is not int or not 0 <= number < 1 << 62:
            raise ModelFileError(f"not a number of rows or columns: {repr(number)[:60]}")
    names = document["feature_names"]
    return ModelState(
        schema, position, unusable, features, None if names is None else reader.labels.names(names), arrays
    )


def _layout(model: Any, document: Mapping[str, Any], kinds: Kinds) -> Layout | None:
    """The layout of a kind with its parameters; cached, since many workers write files of the same model."""
    key = strict_dumps([document["kind"], document["params"]])
    # Some parameters are not in the document but in arrays, so it cannot be the key of a cache
    if len(key) > LONG or '"labels":' in key or '"array":' in key:
        return layout_of(lambda: _twin(model))
    if key not in kinds.layouts:
        if len(kinds.layouts) == MANY:
            kinds.layouts.clear()
        kinds.layouts[key] = layout_of(lambda: _twin(model))
    layout: Layout | None = kinds.layouts[key]
    return layout


def _twin(model: Any) -> Any:
    return type(model)(**model.get_params(deep=False))


def _begin_checked(
    model: Any, state: ModelState, file_bytes: int, document: Mapping[str, Any], kinds: Kinds
) -> None:
    try:
        engine = model.build_engine()
        shape = state.schema.shape()
        check_bytes(engine, shape, file_bytes)
        # Only some of the text columns have the arrays of a bounded vocabulary
        layout = None if shape.seats else _layout(model, document, kinds)
        if layout is not None:
            check_layout(layout, state.arrays, state.schema)
        model.begin(state.schema, engine)
        if layout is None or layout.unknown:
            check_alike(model.arrays(), state.arrays)
        check_state(model, state.arrays)
        restore(model, state)
    except ModelFileError:
        raise
    except (
        Exception
    ) as problem:  # parameters, schema and arrays that do not fit together: the file is not valid
        raise ModelFileError(f"the file does not make a {type(model).__name__}: {problem}") from problem
