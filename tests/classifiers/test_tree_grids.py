"""Trees whose leaves keep PiD or cPiD: the same cuts as exact counts while values are few, the contract, and files."""

from __future__ import annotations

import numpy as np
import pytest

from bayou import CPiD, GKClass, HoeffdingTree, PiD, load
from bayou.errors import SchemaError
from bayou.testing import CHECKS

EAGER = {"grace": 25, "delta": 0.1, "tie": 0.3, "leaf": "majority"}


def steps(rows, seed=0):
    """Whole numbers, and a class that depends on two of three columns by thresholds."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, size=(rows, 3)).astype(float)
    return X, ((X[:, 0] > 5) ^ (X[:, 1] > 8)).astype(int)


@pytest.mark.parametrize("numeric", [PiD(), CPiD(cells=50)], ids=["pid", "cpid"])
def test_while_a_leaf_keeps_its_values_its_cuts_are_exact(numeric):
    """Below a thousand values a grid is read off the values themselves, as quantiles of few values are."""
    X, y = steps(900)
    grids, exact = (HoeffdingTree(numeric=n, **EAGER).partial_fit(X, y) for n in (numeric, GKClass()))
    assert grids.leaves > 2
    assert grids.text() == exact.text()
    assert np.array_equal(grids.predict_proba(X), exact.predict_proba(X))


@pytest.mark.parametrize("numeric", ["pid", "cpid"])
def test_grids_find_the_thresholds_of_a_long_stream(numeric):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12_000, 3))
    y = ((X[:, 0] > 0.4) & (X[:, 1] < 1.0)).astype(int)
    model = HoeffdingTree(numeric=numeric, leaf="majority").partial_fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.97


def test_a_saved_tree_goes_on_as_if_nothing_had_happened(tmp_path):
    X, y = steps(2600, seed=2)
    whole, part = (HoeffdingTree(numeric="cpid", **EAGER) for _ in range(2))
    whole.partial_fit(X, y)
    # Some leaves warm up, others have their range
    part.partial_fit(X[:1700], y[:1700]).save(tmp_path / "tree.bayou")
    again = load(tmp_path / "tree.bayou").partial_fit(X[1700:], y[1700:])
    assert again.digest() == whole.digest()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(check):
    check(lambda: HoeffdingTree(numeric=CPiD(cells=20), grace=20, delta=0.3, tie=0.3), 0)


def test_other_densities_are_refused():
    with pytest.raises(SchemaError, match="cpid"):
        HoeffdingTree(numeric="kernel").learn_one({"a": 1.0}, 0)
