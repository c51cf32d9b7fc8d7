"""Models and generators as people write them: `nb`, `nb(smoothing=0.5)`, `bagging(nb, n_estimators=5)`.

Arguments are literals, names of recipes, or other models: read by their grammar, never evaluated.
"""

from __future__ import annotations

import ast
import copy
import difflib
import inspect
import re
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any, cast

from bayou.cli.console import UsageError
from bayou.errors import BayouError

_SHORT = {
    "NaiveBayes": "nb",
    "MultinomialNB": "mnb",
    "ComplementNB": "cnb",
    "BernoulliNB": "bnb",
    "WeightedNB": "wnb",
    "AveragedNB": "anb",
    "MajorityClass": "majority",
    "HoeffdingTree": "tree",
    "CountForest": "forest",
    "EcocNB": "ecoc",
    "WeightedVoting": "voting",
    "ResetOnDrift": "reset",
    "ReadMany": "read-many",
    "RandomNetworks": "networks",
    "SuperParent": "super-parent",
    "MixedGaussian": "mixed",
    "ManyGaussians": "many",
    "BagOfWords": "words",
}
_NICKNAMES = {  # for pairings people ask for often
    "nb-modl": "nb(numeric='gk', bins='modl')",
    "nb-fayyad-irani": "nb(numeric='gk', bins='fayyad-irani')",
    "wnb-modl": "wnb(numeric='gk', bins='modl')",
    "forest-and-networks": "pool([forest, networks])",
}
UNNAMED = "auto"  # what learns if no model is named
MERGED = "nb"  # and where what is learned apart has to be merged
_SPEC = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:\((.*)\))?\s*", re.DOTALL)


def short_name(name: str) -> str:
    """The name people type: `nb` for NaiveBayes, else the class's own in lower case with hyphens.

    >>> short_name("NaiveBayes"), short_name("NoChange"), short_name("AODE")
    ('nb', 'no-change', 'aode')
    """
    return _SHORT.get(name) or re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


class Offered(Mapping[str, type[Any]]):
    """Classes by the name people type; a class is imported when it is looked up."""

    def __init__(self, *modules: ModuleType, short: bool = True) -> None:
        exported = [(name, module) for module in modules for name in module.__all__]
        self._classes = {short_name(name) if short else name: (name, module) for name, module in exported}

    def __getitem__(self, name: str) -> type[Any]:
        class_name, module = self._classes[name]
        return cast("type[Any]", getattr(module, class_name))

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._classes))

    def __len__(self) -> int:
        return len(self._classes)


def classifiers() -> Mapping[str, type[Any]]:
    """Every classifier there is, by short name."""
    import bayou.classifiers
    import bayou.ensembles

    return Offered(bayou.classifiers, bayou.ensembles)


def generators() -> Mapping[str, type[Any]]:
    """Every generator there is, by short name."""
    from bayou.streams import generators as home

    return Offered(home)


def recipes() -> Mapping[str, type[Any]]:
    """The recipes that arguments may contain, by their class names."""
    import bayou.recipes
    from bayou.schema import Declared

    return {**Offered(bayou.recipes, short=False), "Declared": Declared}


def split_specs(text: str) -> list[str]:
    """The parts between commas that stand outside of brackets and quotes.

    >>> split_specs('nb, nb(smoothing=0.5, prior="a,b"), majority')
    ['nb', 'nb(smoothing=0.5, prior="a,b")', 'majority']
    """
    parts, start, depth, quote = [], 0, 0, ""
    for i, mark in enumerate(text):
        if quote:
            quote = "" if mark == quote else quote
        elif mark in "\"'":
            quote = mark
        elif mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
        elif mark == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


def models(texts: list[str]) -> dict[str, Any]:
    """Models by their specs, the texts that describe them."""
    models_by_spec: dict[str, Any] = {}
    for text in texts:
        for spec in split_specs(text):
            if spec in models_by_spec:
                raise UsageError(f"model {spec!r} is given twice")
            models_by_spec[spec] = build(spec, classifiers(), "model", "bayou models")
            _check_parameters(models_by_spec[spec], spec)
    if not models_by_spec:
        raise UsageError("no model is given; `bayou models` lists them")
    return models_by_spec


