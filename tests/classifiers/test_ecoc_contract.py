"""The whole contract on EcocNB, over several estimators, codes and decodings."""

from __future__ import annotations

import pytest
from tests.seeds import seeds

from bayou import BernoulliNB, ComplementNB, Gaussian, MEstimate, MultinomialNB, NaiveBayes
from bayou.classifiers.ecoc import EcocNB
from bayou.codes import BCH, GivenCode, OneVsAll, OneVsOne, RandomCode
from bayou.testing import CHECKS

MODELS = {
    "defaults": EcocNB,
    "naive Bayes, one-vs-one, soft": lambda: EcocNB(code=OneVsOne()),
    "naive Bayes, BCH, hamming": lambda: EcocNB(NaiveBayes(), BCH(15), "hamming"),
    "naive Bayes, m-estimate, one-vs-all, l1": lambda: EcocNB(
        NaiveBayes(smoothing=MEstimate(2.0), prior="laplace"), OneVsAll(), "l1"
    ),
    "naive Bayes, sample variance, given ternary code": lambda: EcocNB(
        NaiveBayes(numeric=Gaussian(ddof=1, floor=1e-3)),
        GivenCode([[1, 0, 1], [-1, 1, 0], [0, -1, -1]]),
        "slepian",
    ),
    "quantiles and MODL, BCH, soft": lambda: EcocNB(NaiveBayes("gk"), BCH(15)),
    "grids and equal width, one-vs-one, hamming": lambda: EcocNB(
        NaiveBayes("pid", "equal-width"), OneVsOne(), "hamming"
    ),
    "multinomial, BCH, soft": lambda: EcocNB(MultinomialNB()),
    "multinomial, one-vs-one, hamming": lambda: EcocNB(MultinomialNB(), "one-vs-one", "hamming"),
    "multinomial, random, l1": lambda: EcocNB(MultinomialNB(alpha=0.5), RandomCode(20, seed=3), "l1"),
    "multinomial, BCH, slepian": lambda: EcocNB(MultinomialNB(prior="laplace"), BCH(15), "slepian"),
    "Bernoulli, one-vs-all, soft": lambda: EcocNB(BernoulliNB(), OneVsAll()),
    "complement, BCH, soft": lambda: EcocNB(ComplementNB(), BCH(7)),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", MODELS)
def test_contract(name, check):
    for seed in seeds(name, check.__name__):
        check(MODELS[name], seed)
