"""What `dir(model)` shows: everything users need, and nothing that only other parts of the library call."""

from __future__ import annotations

import inspect

import pytest

import bayou
from bayou import classifiers, ensembles
from bayou.classifiers.estimator import Estimator

VERBS = set(
    "fit partial_fit predict predict_proba predict_log_proba score learn_one learn_many predict_one predict_many "
    "predict_proba_one predict_proba_many test_then_train_batch refresh reset explain importance bins_of sample fresh "
    "merge unlearn decay digest save export get_params set_params".split()
)
ATTRIBUTES = set("classes_ schema_ labels law memory_bytes position unusable".split())
SPECIAL = {
    "HoeffdingTree": {"leaves", "depth", "from_tree", "text", "dot", "path"},
    "CountForest": {"freeze", "grow", "uses", "partial"},
    "RandomNetworks": {"coarsened"},
    "AdaptiveForest": {"replaced", "warned"},
    "Auto": {"shares_", "record_"},
    "Calibrated": {"calibration_error_", "decision", "reliability_"},
    "ConformalSet": {"predict_set", "predict_set_one", "sets_then_train", "coverage_", "set_size_"},
    "AWE": {"weights"},
    "EcocNB": {"decision", "fitted"},
    "ResetOnDrift": {"drifts", "drift_rows"},
    "WeightedNB": {"weights_", "word_weights_"},
    "AveragedNB": {"weights_"},
    "TAN": {"parents_", "coarsened"},
    "FAN": {"parents_", "coarsened"},
    "SuperParent": {"super_parent_", "coarsened"},
    "SPCr": {"super_parent_", "coarsened"},
    "ReadMany": {"record_", "best_", "coarsened"},
    **{name: {"coarsened"} for name in ("AODE", "FANC", "SPC", "TC", "Collection")},
}
NAMES = [*classifiers.__all__, *ensembles.__all__]


@pytest.mark.parametrize("name", NAMES)
def test_verbs_parameters_and_fitted_attributes(name):
    model = getattr(bayou, name)()
    expected = VERBS | ATTRIBUTES | set(model.get_params(deep=False)) | SPECIAL.get(name, set())
    assert set(dir(model)) == expected
    model.fit([[1.0], [2.0], [3.0], [4.0]] * 5, ["a", "b"] * 10)
    assert set(dir(model)) == expected | {"n_features_in_"}
    for shown in dir(model):
        value = inspect.getattr_static(type(model), shown, None)
        if shown not in model.get_params(deep=False) and shown != "n_features_in_":
            assert value.__doc__, f"{shown} says nothing about itself"
            getattr(model, shown)


def test_what_a_stranger_adds_is_shown_and_what_he_fills_in_is_not():
    class Mine(Estimator):
        def __init__(self, prior=1.0):
            self.prior = prior

        def views(self):
            return {}

        def my_verb(self):
            """Theirs."""

    shown = dir(Mine())
    assert "my_verb" in shown
    assert "prior" in shown
    assert "views" not in shown
