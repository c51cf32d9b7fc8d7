"""The whole contract on every exported classifier, and on the choices that change how one reads."""

from __future__ import annotations

import pytest
from tests.seeds import seeds

import bayou.classifiers as classifiers
import bayou.ensembles as ensembles
from bayou import Gaussian, MEstimate, NaiveBayes
from bayou.testing import CHECKS

EXPORTED = {name: getattr(home, name) for home in (classifiers, ensembles) for name in home.__all__}
MODELS = EXPORTED | {
    "NaiveBayes, m-estimate, Laplace prior": lambda: NaiveBayes(smoothing=MEstimate(2.0), prior="laplace"),
    "NaiveBayes, m-estimate, shares": lambda: NaiveBayes(smoothing=MEstimate(1.0, "pooled", 0.1)),
    "NaiveBayes, quantiles and MODL": lambda: NaiveBayes(numeric="gk"),
    "NaiveBayes, cPiD and equal frequency": lambda: NaiveBayes(numeric="cpid", bins="equal-frequency"),
    "NaiveBayes, PiD and Fayyad-Irani": lambda: NaiveBayes(numeric="pid", bins="fayyad-irani"),
    "NaiveBayes, sketches": lambda: NaiveBayes(nominal="sketch"),
    "NaiveBayes, groups of values and kernels": lambda: NaiveBayes(groups="modl", numeric="kernel"),
    "NaiveBayes, sample variance": lambda: NaiveBayes(numeric=Gaussian(ddof=1, floor=1e-3)),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", MODELS)
def test_contract(name, check):
    for seed in seeds(name, check.__name__):
        check(MODELS[name], seed)
