"""Saving and loading of all classifiers, with the table of classes that `bayou.persist` accepts in a file."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from bayou.persist import model_file
from bayou.persist.kinds import Kinds
from bayou.recipe import Recipe


class _LazyClasses(Mapping[str, type[Any]]):
    """Classes by name, each imported at first use, so that a process imports only the classes of its models."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = dict(modules)

    def __getitem__(self, name: str) -> type[Any]:
        cls: type[Any] = getattr(importlib.import_module(self._modules[name]), name)
        return cls

    def __contains__(self, name: object) -> bool:
        return name in self._modules

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


@cache
def kinds() -> Kinds:
    """Every classifier, ensemble and recipe by its short id: the class's first name, kept if it is renamed."""
    from bayou import classifiers, ensembles, recipes
    from bayou.schema import Declared

    modules = {name: module.__name__ for module in (classifiers, ensembles) for name in module.__all__}
    recipe_names = {name: getattr(recipes, name) for name in recipes.__all__}
    return Kinds(
        _LazyClasses(modules),
        {
            "Declared": Declared,
            **{
                name: cls
                for name, cls in recipe_names.items()
                if isinstance(cls, type) and issubclass(cls, Recipe) and cls is not Recipe
            },
        },
    )


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model file, atomically: readers of the path see the old file or the new one, never a part.

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
    """Load a model file, also one from an untrusted source: nothing in it is executed or imported.

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
