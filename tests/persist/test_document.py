"""Parameters in a file's document: each form is read as what it stands for, nests as deep as it may, and no deeper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bayou.errors import ModelFileError
from bayou.persist.document import MAX_DEPTH, DocumentReader


class Told:
    """Kinds and labels that give back what they are asked for."""

    def recipe(self, kind: object, params: dict[str, Any]) -> Any:
        return kind, params

    model = recipe

    def read(self, number: object) -> list[Any]:
        return [number]


# Around a value, levels it adds, what it is read as
Form = tuple[Callable[[Any], Any], int, Callable[[Any], Any]]
FORMS: dict[str, Form] = {
    "list": (lambda inner: {"list": [inner]}, 1, lambda inner: [inner]),
    "tuple": (lambda inner: {"tuple": [inner]}, 1, lambda inner: (inner,)),
    "map": (lambda inner: {"map": [["k", inner]]}, 1, lambda inner: {"k": inner}),
    "recipe": (
        lambda inner: {"recipe": "r", "params": {"p": inner}}, 2, lambda inner: ("r", {"p": inner}),
    ),
    "model": (
        lambda inner: {"model": "m", "params": {"p": inner}}, 2, lambda inner: ("m", {"p": inner}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_parameters_nest_as_deep_as_they_may_and_no_deeper(form: str) -> None:
    around, levels, read_as = FORMS[form]
    value: Any = 1.5
    want: Any = 1.5
    told: Any = Told()
    for depth in range(0, MAX_DEPTH + 2 * levels, levels):
        reader = DocumentReader(told, told, {})
        if depth <= MAX_DEPTH:
            assert reader.value(value) == want
        else:
            with pytest.raises(ModelFileError, match=f"more than {MAX_DEPTH} deep"):
                reader.value(value)
        if depth < MAX_DEPTH:  # parameters of a model are one deeper
            assert reader.params({"p": value}) == {"p": want}
        else:
            with pytest.raises(ModelFileError, match=f"more than {MAX_DEPTH} deep"):
                reader.params({"p": value})
        value, want = around(value), read_as(want)


@pytest.mark.parametrize(
    "value",
    [
        {"list": [1], "more": 1}, {"tuple": [1], "more": 1}, {"map": [], "more": 1}, {"float": "inf", "more": 1},
        {"bytes": "00", "more": 1}, {"array": 0, "more": 1}, {"labels": 0, "as": "list", "more": 1},
        {"recipe": "r", "params": {}, "more": 1}, {"model": "m", "params": {}, "more": 1},
        {"list": 1}, {"float": "1"}, {"labels": 0, "as": "set"}, {"recipe": "r"}, [1], {},
    ],
    ids=str,
)  # fmt: skip
def test_whatever_no_writer_writes_is_refused(value: Any) -> None:
    told: Any = Told()
    with pytest.raises(ModelFileError, match="not a parameter"):
        DocumentReader(told, told, {}).value(value)


@pytest.mark.parametrize(
    "items", [[["k"]], [["k", 1, 2]], [1], [[["k"], 1]], [["k", 1], ["k", 2]], [[None, 1]]], ids=str
)
def test_maps_are_lists_of_pairs_with_a_key_each(items: list[Any]) -> None:
    told: Any = Told()
    with pytest.raises(ModelFileError, match=r"list of pairs|not a key"):
        DocumentReader(told, told, {}).value({"map": items})
