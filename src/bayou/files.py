"""Saving and loading any classifier bayou has: the table of kinds that `bayou.persist` is handed."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from bayou.persist import model_file
from bayou.persist.kinds import Kinds
from bayou.recipe import Recipe


class _Offered(Mapping[str, type[Any]]):
    """Classes by name, each imported when it is asked for: a process that reads a model waits for no other."""

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._homes = dict(homes)

    def __getitem__(self, name: str) -> type[Any]:
        found: type[Any] = getattr(importlib.import_module(self._homes[name]), name)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._homes

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)


@cache
def kinds() -> Kinds:
    """Every classifier, ensemble and recipe by its short id: the class's first name, kept if it is renamed."""
    from bayou import classifiers, ensembles, recipes
    from bayou.schema import Declared

    homes = {name: home.__name__ for home in (classifiers, ensembles) for name in home.__all__}
    choices = {name: getattr(recipes, name) for name in recipes.__all__}
    return Kinds(
        _Offered(homes),
        {
            "Declared": Declared,
            **{
                name: cls
                for name, cls in choices.items()
                if isinstance(cls, type) and issubclass(cls, Recipe) and cls is not Recipe
            },
        },
    )


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model file; whoever reads the path sees the old file or the new one, never a part.

    Parameters
    ----------
    model
        Any classifier or ensemble of bayou, trained or not.
    path
        The file; the usual ending is `.bayou`.

    Raises
    ------
    BayouError
        If the model holds something that is not of bayou, such as a classifier of scikit-learn.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from bayou import NaiveBayes
    >>> model = NaiveBayes()
    >>> model.learn_one({"sky": "blue"}, "dry")
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "m.bayou"
    >>> save(model, path)
    >>> load(path).predict_one({"sky": "blue"})
    'dry'
    """
    model_file.save(model, path, kinds())


def load(path: str | os.PathLike[str]) -> Any:
    """Load the model in a file, which may come from a stranger: nothing in it is executed or imported.

    Parameters
    ----------
    path
        A file that `save` or `bayou learn` wrote.

    Returns
    -------
    Estimator
        The model as it was saved, bit for bit; learning on gives the bits of never having stopped.

    Raises
    ------
    ModelFileError
        If the file is damaged, hostile, or of another version.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from bayou import MajorityClass
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "m.bayou"
    >>> MajorityClass().fit([[1], [2]], ["a", "a"]).save(path)
    >>> load(path)
    MajorityClass()
    """
    return model_file.load(path, kinds())


def dumps(model: Any) -> bytes:
    """The model file as bytes."""
    return model_file.dumps(model, kinds())


def loads(data: bytes | memoryview) -> Any:
    """The model in the bytes of a model file."""
    return model_file.loads(data, kinds())