def _check_parameters(model: Any, spec: str) -> None:
    """Check the parameters of a model now, not at its first row: a wrong one is an error in an option."""
    twin = copy.deepcopy(model)
    try:
        twin.reset(twin.declared())
    except BayouError as problem:
        raise UsageError(f"cannot make model {spec!r}: {problem}") from None


def build(spec: str, known: Mapping[str, type[Any]], what: str, lister: str) -> Any:
    """The object a spec describes."""
    spec = _NICKNAMES.get(spec.strip(), spec)
    match = _SPEC.fullmatch(spec)
    if match is None:
        raise UsageError(f"cannot read {what} {spec!r}; write it as name or name(option=value)")
    cls = _find(match[1], known, what, lister)
    if match[2] is None or not match[2].strip():
        return _construct(cls, [], {}, spec, what)
    try:
        call = ast.parse(f"f({match[2]})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UsageError(f"cannot read the options of {what} {spec!r}; write name(option=value)") from None
    if not isinstance(call, ast.Call):
        raise UsageError(f"cannot read the options of {what} {spec!r}; write name(option=value)")
    args = [_value(arg, spec, known) for arg in call.args]
    named = {str(k.arg): _value(k.value, spec, known) for k in call.keywords}
    return _construct(cls, args, named, spec, what)


def _find(name: str, known: Mapping[str, type[Any]], what: str, lister: str) -> type[Any]:
    if name.lower() in known:
        return known[name.lower()]
    for cls in known.values():
        if cls.__name__.lower() == name.lower():
            return cls
    near = difflib.get_close_matches(name.lower(), known, 1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise UsageError(f"there is no {what} {name!r}; {hint}`{lister}` lists them: {', '.join(known)}")


def _value(node: ast.expr, spec: str, known: Mapping[str, type[Any]]) -> Any:
    """A literal, a bare word as a string, a recipe, or another model."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        choice = _choice(node.func.id, known)
        if choice is not None:
            args = [_value(arg, spec, known) for arg in node.args]
            named = {str(k.arg): _value(k.value, spec, known) for k in node.keywords}
            return _construct(choice, args, named, spec, "choice")
    if isinstance(node, ast.Dict) and None not in node.keys:  # columns by name, with a recipe for each
        keys = [_value(key, spec, known) for key in node.keys if key is not None]
        return dict(zip(keys, (_value(value, spec, known) for value in node.values), strict=True))
    if isinstance(node, ast.List):
        return [_value(each, spec, known) for each in node.elts]
    if isinstance(node, ast.Name):
        return known[node.id]() if node.id in known else node.id
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise UsageError(
            f"cannot read {ast.unparse(node)!r} in {spec!r}; options are numbers, words, lists or recipes"
        ) from None


def _choice(name: str, known: Mapping[str, type[Any]]) -> type[Any] | None:
    """The class that a call in an argument names; no other class is imported, which would take .2 s."""
    if name in known:
        return known[name]
    chosen = recipes().get(name)
    return chosen or next((cls for cls in known.values() if cls.__name__ == name), None)


def _construct(cls: type[Any], args: list[Any], named: dict[str, Any], spec: str, what: str) -> Any:
    known = list(parameters(cls))
    for name in named:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}?" if near else f"; it has {', '.join(known) or 'none'}"
            raise UsageError(f"{cls.__name__} has no option {name!r}{hint}")
    try:
        return cls(*args, **named)
    except (TypeError, ValueError) as problem:
        raise UsageError(f"cannot make {what} {spec!r}: {problem}") from None


def parameters(cls: type[Any]) -> dict[str, inspect.Parameter]:
    """Constructor parameters by name."""
    if cls.__init__ is object.__init__:
        return {}
    return {n: p for n, p in inspect.signature(cls.__init__).parameters.items() if n != "self"}
