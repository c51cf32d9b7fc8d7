"""Parameters as strict JSON, and back. Long lists go into arrays; the rest stays readable.

null, true, 1, 1.5 and "text" stand for themselves. Everything else is an object with one key that says what it
is: {"float": "inf"}, {"bytes": hex}, {"list": [...]}, {"tuple": [...]}, {"map": [[key, value], ...]},
{"labels": number, "as": "list"}, {"array": number}, {"recipe": id, "params": {...}}, {"model": id, "params": {...}}.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.errors import ModelFileError
from bayou.persist.container import Arrays
from bayou.persist.kinds import Kinds
from bayou.persist.labels import LabelReader, LabelWriter, all_labels
from bayou.persist.typed import check_types
from bayou.recipe import Recipe

MAX_DEPTH = 32
SHORT = 8  # longer sequences of labels or numbers go into arrays
PREFIX = "param."
_SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


class DocumentWriter:
    """Converts parameters into JSON values, and collects the arrays they refer to."""

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = kinds
        self.labels = LabelWriter()
        self.parameters: dict[str, NDArray[Any]] = {}

    def params(self, owner: Any) -> dict[str, Any]:
        """The parameters of a classifier or recipe; refuses what could not be loaded again."""
        params = {name: _plain(value) for name, value in owner.get_params(deep=False).items()}
        check_types(type(owner), params)
        return {name: self.value(value) for name, value in params.items()}

    def value(self, value: Any) -> Any:
        """A parameter as a JSON value; long lists become arrays beside the document."""
        value = _plain(value)
        if value is None or isinstance(value, bool | int | str):
            return self._plain(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, Mapping):
            return {"map": [[self.value(k), self.value(v)] for k, v in value.items()]}
        if isinstance(value, list | tuple):
            return self._sequence(value)
        if isinstance(value, Recipe):
            return {
                "recipe": self.kinds.recipe_id(value),
                "params": self.params(value),
            }
        if hasattr(value, "get_params") and not isinstance(value, type):
            return {"model": self.kinds.model_id(value), "params": self.params(value)}
        raise ModelFileError(
            f"a parameter of type {type(value).__name__} cannot be stored; use numbers, text, recipes or classifiers"
        )

    def _plain(self, value: bool | int | str | None) -> Any:
        if isinstance(value, str):
            try:
                value.encode()
            except UnicodeEncodeError:
                return {"labels": self.labels.add([value]), "as": "str"}
        return value

    def _sequence(self, value: Sequence[Any]) -> dict[str, Any]:
        shape = "list" if isinstance(value, list) else "tuple"
        if len(value) > SHORT and all_labels(value):
            return {"labels": self.labels.add(value), "as": shape}
        return {shape: [self.value(v) for v in value]}

    def _array(self, value: NDArray[Any]) -> dict[str, Any]:
        if value.dtype.kind not in "biuf":
            if value.ndim != 1:
                raise ModelFileError(f"a parameter array of type {value.dtype} cannot be stored; give a list")
            return {"labels": self.labels.add(value.tolist()), "as": "list"}
        number = len(self.parameters)
        self.parameters[f"{PREFIX}{number}"] = value
        return {"array": number}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that the document refers to."""
        return {**self.parameters, **self.labels.arrays()}


class DocumentReader:
    """Converts JSON values back into parameters; makes only classes among `kinds`."""

    def __init__(self, kinds: Kinds, labels: LabelReader, arrays: Arrays) -> None:
        self.kinds, self.labels = kinds, labels
        self._arrays = {name: a for name, a in arrays.items() if name.startswith(PREFIX)}
        self._used: set[str] = set()

    def check_used(self) -> None:
        """Refuse arrays that no parameter refers to."""
        unused = sorted(set(self._arrays) - self._used)
        if unused:
            raise ModelFileError(f"array {unused[0]!r} belongs to no parameter")

    def params(self, params: object, depth: int = 0) -> dict[str, Any]:
        """Parameters by name, from a JSON object."""
        if not isinstance(params, dict):
            raise ModelFileError("parameters must be an object")
        return {name: self.value(value, depth + 1) for name, value in params.items()}

    def value(self, value: Any, depth: int = 0) -> Any:
        """The parameter that a JSON value stands for; refuses anything that `DocumentWriter` does not write."""
        if depth > MAX_DEPTH:
            raise ModelFileError(f"parameters nested more than {MAX_DEPTH} deep")
        if value is None or isinstance(value, bool | int | float | str):
            return value
        match value:
            case {"float": "inf" | "-inf" | "nan" as text, **rest} if not rest:
                return _SPECIAL[text]
            case {"bytes": str(text), **rest} if not rest:
                return _from_hex(text)
            case {"list": list(items), **rest} if not rest:
                return [self.value(item, depth + 1) for item in items]
            case {"tuple": list(items), **rest} if not rest:
                return tuple(self.value(item, depth + 1) for item in items)
            case {"map": list(items), **rest} if not rest:
                return self._map(items, depth + 1)
            case {"labels": number, "as": "list" | "tuple" | "str" as shape, **rest} if not rest:
                return self._labels(number, shape)
            case {"array": int(number), **rest} if not rest:
                return self._array(number)
            case {"recipe": kind, "params": params, **rest} if not rest:
                return self.kinds.recipe(kind, self.params(params, depth + 1))
            case {"model": kind, "params": params, **rest} if not rest:
                return self.kinds.model(kind, self.params(params, depth + 1))
        raise ModelFileError(f"not a parameter: {repr(value)[:60]}")

    def _map(self, items: list[Any], depth: int) -> dict[Any, Any]:
        out: dict[Any, Any] = {}
        for item in items:
            if not isinstance(item, list) or len(item) != 2 or isinstance(item[0], list):
                raise ModelFileError("a map is a list of pairs")
            key = self.value(item[0], depth)
            parts = key if isinstance(key, tuple) else (key,)  # a pair of classes has a cost
            if not all(isinstance(part, str | bytes | int | float | bool) for part in parts) or key in out:
                raise ModelFileError(f"not a key, or one that comes twice: {repr(key)[:60]}")
            out[key] = self.value(item[1], depth)
        return out

    def _labels(self, number: object, shape: str) -> Any:
        labels = self.labels.read(number)
        if shape == "str":
            if len(labels) != 1:
                raise ModelFileError("a text must be a list of one label")
            return labels[0]
        return labels if shape == "list" else tuple(labels)

    def _array(self, number: int) -> NDArray[Any]:
        array = self._arrays.get(f"{PREFIX}{number}")
        if array is None:
            raise ModelFileError(f"there is no parameter array {number}"[:80])
        self._used.add(f"{PREFIX}{number}")
        return array.copy()


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _from_hex(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError as problem:
        raise ModelFileError("bytes must be hexadecimal") from problem
