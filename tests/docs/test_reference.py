"""Every exported name and every option is in the reference, and docstrings say what a reader needs."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest
from tools.commands_page import PAGE, help_of, section

import bayou
import bayou.classifiers
import bayou.ensembles
import bayou.plots
import bayou.streams.generators
from bayou.classifiers.estimator import Estimator
from bayou.cli.app import functions
from tests.docs.pages import DOCS

REFERENCE = "\n".join(page.read_text() for page in sorted((DOCS / "reference").glob("*.md")))
NAMED = re.findall(r"^::: (\S+)$", REFERENCE, re.MULTILINE)
MEMBERS = set(re.findall(r"[\w]+", " ".join(re.findall(r"members: \[([^\]]*)\]", REFERENCE))))
CALLABLES = [
    name
    for name in bayou.__all__
    if callable(getattr(bayou, name)) and name not in ("MergeLaw", "BayouError")
]
CLASSIFIERS = [*bayou.classifiers.__all__, *bayou.ensembles.__all__]


def test_every_exported_name_is_in_the_reference():
    names = {path.rsplit(".", 1)[1] for path in NAMED}
    exported = {name for name in bayou.__all__ if name != "generators"} | set(
        bayou.streams.generators.__all__
    )
    assert exported - names == set(), "add `::: module.Name` to a page of docs/reference"
    assert set(bayou.plots.__all__) <= MEMBERS


@pytest.mark.parametrize("path", NAMED)
def test_what_the_reference_names_exists_where_it_says(path):
    module, _, name = path.rpartition(".")
    if module == "bayou.plots" or path.startswith("bayou.plots."):
        importlib.import_module(path)
        return
    found = getattr(importlib.import_module(module), name)
    assert found.__module__ == module
    assert (found.__doc__ or "").strip()


def test_every_method_of_a_classifier_is_in_the_reference():
    model = bayou.NaiveBayes()
    assert set(dir(model)) - MEMBERS - set(model.get_params()) == set()


@pytest.mark.parametrize("name", CALLABLES)
def test_docstrings_explain_every_parameter_and_show_an_example(name):
    found = getattr(bayou, name)
    text = inspect.getdoc(found) or ""
    assert ">>>" in text, "an example is missing"
    assert documented(text) >= set(inspect.signature(found).parameters) - {"options"}
    if not inspect.isclass(found):
        assert "\nReturns\n" in text or inspect.signature(found).return_annotation in (None, "None")


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_docstrings_of_classifiers_tell_formula_law_memory_and_time(name):
    text = inspect.getdoc(getattr(bayou, name)) or ""
    assert issubclass(getattr(bayou, name), Estimator)
    head, _, rest = text.partition("\nParameters\n")
    assert re.search(r"P\w*\(|[=^]|\\sum|\\prod", head), "say what it computes, as a formula"
    notes = " ".join(rest.split())
    assert re.search(r"Merge( and unlearn)?: ", notes)
    assert re.search(r"Memory: .* Time: ", notes)
    assert {"Parameters", "Raises", "Examples"} <= set(re.findall(r"^(\w+)\n-+$", text, re.MULTILINE))


MISTAKES: dict[str, dict[str, Any]] = {
    "AdaptiveForest": {"trees": 0}, "Auto": {"budget": "?"}, "Calibrated": {"method": "?"},
    "ConformalSet": {"rate": 0.0},
    "AODE": {"numeric": "?"}, "AveragedNB": {"weights": "?"}, "BernoulliNB": {"prior": "?"},
    "Collection": {"parent_sets": {"sky": [["x"]], "x": [["sky"]]}}, "ComplementNB": {"decision": "?"},
    "CountForest": {"combine": "?"}, "EcocNB": {"code": "?"}, "FAN": {"criterion": "?"}, "FANC": {"prior": "?"},
    "HoeffdingTree": {"split": "?"}, "MajorityClass": {"schema": "?"}, "MultinomialNB": {"prior": "?"},
    "NaiveBayes": {"numeric": "?"}, "NoChange": {"schema": "?"}, "RandomNetworks": {"parents": 3},
    "ReadMany": {"readings": ["?"]}, "SPC": {"order": "?"},
    "SPCr": {"one_in": 0}, "SuperParent": {"one_in": 0}, "TAN": {"order": "?"}, "TC": {"numeric": "?"},
    "WeightedNB": {"rate": "?"}, "AWE": {"chunk": 0}, "Bagging": {"vote": "?"}, "Fading": {"half_life": 0},
    "Pool": {"rate": 0.0}, "ResetOnDrift": {"delta": 2.0}, "WeightedVoting": {"vote": "?"},
    "Window": {"rows": 10, "panes": 3},
}  # fmt: skip


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_docstrings_of_classifiers_tell_what_is_raised(name):
    """Make it with a mistake, and merge, unlearn and fade: what that raises, `Raises` names."""
    kind = getattr(bayou, name)
    rows, labels = [{"sky": "blue", "x": 1.0}, {"sky": "grey", "x": 2.0}] * 5, ["dry", "wet"] * 5
    arguments = {"parent_sets": {}} if name == "Collection" else {}
    model, other = (kind(**arguments).fit(rows, labels) for _ in range(2))
    raised = {
        type(error).__name__
        for work in (
            lambda: kind(**MISTAKES.get(name, {})).fit(rows, labels),
            lambda model=model: model.unlearn(rows[:1], labels[:1]),
            lambda model=model: model.decay(0.5),
            lambda model=model, other=other: model.merge(other),
        )
        if (error := raised_by(work)) is not None
    }
    section = (inspect.getdoc(kind) or "").partition("\nRaises\n")[2].partition("\nExamples\n")[0]
    assert "SchemaError" in raised
    assert raised <= set(re.findall(r"^(\w+Error)$", section, re.MULTILINE))


def raised_by(work: Callable[[], object]) -> Exception | None:
    try:
        work()
    except bayou.BayouError as error:
        return error
    return None


def documented(text: str) -> set[str]:
    """The parameters that a docstring in NumPy's style explains."""
    found = re.search(r"^Parameters\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", text, re.MULTILINE | re.DOTALL)
    names = re.findall(r"^([\w*, ]+)$", found[1] if found else "", re.MULTILINE)
    return {name.strip(" *") for line in names for name in line.split(",")}


@pytest.mark.parametrize("function", functions(), ids=lambda function: function.__name__)
def test_every_option_is_in_the_reference(function):
    """`python tools/commands_page.py` writes the page."""
    text = PAGE.read_text()
    begin = text.index(f"## bayou {function.__name__}\n")
    told = text[begin : text.find("\n## ", begin)] if "\n## " in text[begin:] else text[begin:]
    listed = help_of(function.__name__).split("Exit codes:")[0]
    assert set(re.findall(r"--[a-z][a-z-]*", listed)) == set(re.findall(r"--[a-z][a-z-]*", told))
    now = [
        re.sub(r"`[^`]*`", "", line)
        for line in section(function.__name__).splitlines()
        if line.startswith("| `")
    ]
    assert now == [re.sub(r"`[^`]*`", "", line) for line in told.splitlines() if line.startswith("| `")]


def test_the_glossary_has_the_words_of_the_concepts():
    glossary = (DOCS / "reference" / "glossary.md").read_text().lower()
    concepts = (DOCS / "concepts.md").read_text()
    for word in {w.lower() for w in re.findall(r"\*([a-z][a-z ]+)\*", concepts)}:
        assert word.rstrip("s") in glossary or word in glossary, word
